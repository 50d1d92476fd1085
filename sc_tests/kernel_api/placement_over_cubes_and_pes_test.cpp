// SPDX-License-Identifier: Apache-2.0
// Two-level placement: every cube gets its part, and every PE its part of that. Replicated levels copy; split levels
// cover the tensor exactly once.
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

#include "kernbench/kernel_api/placement.h"

namespace kernbench {
namespace {

constexpr Split kSplits[] = {Split::replicate, Split::row_wise, Split::column_wise};

// Four PEs in two cubes; a 6 x 8 tensor.
TEST(TwoLevelPlacement, gives_rows_to_cubes_and_columns_to_their_pes) {
  const ShardPlan p = plan_shards({Split::row_wise, Split::column_wise}, DType::f32, {6, 8}, {7, 7, 9, 9});
  EXPECT_EQ(p.shards[0].offset, (Dims{0, 0}));
  EXPECT_EQ(p.shards[1].offset, (Dims{0, 4}));
  EXPECT_EQ(p.shards[2].offset, (Dims{3, 0}));
  EXPECT_EQ(p.shards[3].offset, (Dims{3, 4}));
  for (const Shard& s : p.shards) EXPECT_EQ(s.extent, (Dims{3, 4}));
}

TEST(TwoLevelPlacement, copies_to_every_cube_what_it_splits_over_pes) {
  const ShardPlan p = plan_shards({Split::replicate, Split::row_wise}, DType::f32, {6, 8}, {0, 0, 1, 1});
  EXPECT_EQ(p.shards[1].offset, (Dims{3, 0}));
  EXPECT_EQ(p.shards[3].offset, p.shards[1].offset);
  EXPECT_EQ(p.shards[3].extent, (Dims{3, 8}));
  EXPECT_TRUE(p.stored(3)) << "a copy of its own";
}

// Cube 5 runs one PE, cube 2 three. PEs of a cube need not be adjacent in the list.
TEST(TwoLevelPlacement, counts_the_pes_that_a_cube_runs) {
  const ShardPlan p = plan_shards({Split::row_wise, Split::row_wise}, DType::i8, {10, 1}, {2, 5, 2, 2});
  EXPECT_EQ(p.shards[0].extent, (Dims{2, 1}));
  EXPECT_EQ(p.shards[1].offset, (Dims{5, 0}));
  EXPECT_EQ(p.shards[1].extent, (Dims{5, 1}));
  EXPECT_EQ(p.shards[2].offset, (Dims{2, 0}));
  EXPECT_EQ(p.shards[3].offset, (Dims{4, 0}));
  EXPECT_EQ(p.shards[3].extent, (Dims{1, 1}));
}

TEST(TwoLevelPlacement, refuses_what_has_no_meaning) {
  EXPECT_THROW(plan_shards({Split::row_wise, Split::row_wise}, DType::f32, {2}, {}), std::invalid_argument);
  EXPECT_THROW(plan_shards({Split::replicate, Split::row_wise}, DType::f32, {}, {0, 0}), std::invalid_argument);
  EXPECT_EQ(plan_shards({Split::replicate, Split::replicate}, DType::f32, {}, {0, 0}).nbytes(1), 4u);
}

TEST(TwoLevelPlacement, of_any_tensor_over_any_pes_covers_it_once_a_copy) {
  std::mt19937 random(20);
  for (int round = 0; round < 300; ++round) {
    Dims shape;
    const int rank = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < rank; ++i) shape.push_back(1 + random() % 9);
    std::vector<uint32_t> cube_of_pe;
    const size_t pes = 1 + random() % 9;
    std::vector<int> of_cube(4, 0);
    for (size_t p = 0; p < pes; ++p) {
      cube_of_pe.push_back(static_cast<uint32_t>(random() % 4));
      ++of_cube[cube_of_pe.back()];
    }
    Bytes whole(static_cast<size_t>(shape.elements()));
    for (uint8_t& b : whole) b = static_cast<uint8_t>(1 + random() % 255);
    for (const Split cube : kSplits) {
      for (const Split pe : kSplits) {
        SCOPED_TRACE(std::string(name_of(cube)) + " " + std::string(name_of(pe)) + " " + shape.to_string());
        const ShardPlan p = plan_shards({cube, pe}, DType::i8, shape, cube_of_pe);
        Bytes back(whole.size());
        uint64_t bytes = 0, copies = 0;
        for (int n : of_cube) {
          const uint64_t of_this = pe == Split::replicate ? static_cast<uint64_t>(n) : 1;
          copies = cube == Split::replicate ? copies + (n > 0 ? of_this : 0) : 1;
        }
        for (uint32_t i = 0; i < pes; ++i) {
          if (!p.stored(i)) continue;
          Bytes shard(p.nbytes(i));
          scatter(p, i, whole.data(), shard.data());
          gather(p, i, shard.data(), back.data());
          bytes += shard.size();
        }
        ASSERT_EQ(back, whole);
        if (cube == Split::replicate || pe != Split::replicate) {
          ASSERT_EQ(bytes, copies * whole.size());
        } else {
          ASSERT_GE(bytes, whole.size());
        }
      }
    }
  }
}

}  // namespace
}  // namespace kernbench
