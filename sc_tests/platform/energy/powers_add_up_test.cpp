// SPDX-License-Identifier: Apache-2.0
// Windows of energy: exact for any additions, and sparse.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernbench/platform/energy/power_series.h"

namespace kernbench::energy {
namespace {

std::vector<Rontojoules> windows_of(const PowerSeries& s, uint64_t first, uint64_t end) {
  std::vector<Rontojoules> all;
  uint64_t next = first;
  s.for_each(first, end, [&](uint64_t from, uint64_t to, Rontojoules each) {
    EXPECT_EQ(from, next);
    EXPECT_LT(from, to);
    all.insert(all.end(), to - from, each);
    next = to;
  });
  EXPECT_EQ(next, end);
  return all;
}

TEST(PowerSeries, SpreadsEvenlyAndLosesNothing) {
  PowerSeries s(100);
  s.add(50, 250, 1001);  // 50, 100 and 50 of 200 fs: 250.25, 500.5, and the rest
  EXPECT_EQ(s.windows(), 3u);
  EXPECT_EQ(windows_of(s, 0, 5), (std::vector<Rontojoules>{250, 500, 251, 0, 0}));
  s.add(300, 300, 7);  // an instant
  s.add(100, 200, 9);  // exactly a window
  EXPECT_EQ(windows_of(s, 1, 4), (std::vector<Rontojoules>{509, 251, 7}));
}

TEST(PowerSeries, IsWhatANaiveOneIs) {
  std::mt19937_64 random(1);
  PowerSeries s(100);
  constexpr uint64_t kWindows = 3000;
  std::vector<Rontojoules> naive(kWindows);
  for (int i = 0; i < 300; ++i) {
    const uint64_t length = i % 3 ? random() % 500 : random() % 100'000;
    const uint64_t from = random() % (kWindows * 100 - length - 1), to = from + length;
    const Rontojoules energy = random() >> 20;
    s.add(from, to, energy);
    Rontojoules left = energy;
    const uint64_t last = length ? (to - 1) / 100 : to / 100;
    for (uint64_t w = from / 100; w < last; ++w) {
      const Rontojoules part = energy * (std::min(to, (w + 1) * 100) - std::max(from, w * 100)) / length;
      naive[w] += part;
      left -= part;
    }
    naive[last] += left;
  }
  EXPECT_EQ(windows_of(s, 0, kWindows), naive);
  for (const uint64_t first : {1u, 255u, 256u, 1000u, 2999u})
    EXPECT_EQ(windows_of(s, first, kWindows), std::vector<Rontojoules>(naive.begin() + first, naive.end()));
}

TEST(PowerSeries, TakesNoRoomForTime) {
  PowerSeries s(100'000'000);
  s.add(0, 18'000'000'000'000'000'000u, product(1'000'000'000'000'000'000, 1'000'000'000'000));  // 5 hours, 1 kJ
  Rontojoules sum = 0;
  size_t stretches = 0;
  s.for_each(0, s.windows(), [&](uint64_t from, uint64_t to, Rontojoules each) {
    sum += each * (to - from);
    ++stretches;
  });
  EXPECT_EQ(exact_text(sum), "1000");
  EXPECT_LT(stretches, 1000u);
}

}  // namespace
}  // namespace kernbench::energy
