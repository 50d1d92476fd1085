// SPDX-License-Identifier: Apache-2.0
// Does an access stay within the bounds of its pointer, regardless of the arithmetic on it? If not, is it a fault with
// the kernel's line? May it leave the bounds if the kernel lifts them?
#include "kernbench/kernel_api/args.h"
#include "tl_fixture.h"

namespace kernbench::testing {
namespace {

class BoundsTest : public TlTest {
 protected:
  /// Eight elements in memory with eight more after them. The pointer may access only the first eight.
  tl::Ptr eight() {
    const tl::Ptr p = place(DType::f32, std::vector<float>(16, 1));
    return p.bounded(32, "x");
  }
  void expect_fault(const std::function<void()>& access, const std::string& call) {
    const std::string m = fault_of(access);
    for (const std::string& part :
         {std::string("bounds_test.cpp:"), call, std::string("leaves what its pointer came from, x [0x"),
          std::string("unbounded()")}) {
      EXPECT_NE(m.find(part), std::string::npos) << part << " in: " << m;
    }
  }
};

TEST_F(BoundsTest, every_access_lies_within_them) {
  const tl::Ptr p = eight();
  EXPECT_NO_THROW((void)tl.load(p, {8}));
  EXPECT_NO_THROW((void)tl.load(p + 7, {1}));
  EXPECT_NO_THROW((void)tl.load(p.block({2, 2}, 6)));
  const auto ones = tl.full({2}, 1, DType::f32);
  expect_fault([&] { (void)tl.load(p, {9}); }, "load of [9] f32");
  expect_fault([&] { (void)tl.load(p + 8, {1}); }, "load of [1] f32");
  expect_fault([&] { (void)tl.load(p - 1, {1}); }, "load of [1] f32");
  expect_fault([&] { (void)tl.load_async(p.block({2, 2}, 7)); }, "row stride 7");
  expect_fault([&] { (void)tl.load((p + 4).cast(DType::f16), {10}); }, "load of [10] f16");
  expect_fault([&] { tl.store(p + 7, ones); }, "store of [2] f32");
  expect_fault([&] { (void)tl.composite(tl::elementwise("neg", {(p + 7).block({2})}).tiles(1, 2, 1)); }, "composite");
  expect_fault([&] { (void)tl.composite(tl::elementwise("neg", {ones}).tiles(1, 2, 1).out((p + 7).block({2}))); },
               "composite");
}

TEST_F(BoundsTest, may_be_lifted_by_the_kernel) {
  const tl::Ptr p = eight();
  EXPECT_NO_THROW((void)tl.load(p.unbounded() + 8, {8}));
  EXPECT_NO_THROW(tl.store((p + 7).unbounded(), tl.full({2}, 1, DType::f32)));
}

TEST_F(BoundsTest, what_a_mask_leaves_out_is_not_reached) {
  const tl::Ptr p = eight();
  const auto mask = loaded({4}, {1, 1, 0, 0}, DType::u8);
  EXPECT_NO_THROW((void)tl.load((p + 6).block({4}), mask));
  EXPECT_NO_THROW(tl.store((p + 6).block({4}), tl.full({4}, 1, DType::f32), mask));
  expect_fault([&] { (void)tl.load((p + 7).block({4}), mask); }, "load of [4] f32");
  expect_fault([&] { tl.store((p + 7).block({4}), tl.full({4}, 1, DType::f32), mask); }, "store of [4] f32");
  const auto pending = tl.arange(0, 4) < 2;
  expect_fault([&] { (void)tl.load((p + 6).block({4}), pending); }, "its mask is pending");
}

TEST_F(BoundsTest, are_those_of_the_shard_and_of_the_range) {
  tl::LaunchArgs launch{Params()};
  launch.add("x", plan_shards(Placement::rows, DType::f32, {8}, 3), Space::hbm, {4096, 8192, 12288}, kVirtualBase);
  const tl::Args args(std::shared_ptr<const tl::LaunchArgs>(std::shared_ptr<void>(), &launch), 2);
  const tl::Bounds mine = args["x"].ptr.bounds, first = args.shard("x", 0).ptr.bounds;
  EXPECT_TRUE(first.hold(4096, 12) && !first.hold(4096, 13));
  EXPECT_TRUE(mine.hold(12288, 8) && !mine.hold(12288, 9));
  EXPECT_TRUE(args.whole("x").ptr.bounds.hold(kVirtualBase, 32) &&
              !args.virtual_ptr("x").bounds.hold(kVirtualBase, 33));
  tl::LaunchArgs few{Params()};
  few.add("x", plan_shards(Placement::rows, DType::f32, {1}, 2), Space::hbm, {4096, 0});
  const tl::Args idle(std::shared_ptr<const tl::LaunchArgs>(std::shared_ptr<void>(), &few), 1);
  EXPECT_FALSE(idle["x"].ptr.bounds.hold(0, 1)) << "an empty shard's address is none";
}

}  // namespace
}  // namespace kernbench::testing
