// SPDX-License-Identifier: Apache-2.0
// The blocked map has the same contents as a tree of single entries, for any insertions and removals.
#include "kernbench/phase2/memory/blocked_map.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace kernbench {
namespace {

using Map = BlockedMap<std::unique_ptr<int>>;  // moved-from values are empty

void insert(Map& map, uint64_t address, int value) {
  const auto at = map.insert(map.lower_bound(address), address, std::make_unique<int>(value));
  ASSERT_EQ(at->first, address);
  ASSERT_EQ(*at->second, value);
}

void expect_same(Map& map, const std::map<uint64_t, int>& model) {
  ASSERT_EQ(map.size(), model.size());
  ASSERT_EQ(map.empty(), model.empty());
  auto at = map.begin();
  for (const auto& [address, value] : model) {
    ASSERT_TRUE(at != map.end());
    ASSERT_EQ(at->first, address);
    ASSERT_EQ(*at->second, value);
    ASSERT_TRUE(map.lower_bound(address) == at);
    ++at;
    ASSERT_TRUE(map.upper_bound(address) == at);
  }
  ASSERT_TRUE(at == map.end());
  for (auto back = model.rbegin(); back != model.rend(); ++back) ASSERT_EQ((--at)->first, back->first);
}

TEST(BlockedMap, holds_nothing_at_first) {
  Map map;
  expect_same(map, {});
  EXPECT_TRUE(map.lower_bound(0) == map.end());
  EXPECT_TRUE(map.upper_bound(~uint64_t{0}) == map.end());
  EXPECT_TRUE(map.erase(map.begin(), map.end()) == map.end());
}

TEST(BlockedMap, takes_the_least_and_the_largest_address_and_gives_all_back_at_once) {
  Map map;
  insert(map, ~uint64_t{0}, 1);
  insert(map, 0, 2);
  for (int i = 1; i < 1000; ++i) insert(map, static_cast<uint64_t>(1000 - i), i);
  EXPECT_EQ(map.size(), 1001u);
  EXPECT_TRUE(map.erase(map.begin(), map.end()) == map.end());
  expect_same(map, {});
  insert(map, 7, 3);
  expect_same(map, {{7, 3}});
}

TEST(BlockedMap, agrees_with_a_tree_under_random_changes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  const auto pick = [&](uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(rng); };
  for (const uint64_t range : {40, 1000, 100000}) {
    Map map;
    std::map<uint64_t, int> model;
    for (int step = 0; step < 4000; ++step) {
      const uint64_t address = pick(range);
      const uint64_t what = pick(8);
      if (what < 5) {
        // Also ascending runs, like a matrix that is written row by row.
        const uint64_t run = what == 0 ? 1 + pick(100) : 1;
        for (uint64_t a = address; a < address + run; ++a) {
          if (model.emplace(a, step).second) insert(map, a, step);
        }
      } else if (what < 7) {
        const uint64_t end = address + pick(what == 5 ? 3 : 1 + range / 4);
        const auto left = map.erase(map.lower_bound(address), map.lower_bound(end));
        model.erase(model.lower_bound(address), model.lower_bound(end));
        ASSERT_TRUE(left == map.lower_bound(end));
      } else if (const auto at = model.lower_bound(address); at != model.end()) {
        const uint64_t low = at == model.begin() ? 0 : std::prev(at)->first + 1;
        const uint64_t high = std::next(at) == model.end() ? range + 200 : std::next(at)->first;
        const uint64_t to = low + pick(high - low);
        const auto moved = map.lower_bound(at->first);
        map.move(moved, to);
        ASSERT_EQ(moved->first, to);
        const int value = at->second;
        model.erase(at);
        model.emplace(to, value);
      }
      if (step % 100 == 0) expect_same(map, model);
    }
    expect_same(map, model);
  }
}

TEST(BlockedMap, keeps_neighbours_together) {
  BlockedMap<int> map;
  for (uint64_t a = 0; a < 4800; ++a) map.insert(map.end(), a, 0);
  const BlockedMap<int> copy = map;
  const auto near = [](const auto& entries) {
    size_t n = 0;
    for (auto at = entries.begin(), next = std::next(at); next != entries.end(); at = next, ++next)
      n += &*next == &*at + 1;
    return n;
  };
  EXPECT_GE(near(map), 4800u - 4800 / BlockedMap<int>::kMost);
  // The remaining entries of a large map are stored together again.
  for (uint64_t a = 0; a < 4800; ++a) {
    if (a % 48 != 5) map.erase(map.lower_bound(a));
  }
  EXPECT_EQ(map.size(), 100u);
  EXPECT_GE(near(map), 85u);
  EXPECT_EQ(copy.size(), 4800u);
}

}  // namespace
}  // namespace kernbench
