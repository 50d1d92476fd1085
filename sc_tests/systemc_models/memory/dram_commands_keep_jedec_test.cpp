// SPDX-License-Identifier: Apache-2.0
// The commands of a DRAM controller keep JEDEC's timings, and the checker detects each violated timing.
#include <gtest/gtest.h>

#include "dram_support.h"

namespace kernbench::testing {
namespace {

/// Timings of which none is hidden by others: each one is decisive in a case below.
JedecChecker::Timings plain_timings() {
  return {{"tACT", 2},  {"tBURST", 2}, {"tCL", 17},     {"tCWL", 7},   {"tRCDRD", 12}, {"tRCDWR", 6},
          {"tRP", 14},  {"tRAS", 28},  {"tRC", 45},     {"tCCDS", 2},  {"tCCDL", 4},   {"tCCDR", 3},
          {"tRRDS", 4}, {"tRRDL", 6},  {"tFAW", 20},    {"tWR", 14},   {"tWTRS", 4},   {"tWTRL", 9},
          {"tRTP", 5},  {"tRTW", 18},  {"tREFI", 3900}, {"tRFC", 220}, {"tRFCSB", 96}, {"tRREFD", 8}};
}

struct Seeded {
  const char* rule;
  std::vector<JedecChecker::Command> before;
  JedecChecker::Command last;  ///< the earliest legal time
};

/// For two stack IDs with four groups of four banks: commands of group G and bank B in stack ID S.
JedecChecker::Command at(int64_t cycle, const char* op, int group = 0, int bank = 0, int stack = 0, int64_t row = 7) {
  return {op, cycle, 0, stack, group, bank, row};
}

const Seeded kSeeded[] = {
    {"tRCDRD", {at(100, "ACT")}, at(112, "RD")},
    {"tRCDWR", {at(100, "ACT")}, at(106, "WR")},
    {"tRAS", {at(100, "ACT")}, at(128, "PRE")},
    {"tRTP", {at(100, "ACT"), at(130, "RD")}, at(135, "PRE")},
    {"tWR", {at(100, "ACT"), at(110, "WR")}, at(110 + 7 + 2 + 14, "PRE")},
    {"tRP", {at(100, "ACT"), at(140, "PRE")}, at(154, "ACT")},
    {"tRP", {at(100, "ACT"), at(140, "RDA")}, at(140 + 5 + 14, "ACT")},
    {"tRP", {at(100, "ACT"), at(140, "WRA")}, at(140 + 7 + 2 + 14 + 14, "ACT")},
    {"tRP", {at(100, "ACT"), at(140, "PREA")}, at(154, "REF")},
    {"tRC", {at(100, "ACT"), at(128, "PRE")}, at(145, "ACT")},
    {"tCCDL", {at(100, "ACT"), at(110, "ACT", 0, 1), at(140, "RD")}, at(144, "RD", 0, 1)},
    {"tCCDS", {at(100, "ACT"), at(110, "ACT", 1), at(140, "RD")}, at(142, "RD", 1)},
    {"tCCDR", {at(100, "ACT"), at(110, "ACT", 0, 0, 1), at(140, "WR")}, at(143, "WR", 0, 0, 1)},
    {"tRRDL", {at(100, "ACT")}, at(106, "ACT", 0, 1)},
    {"tRRDS", {at(100, "ACT")}, at(104, "ACT", 1)},
    {"tFAW", {at(100, "ACT"), at(104, "ACT", 1), at(108, "ACT", 2), at(112, "ACT", 3)}, at(120, "ACT", 1, 1)},
    {"tWTRL", {at(100, "ACT"), at(110, "ACT", 0, 1), at(140, "WR")}, at(140 + 7 + 2 + 9, "RD", 0, 1)},
    {"tWTRS", {at(100, "ACT"), at(110, "ACT", 1), at(140, "WR")}, at(140 + 7 + 2 + 4, "RD", 1)},
    {"tRTW", {at(100, "ACT"), at(110, "ACT", 1), at(140, "RD")}, at(158, "WR", 1)},
    {"tRFC", {at(100, "REF")}, at(320, "ACT")},
    {"tRFCSB", {at(100, "REFSB")}, at(196, "ACT")},
    {"tRREFD", {at(100, "REFSB")}, at(108, "ACT", 1)},
    {"row bus", {at(100, "REFSB", 0, 0, 1)}, at(102, "ACT", 1)},
    {"column bus", {at(100, "ACT"), at(110, "ACT", 0, 0, 1), at(140, "RD")}, at(143, "RD", 0, 0, 1)},
};

std::map<std::string, uint64_t> broken(const Seeded& s, const JedecChecker::Timings& t, int64_t earlier) {
  JedecChecker checker({1, 2, 4, 4}, t);
  for (const auto& c : s.before) checker.see(c);
  JedecChecker::Command last = s.last;
  last.at -= earlier;
  checker.see(last);
  return checker.violations();
}

TEST(JedecChecker, finds_each_time_that_is_a_cycle_short) {
  for (const Seeded& s : kSeeded) {
    JedecChecker::Timings t = plain_timings();
    int64_t earlier = 1;
    if (s.rule == std::string("column bus")) t["tCCDR"] = earlier = 3;  // in the same cycle
    EXPECT_TRUE(broken(s, t, 0).empty()) << s.rule;
    EXPECT_EQ(broken(s, t, earlier).count(s.rule), 1u) << s.rule;
  }
}

TEST(JedecChecker, finds_commands_that_their_banks_are_not_ready_for) {
  const auto broken_by = [](std::vector<JedecChecker::Command> commands) {
    JedecChecker checker({1, 2, 4, 4}, plain_timings());
    for (const auto& c : commands) checker.see(c);
    return checker.violations();
  };
  EXPECT_EQ(broken_by({at(100, "RD")}).count("state: a column command without its row"), 1u);
  EXPECT_EQ(broken_by({at(100, "ACT"), at(140, "RD", 0, 0, 0, 8)}).count("state: a column command without its row"),
            1u);
  EXPECT_EQ(broken_by({at(100, "ACT"), at(300, "ACT")}).count("state: ACT in an open bank"), 1u);
  EXPECT_EQ(broken_by({at(100, "ACT"), at(300, "REF")}).count("state: REF with an open bank"), 1u);
  EXPECT_EQ(broken_by({at(100, "ACT"), at(300, "REFSB")}).count("state: REFSB of an open bank"), 1u);
  EXPECT_EQ(broken_by({at(36000, "REF")}).count("tREFI"), 1u) << "nine intervals late";
}

HbmDramParameters small_memory(const std::string& refresh) {
  HbmDramParameters p;
  p.channels = 1;
  p.stack_ids = 2;
  p.refresh = refresh;
  p.tRC = 45;
  p.tFAW = 20;
  p.tCCDS = 3;
  p.tCCDL = 5;
  p.tCCDR = 4;
  return p;
}

std::map<std::string, uint64_t> broken(const HbmDramParameters& real, const JedecChecker::Timings& law) {
  std::map<std::string, uint64_t> all;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    DramController dram(checked(real).config(), real.mapping);
    CheckedCommands checker(real.config(), law);
    dram.observe(&checker);
    auto accesses = mixed_accesses(6000, seed, 1 << 26, 20000);
    play(dram, accesses, seed == 1 ? 0 : 24);
    for (const auto& [rule, n] : checker.violations()) all[rule] += n;
  }
  return all;
}

/// A controller with one timing reduced by a cycle violates that rule and no other. So the controller keeps each
/// timing, and does not wait longer than necessary.
TEST(DramCommands, break_the_rule_of_a_time_that_is_told_wrongly) {
  HbmDramParameters::for_each_timing([](const char* name, HbmDramParameters::Number HbmDramParameters::*given,
                                        uint32_t DramTiming::*value, const char*, std::optional<Resource>,
                                        const char*) {
    const std::string rule = name;
    if (rule == "tCK_ps" || rule == "tCL" || rule == "tCWL" || rule == "tBURST" || rule == "tREFI") return;
    const bool single = rule == "tRFCSB" || rule == "tRREFD";
    HbmDramParameters p = small_memory(single ? "per_bank" : "all_bank");
    const JedecChecker::Timings law = timings_of(p.config());
    EXPECT_TRUE(broken(p, law).empty()) << rule;
    p.*given = p.config().timing.*value - 1;
    const auto found = broken(p, law);
    EXPECT_EQ(found.size(), 1u) << rule;
    EXPECT_GT(found.count(rule == "tACT" ? "row bus" : rule), 0u) << rule;
  });
}

TEST(DramCommands, keep_all_times_of_all_presets_and_policies) {
  uint64_t commands = 0, seed = 0;
  for (const std::string& preset : dram_presets()) {
    for (const char* refresh : {"all_bank", "per_bank"}) {
      for (const char* page : {"open", "closed"}) {
        HbmDramParameters p;
        p.preset = preset;
        p.refresh = refresh;
        p.page_policy = page;
        p.stack_ids = 1 + ++seed % 2;
        p.scheduler = seed % 5 == 0 ? "fcfs" : "fr_fcfs";
        DramController dram(checked(p).config(), p.mapping);
        CheckedCommands checker(p.config(), timings_of(p.config()));
        dram.observe(&checker);
        auto accesses = mixed_accesses(10000, seed, 1 << 28, 20000);
        play(dram, accesses, seed % 3 == 0 ? 0 : 32);
        EXPECT_TRUE(checker.violations().empty()) << preset << ' ' << refresh << ' ' << page;
        commands += checker.commands();
      }
    }
  }
  EXPECT_GT(commands, 500000u);
}

}  // namespace
}  // namespace kernbench::testing
