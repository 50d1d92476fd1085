// SPDX-License-Identifier: Apache-2.0
// Counts times constants, exact: text, products, sums, and their form in a log.
#include <gtest/gtest.h>

#include <sstream>

#include "kernbench/phase2/energy/account.h"
#include "kernbench/phase2/energy/energy_table.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"

namespace kernbench::energy {
namespace {

Constant constant(const std::string& name, Unit unit, int64_t value, Quality quality = Quality::assumed) {
  return {name, unit, value / 2, value, value * 2, quality, "a test"};
}

Account some_account() {
  Account a;
  a.table = "t";
  a.constants = {constant("area.sram", Unit::um2_bit, 40'500'000), constant("mac.f16", Unit::pj, 770'000'000),
                 constant("static.router", Unit::watt, 250'000'000, Quality::primary),
                 constant("wire", Unit::pj_bit_mm, 69'500'000, Quality::computed)};
  a.actions = {{"pe0.pe_gemm", "macs_f16", "mac.f16", 1000, 0},
               {"a->b", "bits", "wire", 64, 2'833'333},
               {"b->c", "bits", "pcie", 7, 0},
               {"hbm", "activates", "", 5, 0},
               {"*.router", "fs", "static.router", 2'000'000, 0}};
  a.area = {{"*.pe_tcm", "bits", "area.sram", 1'000'000'000, 0}, {"*.pe_gemm", "blocks", "area.pe_gemm", 2, 0}};
  a.unknown = {"clocks"};
  a.fs = 1'000'000;
  a.flops = 2000;
  a.window_fs = 100'000'000;
  a.peak = product(770'000'000'000'000'000, 1000);
  return a;
}

TEST(Rontojoules, AreWrittenWithAllDigits) {
  EXPECT_EQ(exact_text(0), "0");
  EXPECT_EQ(exact_text(5), "0.000000000000000000000000005");
  EXPECT_EQ(exact_text(Rontojoules{1'000'000'000} * 1'000'000'000 * 1'000'000'000 * 12), "12");
  EXPECT_EQ(exact_text(1'500, 3), "1.5");
  EXPECT_EQ(exact_text(1'500, 0), "1500");
  EXPECT_EQ(parse_whole("170141183460469231731687303715884105727") + 0, ~(Rontojoules{1} << 127));
  EXPECT_THROW(parse_whole("170141183460469231731687303715884105728"), std::runtime_error);
  EXPECT_THROW(parse_whole("1e3"), std::runtime_error);
  EXPECT_THROW(parse_whole(""), std::runtime_error);
}

TEST(Account, MultipliesExactly) {
  const Account a = some_account();
  // 1000 x 0.77 pJ = 770 pJ = 7.7e-10 J.
  EXPECT_EQ(exact_text(energy_of(a, a.actions[0]).value), "0.00000000077");
  // 64 bits x 2.833333 mm x 0.0695 pJ = 12.602665184 pJ.
  EXPECT_EQ(exact_text(energy_of(a, a.actions[1]).value), "0.000000000012602665184");
  // 2,000,000 fs x 0.25 W = 5e-10 J.
  EXPECT_EQ(exact_text(energy_of(a, a.actions[4]).value), "0.0000000005");
  EXPECT_EQ(energy_of(a, a.actions[4]).low * 4, energy_of(a, a.actions[4]).high);
}

TEST(Account, PartsAddUpToTheTotal) {
  const Account a = some_account();
  const Summary s = summarize(a);
  EXPECT_EQ(exact_text(s.total.value), "0.000000001282602665184");
  Rontojoules classes = 0, qualities = 0;
  for (const Summary::Row& r : s.by_class) classes += r.energy.value;
  for (const Band& b : s.by_quality) qualities += b.value;
  EXPECT_EQ(classes, s.total.value);
  EXPECT_EQ(qualities, s.total.value);
  ASSERT_EQ(s.by_class.size(), 3u);
  EXPECT_EQ(s.by_class[0].name, "mac");
  EXPECT_EQ(s.by_class[1].name, "static");
  ASSERT_EQ(s.not_counted.size(), 1u);  // without actions that another constant includes
  EXPECT_EQ(s.not_counted[0].name, "pcie");
  EXPECT_EQ(s.not_counted[0].count, 7u);
  EXPECT_EQ(exact_text(s.area.value, 15), "40.5");  // mm2: 1e9 x 0.0405 um2
  EXPECT_EQ(s.no_area, std::vector<std::string>{"*.pe_gemm"});
}

TEST(Account, RefusesMoreThanItHolds) {
  Account a = some_account();
  a.constants[1].high = static_cast<int64_t>(kMostOfUnit) * kParts;
  a.actions[0].count = ~uint64_t{0};
  EXPECT_THROW(summarize(a), RunError);
}

TEST(Account, ComesBackFromALog) {
  const Account a = some_account();
  std::string account, actions;
  JsonWriter account_writer(account), actions_writer(actions);
  write_account(account_writer, a);
  write_actions(actions_writer, a.actions);
  Account b = parse_account(account);
  b.actions = parse_actions(actions);
  const auto report = [](const Account& x) {
    std::string json;
    JsonWriter w(json);
    JsonFields(w).record(x);
    std::ostringstream text;
    write_energy_text(text, x);
    return json + text.str() + activity_csv(x);
  };
  EXPECT_EQ(report(a), report(b));
  EXPECT_NE(report(a).find("not counted  clocks, pcie (7)"), std::string::npos) << report(a);
  for (const char* wrong : {"[]", "{}", "7"}) EXPECT_THROW(parse_account(wrong), std::runtime_error);
  std::string backwards = account;
  backwards.replace(backwards.find("mac.f16"), 7, "zzz.f16");
  EXPECT_THROW(parse_account(backwards), std::runtime_error);
  for (const char* wrong : {"{}", "[[]]", R"([["a","b","c",1,-1]])", R"([["a","b","c",-1,1]])"})
    EXPECT_THROW(parse_actions(wrong), std::runtime_error);
}

TEST(EnergyTable, HasSramsOfAnySize) {
  EnergyTable t;
  EXPECT_EQ(t.sram(1024, false), nullptr);
  const auto point = [&](uint64_t mb, int64_t read) {
    SramPoint p{mb << 20, constant("sram.read", Unit::pj_bit, read), constant("sram.write", Unit::pj_bit, read + 1000)};
    t.srams.push_back(p);
  };
  point(4, 100'000'000);
  point(16, 300'000'000);
  EXPECT_EQ(t.sram(1 << 20, false)->value, 100'000'000);  // not below the minimum
  EXPECT_EQ(t.sram(4 << 20, false)->value, 100'000'000);
  EXPECT_EQ(t.sram(16 << 20, true)->value, 300'001'000);
  // The roots of 4, 9 and 16 are 2, 3 and 4, so 9 is half way. The root of 64 is 8: three times as far.
  EXPECT_EQ(t.sram(9 << 20, false)->value, 200'000'000);
  EXPECT_EQ(t.sram(64 << 20, false)->value, 700'000'000);
  EXPECT_EQ(t.sram(9 << 20, false)->quality, Quality::computed);
  EXPECT_EQ(t.sram(9 << 20, false)->name, "sram.read.9MB");
  EXPECT_EQ(t.sram(16 << 20, false)->quality, Quality::assumed);
}

}  // namespace
}  // namespace kernbench::energy
