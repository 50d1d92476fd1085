// SPDX-License-Identifier: Apache-2.0
// Is a tensor that is sharded over many memories a single range for a kernel: with correct data, paths and times?
#include <gtest/gtest.h>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/phase2/op/errors.h"
#include "system_support.h"
#include "virtual_memory_kernels.h"

namespace kernbench::testing::a_sharded_tensor_is_one_virtual_range {
namespace {

/// One PE of every cube.
std::string first_pe_of_every_cube(const Platform& platform) {
  std::string ids;
  for (const auto& pe : platform.graph().pes) {
    if (pe.id.size() > 4 && pe.id.compare(pe.id.size() - 4, 4, ".pe0") == 0) ids += (ids.empty() ? "" : ",") + pe.id;
  }
  return ids;
}

/// Total time of the sequential, isolated transactions of a translated tensor.
double sum_of_formulas(Platform& platform, size_t pe, const Translation& t, bool write) {
  const uint32_t dma = platform.graph().pes[pe].blocks.at("pe_dma");
  double ns = 0;
  for (const Translation::Piece& p : t.pieces) {
    ns += platform.system().mode().formula_ns(platform.routes().route(dma, p.addr, p.nbytes, write), write, p.addr,
                                              p.nbytes, {1, p.nbytes, 0});
  }
  return ns;
}

class OneVirtualRange : public ::testing::TestWithParam<topology::Links> {
 protected:
  std::unique_ptr<Platform> platform(const std::string& file) const {
    topology::Overrides overrides;
    overrides.links = GetParam();
    return platform_from_file(topology_path(file), overrides);
  }
};

TEST_P(OneVirtualRange, over_2_sips_of_16_cubes_is_loaded_by_one_command) {
  auto p = platform("default.yaml");
  std::vector<OpRecord> records;
  RunOptions o;
  o.kernel = "assemble";
  o.params = {{"n", "262144"}};
  o.pes = first_pe_of_every_cube(*p);
  o.verify = true;
  o.threads = 1;
  o.log = std::make_unique<KeptLog>(records);
  const RunReport report = run_kernel(*p, std::move(o));
  EXPECT_TRUE(report.passed) << "y is not x";
  ASSERT_EQ(report.pes.size(), 32u);

  const OpRecord* load = nullptr;
  for (const OpRecord& r : records) {
    if (r.desc->type != CommandType::load) continue;
    EXPECT_EQ(load, nullptr) << "one command loads all";
    load = &r;
  }
  ASSERT_NE(load, nullptr);
  const TensorRef& x = load->desc->operands[0].ref;
  ASSERT_TRUE(x.scattered());
  ASSERT_EQ(x.translation->pieces.size(), 32u);
  EXPECT_GE(x.translation->virtual_addr, kVirtualBase);
  for (size_t i = 0; i < 32; ++i) {
    const std::string cube = "sip" + std::to_string(i / 16) + ".cube" + std::to_string(i % 16) + ".";
    EXPECT_EQ(p->system().owner_of(Space::hbm, x.translation->pieces[i].addr), cube + "hbm_ctrl.pe0") << "shard " << i;
    EXPECT_EQ(x.translation->pieces[i].nbytes, 32768u);
  }
  EXPECT_NEAR(load->t_end - load->t_start, sum_of_formulas(*p, 0, *x.translation, false), 1e-6);
}

TEST_P(OneVirtualRange, is_read_and_written_piece_by_piece_by_the_tiles_of_a_composite) {
  auto p = platform("small.yaml");
  std::vector<OpRecord> records;
  RunOptions o;
  o.kernel = "virtual_test_gemm";
  o.verify = true;
  o.debug_verify = true;
  o.threads = 1;
  o.log = std::make_unique<KeptLog>(records);
  EXPECT_TRUE(run_kernel(*p, std::move(o)).passed);
  const OpRecord *composite = nullptr, *read = nullptr, *write = nullptr;
  for (const OpRecord& r : records) {
    if (r.desc && r.desc->type == CommandType::composite) composite = &r;
    if (r.is_token && r.token.stage == Stage::dma_read) read = &r;
    if (r.is_token && r.token.stage == Stage::dma_write) write = &r;
  }
  ASSERT_TRUE(composite && read && write);
  const OpDesc& d = *composite->desc;
  ASSERT_TRUE(d.operands[0].ref.scattered() && d.operands[1].ref.scattered() && d.output.scattered());
  // One tile: it reads all of A, then all of B, and writes all of C.
  EXPECT_NEAR(read->t_end - read->t_start,
              sum_of_formulas(*p, 0, *d.operands[0].ref.translation, false) +
                  sum_of_formulas(*p, 0, *d.operands[1].ref.translation, false),
              1e-6);
  EXPECT_NEAR(write->t_end - write->t_start, sum_of_formulas(*p, 0, *d.output.translation, true), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, OneVirtualRange,
                         ::testing::Values(topology::Links::ideal, topology::Links::cut_through, topology::Links::flit),
                         [](const auto& parameter) { return std::string(topology::name_of(parameter.param)); });

/// c = a · b by the first PE, all three through ranges in the memories of all PEs.
KernelSpec gemm_over_ranges(const std::string& name, int64_t tile) {
  KernelSpec s;
  s.name = name;
  s.help = "of the tests of virtual memory";
  kernels::add_gemm_interface(&s);
  for (ParamSpec& p : s.params) {
    if (p.name == "m" || p.name == "n" || p.name == "k") p = ParamSpec::size(p.name.c_str(), 32, "rows or columns");
  }
  for (TensorSpec& t : s.tensors) t.placement = Placement::rows;
  s.function = [tile](tl::Context& tl, const tl::Args& args) {
    if (tl.index() != 0) return;
    const tl::Block a = args.whole("a"), b = args.whole("b"), c = args.whole("c");
    tl.wait(tl.composite(tl::gemm(a, b).tiles(tile, tile, tile).out(c)));
  };
  s.reference = [](const Params& p, const TensorMap& in) {
    return std::map<std::string, Expected>{{"c", kernels::gemm_reference(p, in)}};
  };
  return s;
}
const RegisterKernel one_tile{gemm_over_ranges("virtual_test_gemm", 32)};
const RegisterKernel many_tiles{gemm_over_ranges("virtual_test_gemm_tiled", 5)};

/// Masked, strided and asynchronous loads and stores across shard boundaries; finally y = x.
const RegisterKernel strided{copying_kernel("virtual_test_strided", [](tl::Context& tl, const tl::Args& args) {
  if (tl.index() != 0) return;
  const int64_t rows = args.integer("n") / 8;
  const tl::Block x = args.whole("x").ptr.block({rows, 8});
  const tl::Block y = args.whole("y").ptr.block({rows, 8});
  const auto left = tl.load_async(x.tile(0, 0, rows, 3));
  const auto right = tl.load_async(x.tile(0, 3, rows, 5));
  tl.store_async(y.tile(0, 3, rows, 5), right);
  tl.store(y.tile(0, 0, rows, 3), tl.zeros({rows, 3}, DType::f32));
  const auto mask = tl.ge(tl.load(x.tile(0, 0, rows, 3)), 0.0);
  tl.store(y.tile(0, 0, rows, 3), left, mask);
  const auto rest = tl.lt(tl.load(x.tile(0, 0, rows, 3)), 0.0);
  tl.store(y.tile(0, 0, rows, 3), tl.load(x.tile(0, 0, rows, 3), rest, 7.0), rest);
})};

std::string verified(const std::string& kernel, const std::vector<std::pair<std::string, std::string>>& params) {
  return in_child([&] {
    auto p = platform_from_file(topology_path("small.yaml"));
    RunOptions o;
    o.kernel = kernel;
    o.params = params;
    o.verify = true;
    o.debug_verify = true;
    o.threads = 1;
    const RunReport r = run_kernel(*p, std::move(o));
    return r.passed ? "" : r.tensors[0].reason;
  });
}

TEST(VirtualAccess, gives_right_data_whatever_the_shards_ends_cut) {
  // 88 elements over 8 PEs: shards of 11 elements end inside rows of 8.
  for (const char* n : {"88", "8", "160", "4096"}) EXPECT_EQ(verified("virtual_test_strided", {{"n", n}}), "") << n;
}

TEST(VirtualAccess, gives_right_data_to_tiles_that_cross_shards) {
  for (const char* dtype : {"f32", "i8"}) {
    EXPECT_EQ(verified("virtual_test_gemm_tiled", {{"m", "37"}, {"n", "21"}, {"k", "19"}, {"dtype", dtype}}), "")
        << dtype;
  }
}

/// The message of a run that ends with a fault.
std::string fault_of(const std::string& kernel) {
  return in_child([&] {
    auto p = platform_from_file(topology_path("small.yaml"));
    RunOptions o;
    o.kernel = kernel;
    try {
      run_kernel(*p, std::move(o));
    } catch (const RunError& e) {
      return std::string(e.what());
    }
    return std::string("no fault");
  });
}

void first_pe_loads(tl::Context& tl, const tl::Ptr& ptr, int64_t n) {
  if (tl.index() == 0) tl.load(ptr, {n});
}
const RegisterKernel beyond{copying_kernel("virtual_test_beyond", [](tl::Context& tl, const tl::Args& args) {
  first_pe_loads(tl, args.virtual_ptr("x") + 4000, 100);
})};
const RegisterKernel unmapped{copying_kernel("virtual_test_unmapped", [](tl::Context& tl, const tl::Args& args) {
  first_pe_loads(tl, args.virtual_ptr("x") + 100000, 100);
})};
const RegisterKernel misaligned{copying_kernel("virtual_test_misaligned", [](tl::Context& tl, const tl::Args& args) {
  tl::Ptr x = args.virtual_ptr("x");
  x.addr += 2;
  first_pe_loads(tl, x, 4);
})};

void expect_said(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(VirtualFault, beyond_a_mapping_names_pe_line_address_size_and_mapping) {
  expect_said(fault_of("virtual_test_beyond"),
              {"sip0.cube0.pe0", "virtual_range_test.cpp:", "load of [100] f32 at virtual 0x10000000003e80",
               "virtual address 0x10000000003e80, 400 bytes: runs over the end of the mapping of x [0x10000000000000, "
               "0x10000000004000), the next one is y ["});
}

TEST(VirtualFault, at_an_unmapped_address_names_the_nearest_mapping) {
  expect_said(fault_of("virtual_test_unmapped"),
              {"sip0.cube0.pe0", "virtual address 0x10000000061a80, 400 bytes: not mapped; nearest mapping: x ["});
}

TEST(VirtualFault, at_a_misaligned_address_is_told_as_for_any_pointer) {
  expect_said(fault_of("virtual_test_misaligned"), {"virtual 0x10000000000002", "the address is misaligned"});
}

}  // namespace
}  // namespace kernbench::testing::a_sharded_tensor_is_one_virtual_range
