// SPDX-License-Identifier: Apache-2.0
// Combined features of programs: changes of layouts, stages on ranks, views, reuse of memory, and messages about
// errors.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include "kernbench/kernel_api/collectives/redistribution.h"
#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/host/program.h"
#include "kernbench/platform/host/tensor_parallel.h"
#include "kernbench/platform/run/host_program.h"
#include "ranks_toy_system.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

using host::Context;
using host::Layout;

/// The error of a program without its own tensors: "1: …", "2: …", or empty.
std::string ends_with(std::unique_ptr<Platform> platform, const std::function<void(Context&)>& function,
                      bool timed = false) {
  ProgramSpec spec;
  spec.name = "test";
  spec.function = function;
  host::ContextOptions options;
  options.timed_transfer = timed;
  try {
    host::Program program(*platform, spec, {}, {}, options);
    program.start();
    sc_core::sc_start();
    program.check();
  } catch (const RunError& e) {
    return std::string("1: ") + e.what();
  } catch (const std::exception& e) {
    return std::string("2: ") + e.what();
  }
  return {};
}

HostTensor counted(DType dtype, const Dims& shape) {
  std::vector<int32_t> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i % 113);
  return HostTensor::from(dtype, shape, values);
}

Layout random_layout(std::mt19937& random, int axes, uint32_t ranks) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  const auto level = [&](bool grids) {
    if (pick(3) == 0) return host::replicate();
    if (!grids || pick(2) == 0) return host::shard(pick(2 * axes) - axes);
    // In separate statements, because the evaluation order of arguments differs between compilers.
    const auto columns = pick(3) == 0 ? host::replicate() : host::shard(pick(axes));
    const auto rows = pick(3) == 0 ? host::replicate() : host::shard(pick(axes));
    return host::grid(rows, columns);
  };
  Layout l = Layout(level(false)).cube(level(true)).pe(level(true));
  if (pick(3) == 0) l = l.on(random() % ranks);
  return l;
}

/// Number of random cases: 60, or KERNBENCH_CASES for a manual campaign; its seed is --gtest_random_seed.
int cases() {
  const char* given = std::getenv("KERNBENCH_CASES");
  return given ? std::atoi(given) : 60;
}
std::mt19937 seeded(uint32_t otherwise) {
  const auto seed = static_cast<uint32_t>(::testing::UnitTest::GetInstance()->random_seed());
  return std::mt19937(seed > 0 ? seed : otherwise);
}

/// A value with a summand in every rank: their sum is exactly the value.
host::Tensor summands(Context& h, const HostTensor& sum, const Layout& below) {
  const host::Tensor x = h.tensor(sum.dtype, sum.shape, below.over_ranks(host::rank_partial().rank()));
  const std::vector<int32_t> whole = sum.ints();
  for (uint32_t r = 0; r < h.num_ranks(); ++r) {
    std::vector<int32_t> part(whole.size());
    for (size_t i = 0; i < part.size(); ++i) {
      const int32_t first = whole[i] / 3;
      part[i] = r == 0 ? first : r + 1 < h.num_ranks() ? 0 : whole[i] - first;
    }
    h.upload(h.rank(r), x, HostTensor::from(sum.dtype, sum.shape, part));
  }
  return x;
}

/// small.yaml with that many SIPs.
std::string small_in_ranks(int ranks) {
  std::ostringstream file;
  file << "materialize: outputs\n" << std::ifstream(topology_path("small.yaml")).rdbuf();  // so that sums can be read
  std::string text = file.str();
  const std::string one = "sips: {count: 1}";
  EXPECT_NE(text.find(one), std::string::npos);
  return text.replace(text.find(one), one.size(),
                      "sips: {count: " + std::to_string(ranks) + ", w: " + std::to_string(ranks) + ", h: 1}");
}

/// Random pairs of layouts, one in four from a partial tensor.
void redistribute_at_random(const topology::Overrides& overrides) {
  std::mt19937 random = seeded(20251);
  uint64_t moved = 0, least = 0;
  int changed = 0, partial = 0;
  const std::string wrong = ends_with(platform_from_text(small_in_ranks(3), overrides), [&](Context& h) {
    const DType types[] = {DType::f32, DType::f16, DType::bf16, DType::i8, DType::i32};
    for (int i = 0; i < cases(); ++i) {
      const host::Scope scope(h);
      Dims shape;
      const auto axes = static_cast<int>(1 + random() % 3);
      for (int a = 0; a < axes; ++a) shape.push_back(1 + static_cast<int64_t>(random() % (axes == 1 ? 900 : 40)));
      const Layout from = random_layout(random, axes, h.num_ranks()), to = random_layout(random, axes, h.num_ranks());
      const bool sum = random() % 4 == 0 && h.num_ranks() > 1;
      const HostTensor value = counted(sum ? DType::i32 : types[random() % 5], shape);
      const host::Tensor x = sum ? summands(h, value, from.on(std::vector<uint32_t>())) : h.tensor(value, from);
      const std::string what = shape.to_string() + ": " + x.layout().to_string() + " -> " + to.to_string();
      const host::Tensor y = h.redistribute(x, to);
      EXPECT_EQ(h.read(y).bytes, value.bytes) << what;
      if (x.layout() == to) continue;
      ++changed;
      partial += sum ? 1 : 0;
      const ccl::Redistribution plan(x.places()->plan(), sum, y.places()->plan(), h.pes().place);
      EXPECT_LE(static_cast<double>(plan.bytes_moved()), 1.2 * static_cast<double>(plan.bytes_least())) << what;
      EXPECT_GE(plan.bytes_moved(), plan.bytes_least()) << what;
      moved += plan.bytes_moved();
      least += plan.bytes_least();
    }
  });
  EXPECT_EQ(wrong, "");
  EXPECT_GT(changed, cases() * 2 / 3);
  EXPECT_GT(partial, cases() / 10);
  EXPECT_LE(static_cast<double>(moved), 1.2 * static_cast<double>(least));
  if (std::getenv("KERNBENCH_CASES"))
    std::printf("%d changed, %d of them partial; %llu bytes moved, least %llu\n", changed, partial,
                static_cast<unsigned long long>(moved), static_cast<unsigned long long>(least));
}

TEST(Redistribution, gives_every_layout_from_every_other) {
  redistribute_at_random({});
}

TEST(Redistribution, comes_to_its_end_in_buffers_of_one_flit) {
  topology::Overrides tight;
  tight.links = Links::flit;
  tight.settings = {{"*.buffer_flits", 1}};
  redistribute_at_random(tight);
}

TEST(Redistribution, goes_round_where_many_want_the_same) {
  EXPECT_EQ(ends_with(platform_from_file(topology_path("small.yaml")),
                      [](Context& h) {
                        const HostTensor value = counted(DType::f32, {1, 65536});  // on one PE
                        const host::Tensor x = h.tensor(value, host::on(0).cube(host::shard(0)).pe(host::shard(0)));
                        const std::string plan = h.redistribution(x, host::on(0));
                        EXPECT_NE(plan.find("go round rings of"), std::string::npos) << plan;
                        EXPECT_EQ(h.read(h.redistribute(x, host::on(0))).bytes, value.bytes);
                        EXPECT_EQ(h.redistribute(x, x.layout()).places(), x.places()) << "it stays where it is";
                      }),
            "");
}

/// The program and the kernel make the same choice of a ring: both count a cube's own links.
TEST(Redistribution, of_megabytes_to_all_pes_of_several_ranks) {
  EXPECT_EQ(ends_with(platform_from_text(small_in_ranks(4)),
                      [](Context& h) {
                        const HostTensor value = counted(DType::f32, {512, 1023});
                        const host::Tensor x =
                            h.tensor(value, Layout(host::replicate()).cube(host::shard(0)).pe(host::shard(0)));
                        EXPECT_EQ(h.read(h.redistribute(x, Layout(host::replicate()))).bytes, value.bytes);
                      }),
            "");
}

/// The greatest value of a row is in the second rank only. With its step all values are integers; with the first rank's
/// own step none is.
TEST(ProgramLinear, of_integers_has_one_step_a_row_over_all_ranks) {
  EXPECT_EQ(
      ends_with(platform_from_text(small_in_ranks(2)),
                [](Context& h) {
                  const int64_t m = 5, n = 24, k = 64;
                  std::vector<int32_t> x, w, y(static_cast<size_t>(m * n));
                  for (int64_t i = 0; i < m * k; ++i) x.push_back(i % k == k - 1 ? -127 : static_cast<int32_t>(i % 11));
                  for (int64_t i = 0; i < k * n; ++i) w.push_back(static_cast<int32_t>(i % 7) - 3);
                  for (int64_t i = 0; i < m * n * k; ++i)
                    y[static_cast<size_t>(i / k)] +=
                        x[static_cast<size_t>(i / k / n * k + i % k)] * w[static_cast<size_t>(i % k * n + i / k % n)];
                  const auto lies = [](const host::LayoutLevel& ranks) {
                    return Layout(ranks).cube(host::shard(1)).pe(host::shard(0));
                  };
                  const host::Tensor out = h.tensor(DType::f32, {m, n}, lies(host::replicate()));
                  host::linear_of_few_rows(
                      h, h.ranks(),
                      {{"x", h.tensor(HostTensor::from(DType::f32, {m, k}, x), lies(host::shard(1)))}, {"y", out}},
                      h.tensor(HostTensor::from(DType::i8, {k, n}, w), lies(host::shard(0))), {{"activations", "i8"}});
                  EXPECT_EQ(h.read(out).bytes, HostTensor::from(DType::f32, {m, n}, y).bytes);
                }),
      "");
}

/// One stage per rank: the second one uses the first one's result, and keeps data from step to step; memory usage is
/// constant.
TEST(ProgramStages, hand_on_from_rank_to_rank_and_keep_a_cache_for_200_steps) {
  constexpr int64_t kSteps = 200;
  EXPECT_EQ(
      ends_with(
          platform_from_text(ranks_toy::system(2)),
          [](Context& h) {
            const auto rows = [](uint32_t rank) { return host::rows_of_pes().on(rank); };
            const HostTensor one = counted(DType::f32, {8, 4});
            const host::Tensor cache = h.tensor(HostTensor(DType::f32, {kSteps, 8, 4}), host::on(1).pe(host::shard(1)));
            const uint64_t alone = h.stored_bytes();
            uint64_t most = 0;
            for (int64_t step = 0; step < kSteps; ++step) {
              {
                const host::Scope scope(h);
                const host::Tensor x = h.tensor(one, rows(0));
                const host::Tensor there = h.redistribute(x, rows(1));
                const host::Tensor place = h.view(h.slice(cache, 0, step, 1), {8, 4});
                h.launch(h.rank(1), "redistribute", {}, {{"x", there}, {"y", place}});
                most = std::max(most, h.stored_bytes());
              }
              h.synchronize();
            }
            h.tensor(DType::f32, {1}, host::on(0));  // frees the memory of completed operations
            EXPECT_LE(most, alone + 4 * 128);
            EXPECT_LE(h.stored_bytes(), alone + 3 * 128);
            const HostTensor all = h.read(cache);
            for (int64_t step = 0; step < kSteps; ++step)
              EXPECT_EQ(host::reshape(host::slice(all, 0, step, 1), {8, 4}).bytes, one.bytes);
          }),
      "");
}

TEST(ProgramViews, are_the_same_bytes) {
  EXPECT_EQ(
      ends_with(
          platform_from_text(ranks_toy::system(2)),
          [](Context& h) {
            const HostTensor value = counted(DType::i32, {8, 6});
            const host::Tensor x = h.tensor(value, host::rows_of_pes(), "x");
            EXPECT_EQ(h.read(h.slice(x, 0, 3, 2)).bytes, host::slice(value, 0, 3, 2).bytes);
            EXPECT_EQ(h.read(h.view(x, {4, 2, 3, 2})).bytes, value.bytes);
            h.upload(h.slice(x, 0, 7, 1), host::slice(value, 0, 0, 1));
            EXPECT_EQ(host::slice(h.read(x), 0, 7, 1).bytes, host::slice(value, 0, 0, 1).bytes);
            const host::Tensor columns = h.tensor(value, host::rank_shard(1), "c");
            EXPECT_EQ(h.read(h.slice(h.view(columns, {8, 2, 3}), 0, 2, 3)).bytes, host::slice(value, 0, 2, 3).bytes);
          }),
      "");
}

KernelSpec range_kernel() {
  KernelSpec s;
  s.name = "program_test_range";
  s.help = "of the tests of programs";
  s.any_shape = true;
  s.tensors = {{"x",
                TensorSpec::Role::in,
                [](const Params&) {
                  return Dims{4, 8};
                },
                [](const Params&) { return DType::i32; },
                Placement::rows,
                {}}};
  s.function = [](tl::Context& tl, const tl::Args& args) {
    const std::vector<int32_t> all = tl.load(args.virtual_ptr("x"), {args["x"].whole.elements()}).to_vector<int32_t>();
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] != static_cast<int32_t>(i)) throw KernelFault("found another element");
  };
  return s;
}
const RegisterKernel range_of_parts{range_kernel()};

/// If columns are split over the PEs, rows of a matrix alternate in the range of the complete tensor. If rows are
/// split, they follow each other.
TEST(ProgramViews, with_gaps_have_no_virtual_range) {
  const std::string wrong = ends_with(platform_from_file(topology_path("small.yaml")), [&](Context& h) {
    for (const int axis : {0, 1}) {
      const host::Tensor x = h.tensor(counted(DType::i32, {4, 8}), Layout().pe(host::shard(axis)), "x");
      h.launch(h.ranks(), "program_test_range", {}, {{"x", h.slice(x, 0, 0, 2)}});
      h.synchronize();
      EXPECT_EQ(axis, 0);
    }
  });
  EXPECT_NE(wrong.find("tensor 'x' has no virtual range"), std::string::npos) << wrong;
}

/// Blocks of 2 rows, round robin over 2 ranks: an axis for the rounds, one for the PEs, one inside a block.
TEST(ProgramViews, say_interleaved_blocks) {
  EXPECT_EQ(
      ends_with(
          platform_from_text(ranks_toy::system(2)),
          [](Context& h) {
            const HostTensor value = counted(DType::i32, {16, 3});
            const host::Tensor in_turn = h.tensor(host::reshape(value, {4, 2, 2, 3}), host::rank_shard(1), "in_turn");
            const host::Tensor y = h.view(h.redistribute(in_turn, host::rank_replicate()), {16, 3});
            EXPECT_EQ(h.read(y).bytes, value.bytes);
            const ShardPlan& plan = in_turn.places()->plan();
            EXPECT_EQ(plan.shards.front().extent, (Dims{4, 1, 2, 3}));
          }),
      "");
}

TEST(ProgramScope, gives_memory_back_so_that_steps_go_on_for_ever) {
  EXPECT_EQ(ends_with(platform_from_text(ranks_toy::system(1)),
                      [](Context& h) {
                        uint64_t before = 0;
                        for (int step = 0; step < 200; ++step) {  // 4 MiB each, of 16
                          const host::Scope scope(h);
                          const host::Tensor x =
                              h.tensor(DType::f32, {1 << 20}, host::rows_of_pes().pe(host::shard(0)));
                          const host::Tensor y = h.tensor(DType::f32, {16}, host::Layout());
                          h.upload(y, counted(DType::f32, {16}));
                          if (step > 0) {
                            EXPECT_EQ(h.stored_bytes(), before);
                          }
                          before = h.stored_bytes();
                          h.synchronize();
                        }
                      }),
            "");
}

TEST(ProgramRead, behind_its_writers_does_not_wait_for_others) {
  EXPECT_EQ(ends_with(
                platform_from_text(ranks_toy::system(2)),
                [](Context& h) {
                  const HostTensor value = counted(DType::f32, {8});
                  const host::Tensor x = h.tensor(DType::f32, {8}, host::rank_replicate());
                  h.delay(h.rank(0), 100);
                  h.upload(h.ranks(), x, value);
                  h.delay(h.ranks(), 5000);
                  EXPECT_EQ(h.read(x, host::writers).bytes, value.bytes);
                  EXPECT_LT(h.now_ns(), 5000);
                  EXPECT_GE(h.now_ns(), 100);
                  EXPECT_EQ(h.read(x).bytes, value.bytes);
                  EXPECT_GE(h.now_ns(), 5000);
                },
                true),
            "");
}

TEST(ProgramTensors, may_be_in_and_out_and_their_copies_are_counted) {
  ProgramTensor x;
  x.name = "x";
  x.role = TensorSpec::Role::in_out;
  x.shape = [](const Params&) { return Dims{16}; };
  x.dtype = [](const Params&) { return DType::f32; };
  x.layout = host::rows_of_pes();  // the same on both ranks
  const auto doubled = [](const HostTensor& value) {
    std::vector<float> all = value.floats();
    for (float& v : all) v *= 2;
    return HostTensor::from(value.dtype, value.shape, all);
  };
  ProgramSpec spec;
  spec.name = "doubles";
  spec.tensors = {x};
  spec.function = [&](Context& h) {
    const host::Tensor t = h.input("x");
    EXPECT_EQ(t.places(), h.output("x").places());
    h.upload(t, doubled(h.read(t)));
  };
  spec.reference = [&](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"x", {doubled(in.at("x")), {}}}};
  };
  ProgramRegistry::instance().add(spec);
  RunOptions o;
  o.program = "doubles";
  o.verify = true;
  const auto platform = platform_from_text(ranks_toy::system(2));
  const ProgramReport r = run_program(*platform, std::move(o));
  EXPECT_TRUE(r.run.verified);
  EXPECT_TRUE(r.run.passed);
  EXPECT_EQ(r.tensors.bytes, 128U);
  EXPECT_EQ(r.tensors.copies, 64U);
}

/// A program whose optional tensor is an optional tensor of the launched kernel.
TEST(ProgramTensors, may_be_left_out) {
  const auto tensor = [](const char* name, TensorSpec::Role role, Dims shape, Layout layout) {
    ProgramTensor t;
    t.name = name;
    t.role = role;
    t.shape = [shape](const Params&) { return shape; };
    t.dtype = [](const Params&) { return DType::f32; };
    t.layout = layout;
    return t;
  };
  ProgramSpec spec;
  spec.name = "maybe_biased";
  using Role = TensorSpec::Role;
  spec.tensors = {
      tensor("x", Role::in, {6, 8}, host::rows_of_pes()), tensor("w", Role::in, {8, 5}, Layout(host::replicate())),
      tensor("bias", Role::in, {5}, Layout(host::replicate())), tensor("y", Role::out, {6, 5}, host::rows_of_pes())};
  spec.tensors[2].optional = true;
  spec.function = [](Context& h) {
    std::map<std::string, host::Tensor> all{{"x", h.input("x")}, {"w", h.input("w")}, {"y", h.output("y")}};
    if (h.has("bias")) all["bias"] = h.input("bias");
    h.launch(h.rank(0), "tp_linear", {}, all);
  };
  spec.reference = [](const Params&, const TensorMap& in) {
    const Params shapes =
        kernel_params(KernelRegistry::instance().at("tp_linear"), {{"m", "6"}, {"n", "5"}, {"k", "8"}});
    return KernelRegistry::instance().at("tp_linear").reference(shapes, in);
  };
  ProgramRegistry::instance().add(spec);
  const std::string file = "maybe_biased.npy";
  const float bias[] = {1, -2, 3, -4, 500};
  write_npy(file, DType::f32, {5}, bias);
  for (const bool biased : {true, false}) {
    ASSERT_EQ(in_child([&]() -> std::string {
                RunOptions o;
                o.program = "maybe_biased";
                o.verify = true;
                if (biased) o.tensors = {{"bias", file}};
                const auto platform = platform_from_text(ranks_toy::system(1));
                const ProgramReport r = run_program(*platform, std::move(o));
                return r.run.verified && r.run.passed ? "" : "not verified";
              }),
              "")
        << biased;
  }
  std::remove(file.c_str());
}

TEST(ProgramParameters, are_cpp_values) {
  const auto text = [](host::ParamText t) { return t.text(); };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(int64_t{-3}), "-3");
  EXPECT_EQ(text(true), "true");
  EXPECT_EQ(text(1e-5), "1e-05");
  EXPECT_EQ(text(DType::bf16), "bf16");
  EXPECT_EQ(text("gelu"), "gelu");
}

/// One line for each wrong program, which begins with the program's file and line.
TEST(ProgramFaults, say_where_the_program_stands) {
  struct Wrong {
    const char* expected;
    std::function<void(Context&)> program;
  };
  const auto some = [](Context& h) { return h.tensor(DType::f32, {8, 8}, host::rows_of_pes(), "t"); };
  const auto row = [](Context& h) { return h.tensor(DType::f32, {64}, host::rows_of_pes(), "r"); };
  const std::vector<Wrong> all = {
      {"2: LINE: stream 0 of rank 5: the program has none", [](Context& h) { h.rank(5); }},
      {"2: LINE: tensor t: on rank 7: the program has 2 ranks",
       [](Context& h) { h.tensor(DType::f32, {8}, host::on(7), "t"); }},
      {"2: LINE: tensor t: shard(2) of a tensor with 1 axes",
       [](Context& h) { h.tensor(DType::f32, {8}, Layout().pe(host::shard(2)), "t"); }},
      {"2: LINE: tensor t [8, 8] has no elements 6 to 9 of axis 0", [&](Context& h) { h.slice(some(h), 0, 6, 4); }},
      {"2: LINE: tensor t[2:4]: of axis 1 of t (rank replicate, cube shard(0), pe shard(0)) a PE has no such elements "
       "side "
       "by side: redistribute it",
       [&](Context& h) { h.slice(some(h), 1, 2, 2); }},
      {"2: LINE: tensor t [8, 8] (rank replicate, cube shard(0), pe shard(0)) cannot be seen as [3, 3]: it has as many "
       "elements as it has",
       [&](Context& h) {
         h.view(some(h), {3, 3});
       }},
      {"2: LINE: tensor t was freed at ",
       [&](Context& h) {
         const host::Tensor t = some(h);
         h.free(t);
         h.read(t);
       }},
      {"2: LINE: redistribute: to a partial layout: expected one without pending sums",
       [&](Context& h) { h.redistribute(some(h), host::rank_partial()); }},
      {"2: LINE: there is no kernel 'gem', did you mean 'gemm'? ",
       [](Context& h) { h.launch(h.ranks(), "gem", {}, {}); }},
      {"2: LINE: launch of vector_add: tensor b is not given",
       [&](Context& h) {
         h.launch(h.ranks(), "vector_add", {}, {{"a", some(h)}});
       }},
      {"2: LINE: parameter 'n' of kernel vector_add is '-1'; ",
       [&](Context& h) {
         h.launch(h.ranks(), "vector_add", {{"n", -1}}, {{"a", some(h)}, {"b", some(h)}, {"c", some(h)}});
       }},
      {"2: LINE: delay: ", [](Context& h) { h.delay(h.ranks(), -1); }},
      {"1: LINE: tensor t is partial over ranks and cannot be read",
       [](Context& h) { h.read(h.tensor(DType::f32, {8}, host::rank_partial(), "t")); }},
      {"1: streams wait for each other: stream 0 of rank 0 waits for event b (LINE), which is recorded in stream 1 of "
       "rank 0 (LINE); stream 1 of rank 0 waits for event a (LINE), which is recorded in stream 0 of rank 0 (LINE)",
       [](Context& h) {
         const host::Event a = h.event("a"), b = h.event("b");
         const host::Stream other = h.stream(0);
         h.wait(b, h.rank(0));
         h.record(a, h.rank(0).streams()[0]);
         h.wait(a, other);
         h.record(b, other);
       }},
      {"1: behind LINE: oh",
       [](Context& h) {
         h.rank(0);
         throw std::runtime_error("oh");
       }},
      {"1: LINE: event e is waited for in stream 0 of rank 1 and never recorded",
       [](Context& h) { h.wait(h.event("e"), h.rank(1)); }},
      {"2: LINE: launch of vector_add: pes: found 'pe9', expected all, leaders or ids of PEs such as sip0.",
       [&](Context& h) {
         const host::Tensor t = row(h);
         h.launch(h.ranks(), "vector_add", {}, {{"a", t}, {"b", t}, {"c", t}}, "pe9");
       }},
      {"2: LINE: launch of vector_add: pes: a PE stands twice in '",
       [&](Context& h) {
         const host::Tensor t = row(h);
         const std::string twice = "sip0.cube0.pe0,sip0.cube0.pe0";
         h.launch(h.ranks(), "vector_add", {}, {{"a", t}, {"b", t}, {"c", t}}, twice);
       }},
      {"2: LINE: launch of vector_add: pes: sip1.cube0.pe0 is on none of its ranks",
       [&](Context& h) {
         const host::Tensor t = row(h);
         const std::string both = "sip0.cube0.pe0,sip1.cube0.pe0";
         h.launch(h.rank(0), "vector_add", {}, {{"a", t}, {"b", t}, {"c", t}}, both);
       }},
      {"1: streams wait for each other: stream 0 of rank 0 waits for event e (LINE), which is recorded in stream 0 of "
       "rank 1 (LINE); delay (LINE) is first in stream 0 of rank 1 and waits for its place in stream 0 of rank 0",
       [](Context& h) {
         const host::Event e = h.event("e");
         h.wait(e, h.rank(0));
         h.delay(h.ranks(), 1);
         h.record(e, h.rank(1).streams()[0]);
       }},
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string told = in_child([&] {
      const std::string what = ends_with(platform_from_text(ranks_toy::system(2)), all[i].program);
      return std::regex_replace(what, std::regex("programs_fit_together_test.cpp:[0-9]+"), "LINE");
    });
    EXPECT_EQ(told.substr(0, std::string(all[i].expected).size()), all[i].expected) << "program " << i << ": " << told;
    EXPECT_EQ(told.find('\n'), std::string::npos) << told;
  }
}

}  // namespace
}  // namespace kernbench::testing
