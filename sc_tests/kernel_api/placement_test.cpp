// SPDX-License-Identifier: Apache-2.0
// Shards: every element has a place, and scatter and gather are inverse.
#include "kernbench/kernel_api/placement.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/layout.h"

namespace kernbench {
namespace {

TEST(Placement, rows_are_contiguous_blocks_and_late_pes_may_get_none) {
  const ShardPlan p = plan_shards(Placement::rows, DType::f32, {10, 3}, 4);
  EXPECT_EQ(p.shards[0].extent, (Dims{3, 3}));
  EXPECT_EQ(p.shards[2].offset, (Dims{6, 0}));
  EXPECT_EQ(p.shards[3].extent, (Dims{1, 3}));
  EXPECT_EQ(p.nbytes(3), 12u);
  const ShardPlan few = plan_shards(Placement::rows, DType::f32, {2, 3}, 4);
  EXPECT_FALSE(few.shards[1].empty());
  EXPECT_TRUE(few.shards[2].empty());
  EXPECT_FALSE(few.stored(2));
  EXPECT_EQ(few.nbytes(2), 0u);
}

TEST(Placement, flat_rows_see_all_but_the_last_dimension_as_one) {
  const ShardPlan p = plan_shards(Placement::flat_rows, DType::f16, {3, 5, 4}, 2);
  EXPECT_EQ(p.whole, (Dims{15, 4}));
  EXPECT_EQ(p.shards[1].offset, (Dims{8, 0}));
  EXPECT_EQ(p.shards[1].extent, (Dims{7, 4}));
}

TEST(Placement, single_is_stored_once_and_shared) {
  const ShardPlan p = plan_shards(Placement::single, DType::i8, {2, 2}, 3);
  EXPECT_TRUE(p.stored(0));
  EXPECT_FALSE(p.stored(2));
  EXPECT_EQ(p.shards[2].owner, 0u);
  EXPECT_EQ(p.shards[2].extent, (Dims{2, 2}));
  const auto launch = std::make_shared<tl::LaunchArgs>(Params());
  launch->add("x", p, Space::hbm, {4096, 0, 0});
  const tl::Args args(launch, 2);
  EXPECT_EQ(args["x"].ptr.addr, 4096u);
}

TEST(Placement, replicas_are_whole_and_everyones_own) {
  const ShardPlan p = plan_shards(Placement::replicate, DType::f32, {2, 2}, 2);
  EXPECT_TRUE(p.stored(0) && p.stored(1));
  EXPECT_EQ(p.shards[1].extent, (Dims{2, 2}));
}

TEST(Placement, refuses_what_has_no_meaning) {
  EXPECT_THROW(plan_shards(Placement::rows, DType::f32, {2}, 0), std::invalid_argument);
  EXPECT_THROW(plan_shards(Placement::rows, DType::f32, {}, 2), std::invalid_argument);
}

TEST(Placement, blocks_of_a_layout_are_of_whole_units) {
  const auto columns = [](const host::Layout& layout, int64_t n, uint32_t pes) {
    std::vector<host::LayoutPlace> places;
    for (uint32_t p = 0; p < pes; ++p) places.push_back({p / 2, 0, p % 2});
    std::vector<int64_t> all;
    for (const Shard& s : plan_shards(layout, DType::f32, {3, n}, places).shards) all.push_back(s.extent[1]);
    return all;
  };
  using host::shard;
  const host::Layout twice = host::Layout(shard(1, 2)).pe(shard(1, 2));
  EXPECT_EQ(columns(twice, 70, 4), (std::vector<int64_t>{18, 18, 18, 16}));
  EXPECT_EQ(columns(twice, 35, 4), (std::vector<int64_t>{10, 8, 10, 7}));
  EXPECT_EQ(columns(twice, 3, 4), (std::vector<int64_t>{2, 0, 1, 0}));
  EXPECT_EQ(columns(host::Layout(shard(1)).pe(shard(1)), 35, 4), (std::vector<int64_t>{9, 9, 9, 8}));
  EXPECT_EQ(twice.to_string(), "rank shard(1, 2), cube replicate, pe shard(1, 2)");
  EXPECT_FALSE(twice == host::Layout(shard(1)).pe(shard(1, 2)));
  EXPECT_THROW(host::grid(shard(0, 2), shard(1)), std::invalid_argument);
}

TEST(Placement, scattering_and_gathering_any_plan_gives_the_tensor_back) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    Dims shape;
    const int rank = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < rank; ++i) shape.push_back(1 + random() % 9);
    const auto dtype = random() % 2 ? DType::f32 : DType::i8;
    const auto pes = static_cast<uint32_t>(1 + random() % 7);
    Bytes whole(static_cast<size_t>(shape.elements()) * size_of(dtype));
    for (uint8_t& b : whole) b = static_cast<uint8_t>(1 + random() % 255);
    for (Placement placement : {Placement::rows, Placement::flat_rows, Placement::cols, Placement::single}) {
      const ShardPlan p = plan_shards(placement, dtype, shape, pes);
      Bytes back(whole.size());
      uint64_t bytes = 0;
      for (uint32_t pe = 0; pe < pes; ++pe) {
        if (!p.stored(pe)) continue;
        Bytes shard(p.nbytes(pe));
        scatter(p, pe, whole.data(), shard.data());
        gather(p, pe, shard.data(), back.data());
        bytes += shard.size();
        uint64_t first = 0;
        if (contiguous_in_whole(p, pe, &first)) {
          ASSERT_TRUE(std::equal(shard.begin(), shard.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
        } else {
          ASSERT_EQ(placement, Placement::cols) << "only columns need rearranging";
        }
      }
      ASSERT_EQ(bytes, whole.size()) << name_of(placement) << " " << shape.to_string() << " over " << pes;
      ASSERT_EQ(back, whole) << name_of(placement) << " " << shape.to_string() << " over " << pes;
    }
  }
}

TEST(Placement, InterleavedBlocksFollowEachOtherInTheFlatTensor) {
  const ShardPlan plan = plan_interleaved(DType::f16, {3, 7}, 16);  // 21 elements, 8 per block
  ASSERT_EQ(plan.shards.size(), 3u);
  EXPECT_EQ(plan.whole, Dims({21}));
  int64_t next = 0;
  for (uint32_t i = 0; i < plan.shards.size(); ++i) {
    EXPECT_TRUE(plan.stored(i));
    EXPECT_EQ(plan.shards[i].offset[0], next);
    EXPECT_EQ(plan.shards[i].extent[0], i < 2 ? 8 : 5);
    next += plan.shards[i].extent[0];
  }
  EXPECT_EQ(plan_interleaved(DType::f32, {2}, 1 << 20).shards.size(), 1u);  // one block is enough
  EXPECT_THROW(plan_interleaved(DType::f32, {2}, 6), std::invalid_argument);
  EXPECT_THROW(plan_interleaved(DType::f32, {2}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace kernbench
