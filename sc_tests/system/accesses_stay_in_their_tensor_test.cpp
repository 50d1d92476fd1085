// SPDX-License-Identifier: Apache-2.0
// A kernel that accesses memory beyond its tensor ends the run with its line. This holds if the bytes there belong to
// another tensor or to none, for physical and virtual addresses. A kernel that lifts the bounds may do so.
#include <gtest/gtest.h>

#include "kernbench/phase2/op/errors.h"
#include "system_support.h"
#include "virtual_memory_kernels.h"

namespace kernbench::testing::accesses_stay_in_their_tensor {
namespace {

using Walk = std::function<void(tl::Context&, const tl::Block& x, const tl::Block& y)>;

/// y = x on the first PE, then the accesses of the walk.
KernelSpec walking(const std::string& name, Walk walk) {
  KernelSpec s = copying_kernel("bounds_test_" + name, [walk](tl::Context& tl, const tl::Args& args) {
    const tl::Block x = args["x"], y = args["y"];
    tl.store(y, tl.load(x));
    walk(tl, x, y);
  });
  return s;
}

/// From x into y, which follows it in memory.
const RegisterKernel into{walking("into", [](tl::Context& tl, const tl::Block& x, const tl::Block& y) {
  tl.load(x.ptr() + static_cast<int64_t>(y.ptr().addr - x.ptr().addr) / 4, {16});
})};
const RegisterKernel behind{walking("behind", [](tl::Context& tl, const tl::Block&, const tl::Block& y) {
  tl.store(y.ptr() + 100'000, tl.zeros({16}, DType::f32));
})};
const RegisterKernel sram{walking("sram", [](tl::Context& tl, const tl::Block&, const tl::Block&) {
  tl.store(tl.sram(DType::f32) - 16, tl.zeros({16}, DType::f32));
})};
const RegisterKernel lifted{walking("lifted", [](tl::Context& tl, const tl::Block& x, const tl::Block& y) {
  tl.load(x.ptr().unbounded() + static_cast<int64_t>(y.ptr().addr - x.ptr().addr) / 4, {16});
})};

std::string fault_of(const std::string& kernel, AddressMode addresses) {
  return in_child([&]() -> std::string {
    auto p = platform_from_file(topology_path("small.yaml"));
    RunOptions o;
    o.kernel = "bounds_test_" + kernel;
    o.pes = "sip0.cube0.pe0";
    o.addresses = addresses;
    o.verify = true;
    o.threads = 1;
    try {
      return run_kernel(*p, std::move(o)).passed ? "" : "not verified";
    } catch (const RunError& e) {
      return e.what();
    }
  });
}

void expect_said(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(Bounds, a_load_from_one_tensor_into_another_is_a_fault) {
  for (const auto addresses : {AddressMode::physical, AddressMode::virtual_})
    expect_said(fault_of("into", addresses), {"sip0.cube0.pe0", "accesses_stay_in_their_tensor_test.cpp:",
                                              "load of [16] f32", "leaves what its pointer came from, x [0x"});
}

TEST(Bounds, a_store_behind_a_tensor_is_a_fault) {
  expect_said(
      fault_of("behind", AddressMode::physical),
      {"accesses_stay_in_their_tensor_test.cpp:", "store of [16] f32", "leaves what its pointer came from, y [0x"});
}

TEST(Bounds, of_sram_are_the_cubes) {
  expect_said(fault_of("sram", AddressMode::physical),
              {"accesses_stay_in_their_tensor_test.cpp:", "store of [16] f32"});
}

TEST(Bounds, are_lifted_where_the_kernel_says_so) {
  for (const auto addresses : {AddressMode::physical, AddressMode::virtual_})
    EXPECT_EQ(fault_of("lifted", addresses), "");
}

}  // namespace
}  // namespace kernbench::testing::accesses_stay_in_their_tensor
