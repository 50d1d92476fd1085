// SPDX-License-Identifier: Apache-2.0
// Cost of dies, computed by hand; bounds; logs keep all inputs of prices.
#include <gtest/gtest.h>

#include <cmath>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/text/json_writer.h"

namespace kernbench::testing::cost_test {
namespace {

using namespace kernbench::energy;

Constant exact(const std::string& name, Unit unit, double value) {
  const auto parts = static_cast<int64_t>(std::llround(value * static_cast<double>(kParts)));
  return {name, unit, parts, parts, parts, Quality::assumed, "a test"};
}

Band square_mm(int64_t n) {
  const Rontojoules area = Rontojoules{n} * 1'000'000'000'000'000;
  return {area, area, area};
}

Account machine(int64_t die, uint64_t dies) {
  Account a;
  a.constants = {exact("cost.clustering", Unit::none, 10),     exact("cost.defects", Unit::per_cm2, 0.09),
                 exact("cost.hbm", Unit::usd_gb, 7),           exact("cost.package", Unit::usd_mm2, 0.5),
                 exact("cost.package_yield", Unit::none, 0.5), exact("cost.wafer", Unit::usd, 9346),
                 exact("cost.wafer_mm", Unit::mm, 300)};
  a.dies = {{"sip0.cube0", dies, square_mm(die), {}}};
  a.packages = 1;
  a.hbm_bytes = 16'000'000'000;
  return a;
}

TEST(Cost, IsTheSumOfDiesPackageAndHbm) {
  const auto cost = cost_of(machine(800, 2));
  ASSERT_TRUE(cost);
  // 64 dies of 800 mm2 fit a wafer: 88.36 by area minus 23.56 at the rim.
  const double die = 9346.0 / 64 * std::pow(1 + 8 * 0.09 / 10, 10);
  EXPECT_NEAR(cost->dies.value, 2 * die, 1e-9);
  EXPECT_NEAR(cost->hbm.value, 112, 1e-9);
  // Half of the packages are lost, which doubles all costs.
  EXPECT_NEAR(cost->package.value, 800 + 2 * die + 112 + 800, 1e-9);
  EXPECT_NEAR(cost->total().value, 2 * (800 + 2 * die + 112), 1e-9);
}

TEST(Cost, OfTwoSmallDiesIsLessThanOfALargeOne) {
  EXPECT_LT(cost_of(machine(400, 2))->dies.value, cost_of(machine(800, 1))->dies.value);
}

TEST(Cost, IsNoneWithoutPricesOrWhereNoDieFits) {
  EXPECT_FALSE(cost_of(machine(60'000, 1)));
  Account a = machine(800, 1);
  a.constants.erase(a.constants.begin() + 1);
  EXPECT_FALSE(cost_of(a));
  EXPECT_FALSE(cost_of(Account()));
}

TEST(Cost, HasTheBandOfItsConstants) {
  Account a = machine(100, 1);
  for (Constant& c : a.constants) {
    if (c.name == "cost.package_yield") c.low = c.value / 2;
    if (c.name == "cost.defects") c.high = 2 * c.value;
  }
  const auto cost = cost_of(a);
  EXPECT_EQ(cost->dies.low, cost->dies.value);
  EXPECT_GT(cost->dies.high, cost->dies.value);
  EXPECT_GT(cost->package.high, 2 * cost->package.value);
}

TEST(Bounds, AreToldWhereTheyAreNotKept) {
  Account a = machine(800, 2);
  EXPECT_TRUE(out_of_bounds(a).empty());
  a.bounds.die_mm2 = 800;
  EXPECT_TRUE(out_of_bounds(a).empty());
  a.bounds.die_mm2 = 799;
  ASSERT_EQ(out_of_bounds(a).size(), 1u);
  EXPECT_EQ(out_of_bounds(a)[0],
            "sip0.cube0 would be 800 mm2 (800 to 800), over the 799 of die_mm2; so would 1 other.");
  a.bounds.die_mm2 = 0;
  a.bounds.tdp_w = 10;
  a.fs = 1'000'000'000;  // 1 us
  a.constants.insert(a.constants.begin() + 7, exact("static.die", Unit::watt_mm2, 0.0125));
  a.actions = {{"*.die", "fs", "static.die", a.fs, 1'600'000}};  // 20 W
  ASSERT_EQ(out_of_bounds(a).size(), 1u);
  EXPECT_NEAR(headline(a).static_w, 20, 1e-9);
  a.packages = 3;
  EXPECT_TRUE(out_of_bounds(a).empty());
}

TEST(Bounds, OfAnEdgeAreAllAroundUnlessTheySayLess) {
  Account a = machine(400, 2);  // perimeter 80 mm
  const Rontojoules edge = Rontojoules{80} * 1'000'000'000;
  a.dies[0].edge = {edge / 2, edge, 2 * edge};
  EXPECT_NEAR(shoreline_mm(a, a.dies[0]), 80, 1e-9);
  EXPECT_TRUE(out_of_bounds(a).empty());
  a.bounds.shoreline_mm = 79;
  ASSERT_EQ(out_of_bounds(a).size(), 1u);
  EXPECT_EQ(
      out_of_bounds(a)[0],
      "sip0.cube0 would need 80 mm (40 to 160) of edge for its PHYs, over the 79 of shoreline_mm; so would 1 other.");
  a.bounds.shoreline_mm = 0;
  a.dies[0].edge.value += 1'000'000'000;
  ASSERT_EQ(out_of_bounds(a).size(), 1u);
  EXPECT_NE(out_of_bounds(a)[0].find("over the 80 around 400 mm2"), std::string::npos);
}

TEST(Bounds, AndDiesComeBackFromALog) {
  Account a = machine(800, 3);
  a.dies[0].edge = {1, 2, 3};
  a.bounds = {700, 858, 90};
  a.hbm_stacks = 5;
  std::string text;
  JsonWriter w(text);
  write_account(w, a);
  const Account b = parse_account(text);
  EXPECT_EQ(b.dies.size(), 1u);
  EXPECT_EQ(b.dies[0].count, 3u);
  EXPECT_EQ(b.dies[0].area.high, a.dies[0].area.high);
  EXPECT_EQ(b.bounds.tdp_w, 700);
  EXPECT_EQ(b.bounds.shoreline_mm, 90);
  EXPECT_EQ(b.dies[0].edge.high, 3);
  EXPECT_EQ(b.hbm_stacks, 5u);
  EXPECT_EQ(cost_of(b)->total().value, cost_of(a)->total().value);
  text.replace(text.find("\"dies\""), 6, "\"eggs\"");  // as in logs before dies existed
  EXPECT_TRUE(parse_account(text).dies.empty());
}

}  // namespace
}  // namespace kernbench::testing::cost_test
