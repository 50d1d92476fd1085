// SPDX-License-Identifier: Apache-2.0
// First fit, coalescing and exhaustion, against a model that marks every unit.
#include "kernbench/kernel_api/first_fit_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace kernbench {
namespace {

TEST(FirstFitAllocator, gives_the_lowest_range_that_fits) {
  FirstFitAllocator a(1000, 1000, 1);
  EXPECT_EQ(a.allocate(100), 1000u);
  EXPECT_EQ(a.allocate(50), 1100u);
  EXPECT_EQ(a.allocate(100), 1150u);
  a.free(1000);
  EXPECT_EQ(a.allocate(101), 1250u) << "the hole of 100 is too small";
  EXPECT_EQ(a.allocate(60), 1000u);
  EXPECT_EQ(a.allocate(40), 1060u);
}

TEST(FirstFitAllocator, merges_a_freed_range_with_both_neighbours) {
  FirstFitAllocator a(0, 300, 1);
  ASSERT_EQ(a.allocate(100), 0u);
  ASSERT_EQ(a.allocate(100), 100u);
  ASSERT_EQ(a.allocate(100), 200u);
  EXPECT_EQ(a.allocate(1), std::nullopt);
  a.free(0);
  a.free(200);
  EXPECT_EQ(a.largest_free(), 100u);
  a.free(100);
  EXPECT_EQ(a.largest_free(), 300u);
  EXPECT_EQ(a.allocate(300), 0u);
}

TEST(FirstFitAllocator, aligns_addresses_and_rounds_sizes_up) {
  FirstFitAllocator a(10, 200, 64);
  EXPECT_EQ(a.capacity(), 128u);
  EXPECT_EQ(a.allocate(0), 64u);
  EXPECT_EQ(a.used_bytes(), 64u);
  EXPECT_EQ(a.allocate(65), std::nullopt);
  EXPECT_EQ(a.allocate(64), 128u);
  EXPECT_EQ(a.free_bytes(), 0u);
  EXPECT_EQ(a.high_water(), 128u);
}

TEST(FirstFitAllocator, refuses_what_it_did_not_hand_out) {
  FirstFitAllocator a(0, 256, 64);
  EXPECT_THROW(a.free(0), std::invalid_argument);
  ASSERT_EQ(a.allocate(128), 0u);
  EXPECT_THROW(a.free(64), std::invalid_argument);
  a.free(0);
  EXPECT_THROW(a.free(0), std::invalid_argument);
  EXPECT_THROW(FirstFitAllocator(0, 1, 48), std::invalid_argument);
  EXPECT_EQ(a.allocate(~uint64_t{0}), std::nullopt);
}

TEST(FirstFitAllocator, finds_the_allocation_that_holds_an_address) {
  FirstFitAllocator a(0, 1024, 64);
  a.allocate(64);
  a.allocate(100);
  ASSERT_TRUE(a.find(191).has_value());
  EXPECT_EQ(a.find(191)->addr, 64u);
  EXPECT_EQ(a.find(191)->size, 128u);
  EXPECT_FALSE(a.find(192).has_value());
}

TEST(FirstFitAllocator, does_what_a_model_of_marked_units_does) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr uint64_t kBase = 128, kUnits = 100, kUnit = 16;
  FirstFitAllocator a(kBase, kUnits * kUnit, kUnit);
  std::vector<bool> taken(kUnits, false);
  std::map<uint64_t, uint64_t> live;  // first unit -> units
  int refused = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 100 < 55 || live.empty()) {
      const uint64_t bytes = 1 + random() % (random() % 10 == 0 ? 600 : 80);
      const uint64_t units = (bytes + kUnit - 1) / kUnit;
      uint64_t first = 0;
      uint64_t run = 0;
      for (uint64_t u = 0; u < kUnits && run < units; ++u) {
        run = taken[u] ? 0 : run + 1;
        first = u + 1 - run;
      }
      const auto got = a.allocate(bytes);
      if (run < units) {
        ++refused;
        ASSERT_EQ(got, std::nullopt);
        continue;
      }
      ASSERT_EQ(got, kBase + first * kUnit);
      std::fill_n(taken.begin() + static_cast<int>(first), units, true);
      live[first] = units;
    } else {
      auto it = live.begin();
      std::advance(it, static_cast<int>(random() % live.size()));
      a.free(kBase + it->first * kUnit);
      std::fill_n(taken.begin() + static_cast<int>(it->first), it->second, false);
      live.erase(it);
    }
    ASSERT_EQ(a.used_bytes(), kUnit * static_cast<uint64_t>(std::count(taken.begin(), taken.end(), true)));
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace kernbench
