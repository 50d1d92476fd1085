// SPDX-License-Identifier: Apache-2.0
// Do samples cover the axes' space as their methods guarantee?
#include "kernbench/platform/study/sweep/sampling.h"

#include <gtest/gtest.h>

#include <set>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::sweep {
namespace {

Axis axis_of(size_t values, const std::string& name = "a") {
  Axis a{name, {}, {}};
  for (size_t i = 0; i < values; ++i) a.values.push_back(std::to_string(i));
  return a;
}

TEST(Sampling, SobolStartsAsPublished) {
  // Joe and Kuo's points in the order of their numbers, times 8.
  const std::vector<std::vector<uint32_t>> expected = {{0, 0, 0}, {4, 4, 4}, {2, 6, 6}, {6, 2, 2},
                                                       {1, 5, 3}, {5, 1, 7}, {3, 3, 5}, {7, 7, 1}};
  for (uint32_t n = 0; n < expected.size(); ++n) {
    for (size_t a = 0; a < 3; ++a) EXPECT_EQ(sobol(a, n) >> 29, expected[n][a]) << "point " << n << ", axis " << a;
  }
}

TEST(Sampling, EachAxisOfSobolVisitsEachPartOnce) {
  for (size_t a = 0; a < kMostSobolAxes; ++a) {
    std::set<uint32_t> parts;
    for (uint32_t n = 0; n < 1024; ++n) parts.insert(sobol(a, n) >> 22);
    EXPECT_EQ(parts.size(), 1024u) << a;
  }
}

TEST(Sampling, NoTwoAxesOfSobolAreOne) {
  for (size_t a = 0; a < kMostSobolAxes; ++a) {
    for (size_t b = 0; b < a; ++b) {
      size_t same = 0;
      for (uint32_t n = 1; n < 256; ++n) same += sobol(a, n) == sobol(b, n);
      EXPECT_LT(same, 32u) << a << " and " << b;
    }
  }
}

TEST(Sampling, FirstTwoAxesOfSobolAreANet) {
  // Of 64 points, each box of 1/8 by 1/8 has one.
  std::set<std::pair<uint32_t, uint32_t>> boxes;
  for (uint32_t n = 0; n < 64; ++n) boxes.insert({sobol(0, n) >> 29, sobol(1, n) >> 29});
  EXPECT_EQ(boxes.size(), 64u);
}

TEST(Sampling, LatinHypercubeHasEachValueAlikeOften) {
  const std::vector<Axis> axes = {axis_of(12), axis_of(4, "b")};
  const auto points = combinations(axes, {Method::latin_hypercube, 12, 5});
  ASSERT_EQ(points.size(), 12u);  // the values of the first axis differ, so all points differ
  std::map<std::string, int> a, b;
  for (const Words& p : points) ++a[p[0]], ++b[p[1]];
  EXPECT_EQ(a.size(), 12u);
  for (const auto& [value, n] : b) EXPECT_EQ(n, 3) << value;
}

TEST(Sampling, SeedsChooseOtherPoints) {
  const std::vector<Axis> axes = {axis_of(50), axis_of(50, "b")};
  for (const Method m : {Method::latin_hypercube, Method::sobol}) {
    EXPECT_EQ(combinations(axes, {m, 20, 1}), combinations(axes, {m, 20, 1}));
    EXPECT_NE(combinations(axes, {m, 20, 1}), combinations(axes, {m, 20, 2}));
  }
}

TEST(Sampling, RangesGiveNumbersBetweenTheirEnds) {
  Axis a{"set.x", {}, std::pair(2.0, 4.0)};
  for (const Words& p : combinations({a}, {Method::sobol, 64, 0})) {
    EXPECT_GE(std::stod(p[0]), 2);
    EXPECT_LT(std::stod(p[0]), 4);
  }
  EXPECT_EQ(combinations({a}, {Method::sobol, 4, 0}), (std::vector<Words>{{"2"}, {"3"}, {"2.5"}, {"3.5"}}));
}

TEST(Sampling, GridRunsTheLastAxisFastest) {
  EXPECT_EQ(combinations({axis_of(2), axis_of(2, "b")}, {}),
            (std::vector<Words>{{"0", "0"}, {"0", "1"}, {"1", "0"}, {"1", "1"}}));
  EXPECT_THROW(combinations({axis_of(1000), axis_of(1000, "b")}, {}), InputError);
}

TEST(Sampling, OneAtATimeLeavesTheOthersAtTheirFirst) {
  EXPECT_EQ(combinations({axis_of(3), axis_of(2, "b")}, {Method::one_at_a_time}),
            (std::vector<Words>{{"0", "0"}, {"1", "0"}, {"2", "0"}, {"0", "1"}}));
}

}  // namespace
}  // namespace kernbench::sweep
