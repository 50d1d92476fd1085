// SPDX-License-Identifier: Apache-2.0
// Layouts of programs' tensors: the part of each PE, the results of launches in them, and the parameters that follow
// from them.
#include <gtest/gtest.h>

#include <sstream>

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/host/program.h"
#include "kernbench/platform/host/tensor_parallel.h"
#include "kernbench/platform/run/host_program.h"
#include "ranks_toy_system.h"
#include "system_support.h"

namespace kernbench::testing::tensors_lie_over_ranks_cubes_and_pes {
namespace {

/// 2 ranks of 2 cubes of 2 PEs each.
std::vector<host::LayoutPlace> places() {
  std::vector<host::LayoutPlace> v;
  for (uint32_t r = 0; r < 2; ++r)
    for (uint32_t c = 0; c < 2; ++c)
      for (uint32_t p = 0; p < 2; ++p) v.push_back({r, 2 * r + c, 4 * r + 2 * c + p});
  return v;
}

std::string text(const ShardPlan& plan) {
  std::string s;
  for (const Shard& x : plan.shards) s += x.offset.to_string() + x.extent.to_string() + " ";
  return s;
}

TEST(Layout, splits_level_by_level_in_blocks_rounded_up) {
  const auto plan = [](const host::Layout& l, const Dims& d) { return text(plan_shards(l, DType::f32, d, places())); };
  // 10 columns: 5 per rank; 7 rows: 4 and 3 per cube, 2 and 2, 2 and 1 per PE.
  EXPECT_EQ(plan(host::rank_shard(-1).cube(host::shard(0)).pe(host::shard(0)), {7, 10}),
            "[0, 0][2, 5] [2, 0][2, 5] [4, 0][2, 5] [6, 0][1, 5] [0, 5][2, 5] [2, 5][2, 5] [4, 5][2, 5] [6, 5][1, 5] ");
  EXPECT_EQ(plan(host::rank_replicate().pe(host::row_wise()), {3}),
            "[0][2] [2][1] [0][2] [2][1] [0][2] [2][1] [0][2] [2][1] ");
  EXPECT_EQ(plan(host::rank_partial().cube(host::shard(0)), {3}),
            "[0][2] [0][2] [2][1] [2][1] [0][2] [0][2] [2][1] [2][1] ");
  // 3 rows over 2 ranks of 2 cubes: 2 and 1, then 1 and 1, and 1 and none.
  EXPECT_EQ(plan(host::rank_shard(0).cube(host::shard(0)), {3}),
            "[0][1] [0][1] [1][1] [1][1] [2][1] [2][1] [3][0] [3][0] ");
}

TEST(Layout, takes_blocks_of_two_axes_over_a_grid) {
  // 4 cubes in two rows of two, 2 PEs each.
  std::vector<host::LayoutPlace> pes;
  for (uint32_t c = 0; c < 4; ++c)
    for (uint32_t p = 0; p < 2; ++p) pes.push_back({0, c, p});
  const host::LayoutGrids grids{4, 2, 2, 2};
  const auto plan = [&](const host::Layout& l, const std::vector<host::LayoutPlace>& on) {
    return text(plan_shards(l, DType::f32, {4, 6}, on, grids));
  };
  EXPECT_EQ(plan(host::grid_of_rows(), pes),
            "[0, 0][1, 3] [1, 0][1, 3] [0, 3][1, 3] [1, 3][1, 3] [2, 0][1, 3] [3, 0][1, 3] [2, 3][1, 3] [3, 3][1, 3] ");
  EXPECT_EQ(plan(host::grid_of_columns(), pes),
            "[0, 0][2, 2] [0, 2][2, 1] [0, 3][2, 2] [0, 5][2, 1] [2, 0][2, 2] [2, 2][2, 1] [2, 3][2, 2] [2, 5][2, 1] ");
  EXPECT_EQ(plan(host::Layout().cube(host::grid(host::replicate(), host::shard(1))), pes),
            "[0, 0][4, 3] [0, 0][4, 3] [0, 3][4, 3] [0, 3][4, 3] [0, 0][4, 3] [0, 0][4, 3] [0, 3][4, 3] [0, 3][4, 3] ");
  // One cube is omitted: the others form one row.
  pes.resize(6);
  EXPECT_EQ(plan(host::Layout().cube(host::grid(host::shard(0), host::shard(1))), pes),
            "[0, 0][4, 2] [0, 0][4, 2] [0, 2][4, 2] [0, 2][4, 2] [0, 4][4, 2] [0, 4][4, 2] ");
}

TEST(Layout, on_some_ranks_leaves_the_others_nothing) {
  const auto plan = [](const host::Layout& l) { return text(plan_shards(l, DType::f32, {4}, places())); };
  EXPECT_EQ(plan(host::on(1).cube(host::shard(0)).pe(host::shard(0))),
            "[0][0] [0][0] [0][0] [0][0] [0][1] [1][1] [2][1] [3][1] ");
  EXPECT_EQ(plan(host::rank_shard(0).on({1, 0, 1}).cube(host::shard(0))),
            plan(host::rank_shard(0).cube(host::shard(0))));
  EXPECT_THROW(plan(host::on(7)), std::invalid_argument);
  EXPECT_EQ(host::on(1).to_string(), "rank replicate, cube replicate, pe replicate, on rank 1");
}

TEST(Layout, refuses_what_has_no_meaning) {
  EXPECT_THROW(host::grid(host::rank_partial().rank(), host::shard(0)), std::invalid_argument);
  EXPECT_THROW(plan_shards(host::Layout(host::grid(host::shard(0), host::shard(1))), DType::f32, {4, 4}, places()),
               std::invalid_argument);
  EXPECT_THROW(host::rank_replicate().cube(host::rank_partial().rank()), std::invalid_argument);
  EXPECT_THROW(plan_shards(host::rank_shard(1), DType::f32, {4}, places()), std::invalid_argument);
  EXPECT_EQ(host::rank_shard(1).cube(host::shard(0)).to_string(), "rank shard(1), cube shard(0), pe replicate");
}

ProgramTensor tensor(const char* name, TensorSpec::Role role, const host::Layout& layout) {
  ProgramTensor t;
  t.name = name;
  t.role = role;
  t.shape = [](const Params& p) { return Dims{p.integer("n")}; };
  t.dtype = [](const Params&) { return DType::f32; };
  t.layout = layout;
  return t;
}

const host::Layout kRows = host::rank_shard(0).cube(host::shard(0)).pe(host::shard(0));

/// y = (a + b) + b by two launches: the second one uses the result of the first.
ProgramSpec twice_added(const std::string& name, const host::Layout& layout) {
  ProgramSpec s;
  s.name = name;
  s.help = "of the tests of programs";
  s.params = {ParamSpec::size("n", 1000, "elements")};
  s.tensors = {tensor("a", TensorSpec::Role::in, layout), tensor("b", TensorSpec::Role::in, layout),
               tensor("y", TensorSpec::Role::out, layout)};
  s.function = [](host::Context& h) {
    const host::Tensor a = h.input("a"), b = h.input("b");
    const host::Tensor sum = h.tensor(a.dtype(), a.shape(), a.layout(), "sum");
    h.launch(h.ranks(), "vector_add", {}, {{"a", a}, {"b", b}, {"c", sum}});
    h.launch(h.ranks(), "vector_add", {}, {{"a", sum}, {"b", b}, {"c", h.output("y")}});
  };
  s.reference = [](const Params&, const TensorMap& in) {
    std::vector<float> y = in.at("a").floats();
    const std::vector<float> b = in.at("b").floats();
    for (size_t i = 0; i < y.size(); ++i) y[i] = (y[i] + b[i]) + b[i];
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, in.at("a").shape, y), {}}}};
  };
  return s;
}
const RegisterProgram added{twice_added("program_test_added", kRows)};
const RegisterProgram added_copies{twice_added("program_test_added_copies", host::rank_replicate())};

/// Every PE of rank 1 writes a value other than those of rank 0.
KernelSpec unlike_kernel() {
  KernelSpec s;
  s.name = "program_test_unlike";
  s.help = "of the tests of programs";
  s.params = {ParamSpec::size("n", 8, "elements")};
  s.tensors = {tensor("y", TensorSpec::Role::out, {})};
  s.function = [](tl::Context& tl, const tl::Args& args) {
    tl.store(args["y"], tl.full(args["y"].shape, static_cast<double>(tl.rank()), DType::f32));
  };
  s.reference = [](const Params& p, const TensorMap&) {
    return std::map<std::string, Expected>{{"y", {HostTensor(DType::f32, {p.integer("n")}), {}}}};
  };
  return s;
}
const RegisterKernel unlike{unlike_kernel()};

const RegisterProgram unlike_copies{[] {
  ProgramSpec s;
  s.name = "program_test_unlike";
  s.help = "of the tests of programs";
  s.params = {ParamSpec::size("n", 8, "elements")};
  s.tensors = {tensor("y", TensorSpec::Role::out, host::rank_replicate())};
  s.function = [](host::Context& h) { h.launch(h.ranks(), "program_test_unlike", {}, {{"y", h.output("y")}}); };
  s.reference = unlike_kernel().reference;
  return s;
}()};

/// y = x through columns over the ranks.
const RegisterProgram scattered{[] {
  ProgramSpec s;
  s.name = "program_test_regions";
  s.help = "of the tests of programs";
  s.params = {ParamSpec::size("n", 12, "columns")};
  s.tensors = {tensor("x", TensorSpec::Role::in, host::rows_of_pes()),
               tensor("y", TensorSpec::Role::out, host::rows_of_pes())};
  for (ProgramTensor& t : s.tensors) t.shape = [](const Params& p) { return Dims{7, p.integer("n")}; };
  s.function = [](host::Context& h) {
    const host::Tensor x = host::copy_region(h, h.input("x"));
    const host::Tensor columns = h.tensor(x.dtype(), x.shape(), host::columns_of_ranks(), "columns");
    host::scatter_region(h, x, columns);
    host::gather_region(h, columns, h.output("y"));
  };
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  return s;
}()};

/// y = x · w, with columns of w over the ranks and a complete y on all of them.
const RegisterProgram linear{[] {
  ProgramSpec s;
  s.name = "program_test_linear";
  s.help = "of the tests of programs";
  s.params = {ParamSpec::size("n", 12, "columns of w")};
  s.tensors = {tensor("x", TensorSpec::Role::in, host::rows_of_pes()),
               tensor("w", TensorSpec::Role::in, host::rank_shard(1)),
               tensor("y", TensorSpec::Role::out, host::rows_of_pes())};
  s.tensors[0].shape = [](const Params&) { return Dims{7, 5}; };
  s.tensors[1].shape = [](const Params& p) { return Dims{5, p.integer("n")}; };
  s.tensors[2].shape = [](const Params& p) { return Dims{7, p.integer("n")}; };
  s.function = [](host::Context& h) {
    host::column_parallel_linear(h, h.input("x"), h.input("w"), h.output("y"), "none", true);
  };
  s.reference = [](const Params& p, const TensorMap& in) {
    const std::vector<float> x = in.at("x").floats(), w = in.at("w").floats();
    const auto n = static_cast<size_t>(p.integer("n"));
    std::vector<float> y(7 * n);
    for (size_t i = 0; i < y.size(); ++i) {
      for (size_t k = 0; k < 5; ++k) y[i] += x[i / n * 5 + k] * w[k * n + i % n];
    }
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, {7, p.integer("n")}, y), {}}}};
  };
  return s;
}()};

ProgramReport run(const std::string& program, int ranks, bool timed = false,
                  std::vector<std::pair<std::string, std::string>> params = {}) {
  static std::unique_ptr<Platform> platform;
  platform = platform_from_text(ranks_toy::system(ranks));
  RunOptions o;
  o.program = program;
  o.params = std::move(params);
  o.verify = true;
  o.threads = 1;
  o.timed_transfer = timed;
  o.check_races = true;
  return run_program(*platform, std::move(o));
}

TEST(ProgramTensor, keeps_what_a_launch_has_left_for_the_next) {
  const ProgramReport r = run("program_test_added", 3);
  EXPECT_TRUE(r.run.passed);
  EXPECT_TRUE(r.run.races.empty()) << "what the second launch reads, the first one has written";
  ASSERT_EQ(r.ops.size(), 2u);
  EXPECT_EQ(r.run.pes.size(), 6u);
  EXPECT_EQ(r.run.end_ns, *std::max_element(r.ops[1].end_ns.begin(), r.ops[1].end_ns.end()));
  for (size_t i = 0; i < 3; ++i) EXPECT_LE(r.ops[0].end_ns[i], r.ops[1].begin_ns);
}

/// Whether or not the number of ranks divides the columns, and with fewer columns than ranks.
TEST(ProgramTensor, comes_back_from_columns_over_the_ranks) {
  for (const char* columns : {"12", "7", "2", "1"}) {
    for (const int ranks : {1, 2, 3}) {
      EXPECT_EQ(in_child([&] {
                  return run("program_test_regions", ranks, false, {{"n", columns}}).run.passed ? "" : "not x";
                }),
                "")
          << columns << " columns, " << ranks << " ranks";
    }
  }
}

TEST(ProgramLinear, gathers_its_output_on_all_ranks) {
  for (const char* columns : {"12", "7"}) {
    for (const int ranks : {1, 2, 3}) {
      EXPECT_EQ(in_child([&] {
                  return run("program_test_linear", ranks, false, {{"n", columns}}).run.passed ? "" : "not y";
                }),
                "")
          << columns << " columns, " << ranks << " ranks";
    }
  }
}

TEST(ProgramTensor, in_copies_is_written_in_all_of_them) {
  EXPECT_TRUE(run("program_test_added_copies", 2).run.passed);
}

TEST(ProgramTensor, whose_copies_are_unlike_fails_verification) {
  const ProgramReport r = run("program_test_unlike", 2);
  EXPECT_FALSE(r.run.passed);
  ASSERT_EQ(r.run.tensors.size(), 1u);
  EXPECT_EQ(r.run.tensors[0].reason,
            "the copy of sip1.cube0.pe0 is unlike that of sip0.cube0.pe0, from element 0 of the shard");
}

/// With timed transfers the inputs go first, with one concurrent transaction per shard, and the outputs come last.
TEST(ProgramTensor, is_copied_by_the_ranks_own_endpoint) {
  const ProgramReport r = run("program_test_added", 2, true);
  EXPECT_TRUE(r.run.passed);
  ASSERT_EQ(r.ops.size(), 5u);
  using Kind = host::Operation::Kind;
  EXPECT_EQ(r.ops[0].kind, Kind::upload);
  EXPECT_EQ(r.ops[0].name, "a");
  EXPECT_EQ(r.ops[4].kind, Kind::download);
  // 250 elements per PE: two writes of 1,000 bytes through pcie_ep (overhead 3), noc (1), hub (20), 0.3 mm·10 of wire,
  // at 64 GB/s. Ideal links carry them concurrently, the HBM serves them sequentially at 128 GB/s; acknowledgements
  // return.
  const double there = 3 + 1 + 20 + 0.1 * (1 + 2) + 1000 / 64.0;
  EXPECT_GE(r.ops[0].end_ns[0], there);
  EXPECT_LT(r.ops[0].end_ns[0], 3 * there);
  EXPECT_EQ(r.ops[0].end_ns[0], r.ops[0].end_ns[1]) << "the ranks are alike and do not meet";
}

TEST(ProgramTensor, gives_a_launch_the_parameters_that_nobody_has_said) {
  auto platform = platform_from_text(ranks_toy::system(1));
  ProgramSpec spec;
  spec.name = "test";
  host::Context h(*platform, spec, {}, {0, 1});
  const auto t = [&](DType dtype, const Dims& d) { return h.tensor(dtype, d, host::rank_replicate()).places(); };
  const KernelSpec& gemm = KernelRegistry::instance().at("gemm");
  const auto a = t(DType::f16, {6, 10}), b = t(DType::f16, {10, 4}), c = t(DType::f16, {6, 4});
  const Params p = host::launch_params(gemm, {{"tile_m", "16"}}, {{"a", a}, {"b", b}, {"c", c}});
  EXPECT_EQ(p.integer("m"), 6);
  EXPECT_EQ(p.integer("n"), 4);
  EXPECT_EQ(p.integer("k"), 10);
  EXPECT_EQ(p.integer("tile_m"), 16);
  EXPECT_EQ(p.integer("tile_n"), 32);
  EXPECT_EQ(p.dtype(), DType::f16);
  EXPECT_THROW(host::launch_params(gemm, {{"k", "9"}}, {{"a", a}, {"b", b}, {"c", c}}), InputError);
  EXPECT_THROW(host::launch_params(gemm, {}, {{"a", a}, {"b", c}, {"c", c}}), InputError);
}

}  // namespace
}  // namespace kernbench::testing::tensors_lie_over_ranks_cubes_and_pes
