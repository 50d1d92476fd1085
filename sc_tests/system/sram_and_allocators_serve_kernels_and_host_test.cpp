// SPDX-License-Identifier: Apache-2.0
// Can kernels load from and store to the cube's shared SRAM, and do the host's allocators keep owners separate?
#include <gtest/gtest.h>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/device_allocators.h"
#include "launch_toy_system.h"
#include "system_support.h"
#include "virtual_memory_kernels.h"

namespace kernbench::testing {
namespace {

/// y = x through the SRAM, each PE in its own part; a composite reads and writes there too.
KernelSpec through_sram() {
  KernelSpec s = copying_kernel("sram_test_copy", [](tl::Context& tl, const tl::Args& args) {
    if (args["x"].empty()) return;
    const tl::Block x = args["x"], y = args["y"];
    const int64_t n = x.shape()[0];
    const tl::Ptr mine = tl.sram(DType::f32) + tl.program_id(0) * 3 * n;
    tl.store(mine, tl.load(x));
    tl.wait(tl.composite(tl::elementwise("neg", {mine.block({n})}).tiles(1, n, 1).out((mine + n).block({n}))));
    tl.store(mine + 2 * n, tl.neg(tl.load(mine + n, {n})));
    tl.store(y, tl.load(mine + 2 * n, {n}));
  });
  s.tensors[1].placement = Placement::rows;
  return s;
}
const RegisterKernel sram_copy{through_sram()};

TEST(Sram, is_stored_to_and_loaded_from_in_the_time_of_its_path) {
  for (const char* links : {"ideal", "cut_through", "flit"}) {
    EXPECT_EQ(in_child([links]() -> std::string {
                topology::Overrides overrides;
                overrides.links = topology::Links::ideal;
                for (auto mode : {topology::Links::ideal, topology::Links::cut_through, topology::Links::flit}) {
                  if (std::string(topology::name_of(mode)) == links) overrides.links = mode;
                }
                auto p = platform_from_file(topology_path("default.yaml"), overrides);
                std::vector<OpRecord> records;
                RunOptions o;
                o.kernel = "sram_test_copy";
                o.pes = "sip1.cube5.pe3";
                o.verify = true;
                o.threads = 1;
                o.log = std::make_unique<KeptLog>(records);
                if (!run_kernel(*p, std::move(o)).passed) return "y is not x";
                const auto& pe = p->graph().pes[(16 + 5) * 8 + 3];
                int seen = 0;
                for (const OpRecord& r : records) {
                  if (!r.desc || r.desc->kind != OpKind::memory) continue;
                  const bool write = r.desc->type == CommandType::store;
                  const TensorRef& t = write ? r.desc->output : r.desc->operands[0].ref;
                  if (t.space != Space::sram) continue;
                  ++seen;
                  if (p->system().owner_of(t.space, t.addr) != "sip1.cube5.sram")
                    return "in " + p->system().owner_of(t.space, t.addr);
                  const double alone = p->system().mode().formula_ns(
                      p->routes().route(pe.blocks.at("pe_dma"), t.addr, t.nbytes(), write), write, t.addr, t.nbytes(),
                      {1, t.nbytes(), 0});
                  if (std::abs(r.t_end - r.t_start - alone) > 1e-6)
                    return "took " + std::to_string(r.t_end - r.t_start) + ", expected " + std::to_string(alone);
                }
                return seen == 4 ? "" : std::to_string(seen) + " accesses";
              }),
              "")
        << links;
  }
}

TEST(Sram, is_shared_by_the_pes_of_a_cube) {
  auto p = platform_from_file(topology_path("small.yaml"));
  RunOptions o;
  o.kernel = "sram_test_copy";
  o.params = {{"n", "1000"}};
  o.verify = true;
  o.debug_verify = true;
  o.threads = 1;
  EXPECT_TRUE(run_kernel(*p, std::move(o)).passed);
  EXPECT_EQ(p->pes().pe(0).sram_base, p->pes().pe(3).sram_base);
  EXPECT_NE(p->pes().pe(0).sram_base, p->pes().pe(4).sram_base);
}

TEST(Sram, that_a_cube_lacks_is_a_fault_that_says_so) {
  auto p = platform_from_text(toy_system());
  RunOptions o;
  o.kernel = "sram_test_copy";
  try {
    run_kernel(*p, std::move(o));
    FAIL() << "no fault";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("the cube of sip0.cube0.pe0 has no shared SRAM"), std::string::npos)
        << e.what();
  }
}

TEST(DeviceAllocators, keep_pes_hbm_and_tcm_apart_and_say_who_is_full) {
  auto p = platform_from_file(topology_path("small.yaml"));
  DeviceAllocators& a = p->hosts().allocators();
  const uint64_t first = a.allocate_hbm(0, 5000), second = a.allocate_hbm(0, 1), other = a.allocate_hbm(1, 1);
  EXPECT_EQ(first, p->graph().memories[p->pes().local_memory(0)].base);
  EXPECT_EQ(second, first + 8192);
  EXPECT_EQ(other, p->graph().memories[p->pes().local_memory(1)].base);
  a.free_hbm(0, first);
  EXPECT_EQ(a.allocate_hbm(0, 8192), first) << "first fit";

  const uint64_t tcm = uint64_t{15} << 20;
  EXPECT_EQ(a.allocate_tcm(0, tcm), 0u);
  EXPECT_EQ(a.allocate_tcm(1, tcm), 0u);
  try {
    a.allocate_tcm(0, 64);
    FAIL() << "the TCM is full";
  } catch (const OutOfDeviceMemory& e) {
    EXPECT_STREQ(e.what(), "64 bytes for sip0.cube0.pe0 do not fit sip0.cube0.pe0.pe_tcm (0 of 15728640 bytes free)");
  }
  a.free_tcm(0, 0);
  EXPECT_EQ(a.allocate_tcm(0, 64), 0u);

  const topology::Memory& slice = p->graph().memories[p->pes().local_memory(2)];
  a.allocate_hbm(2, slice.size - 4096);
  try {
    a.allocate_hbm(2, 4097);
    FAIL() << "the slice is full";
  } catch (const OutOfDeviceMemory& e) {
    EXPECT_EQ(std::string(e.what()), "4097 bytes for sip0.cube0.pe2 do not fit sip0.cube0.hbm_ctrl.pe2 (4096 of " +
                                         std::to_string(slice.size) + " bytes free)");
  }
}

TEST(DeviceAllocators, give_virtual_ranges_at_pages_and_take_them_back) {
  auto p = platform_from_file(topology_path("small.yaml"));
  DeviceAllocators& a = p->hosts().allocators();
  const uint64_t page = a.page_bytes();
  EXPECT_EQ(page, 2u << 20);
  EXPECT_EQ(a.allocate_virtual(1), kVirtualBase);
  EXPECT_EQ(a.allocate_virtual(page + 1), kVirtualBase + page);
  EXPECT_EQ(a.allocate_virtual(128), kVirtualBase + 3 * page);
  a.free_virtual(kVirtualBase);
  a.free_virtual(kVirtualBase + page);
  EXPECT_EQ(a.allocate_virtual(3 * page), kVirtualBase) << "freed neighbours are one range";
}

TEST(Deployment, gives_all_its_memory_back) {
  auto p = platform_from_file(topology_path("small.yaml"));
  const KernelSpec& spec = KernelRegistry::instance().at("vector_add");
  const Params params = kernel_params(spec, {});
  const auto deploy = [&] {
    const Deployment d(p->machine(), p->hosts().allocators(), spec, params, {0, 1, 2});
    std::vector<uint64_t> at;
    for (const auto& m : d.mappings()) at.push_back(m->begin());
    for (const auto& r : d.ranges("b")) at.push_back(r.address);
    EXPECT_EQ(at.size(), 6u);
    return at;
  };
  EXPECT_EQ(deploy(), deploy());
}

}  // namespace
}  // namespace kernbench::testing
