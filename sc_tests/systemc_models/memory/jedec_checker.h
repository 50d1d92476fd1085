// SPDX-License-Identifier: Apache-2.0
// JEDEC's rules for a DRAM's commands, checked on a stream of them. It shares no code with the controller. For every
// pair of commands in a rule it checks the last earlier one. It names a violated rule by its timing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernbench::testing {

class JedecChecker {
 public:
  using Time = int64_t;
  using Timings = std::map<std::string, int>;
  struct Shape {
    int pcs = 1, stacks = 1, groups = 4, banks = 4;
  };
  struct Command {
    std::string op;  ///< ACT RD RDA WR WRA PRE PREA REF REFSB
    Time at = 0;     ///< its last cycle on its bus
    int pc = 0, stack = 0, group = 0, bank = 0;
    int64_t row = 0;
  };
  struct Violation {
    std::string rule;
    Command command;
  };

  /// For one channel.
  JedecChecker(Shape shape, Timings timings) : shape_(shape), t_(std::move(timings)), pcs_(shape.pcs) {
    for (Pc& pc : pcs_) {
      pc.stacks.resize(shape.stacks);
      for (Stack& s : pc.stacks) {
        s.groups.resize(shape.groups);
        for (Group& g : s.groups) g.banks.resize(shape.banks);
      }
    }
  }

  uint64_t commands() const { return commands_; }
  const std::map<std::string, uint64_t>& violations() const { return count_; }
  const std::vector<Violation>& first() const { return first_; }

  void see(const Command& c) {
    ++commands_;
    now_ = &c;
    Pc& pc = pcs_[c.pc];
    Stack& s = pc.stacks[c.stack];
    Group& g = s.groups[c.group];
    Bank& b = g.banks[c.bank];
    const bool column = c.op[0] == 'W' || (c.op[0] == 'R' && c.op[1] == 'D');
    if (column) {
      apart("column bus", column_bus_, 1);
      column_bus_ = c.at;
      see_column(c, pc, s, g, b);
    } else {
      apart("row bus", row_bus_, c.op == "ACT" ? t_.at("tACT") : 1);
      row_bus_ = c.at;
      if (c.op == "ACT") see_act(c, s, g, b);
      if (c.op == "PRE") see_pre(c, b);
      if (c.op == "PREA") for_all(s, [&](Bank& each) { see_pre(c, each); });
      if (c.op == "REF") see_ref(c, s);
      if (c.op == "REFSB") see_refsb(c, s, g, b);
    }
  }

 private:
  static constexpr Time kLongAgo = -1000000;
  struct Bank {
    bool open = false;
    int64_t row = 0;
    Time act = kLongAgo, rd = kLongAgo, wr = kLongAgo, closed = kLongAgo, refsb = kLongAgo, refreshed = 0;
  };
  struct Group {
    std::vector<Bank> banks;
    Time act = kLongAgo, rd = kLongAgo, wr = kLongAgo;
  };
  struct Stack {
    std::vector<Group> groups;
    Time act = kLongAgo, rd = kLongAgo, wr = kLongAgo, ref = kLongAgo, refsb = kLongAgo;
    std::array<Time, 4> acts = {kLongAgo, kLongAgo, kLongAgo, kLongAgo};  // oldest first
  };
  struct Pc {
    std::vector<Stack> stacks;
    Time rd = kLongAgo, wr = kLongAgo, data_end = kLongAgo;
  };

  void broken(const std::string& rule) {
    ++count_[rule];
    if (first_.size() < 20) first_.push_back({rule, *now_});
  }
  void apart(const std::string& rule, Time before, Time least) {
    if (now_->at - before < least) broken(rule);
  }
  template <class Visit>
  void for_all(Stack& s, Visit visit) {
    for (Group& g : s.groups) {
      for (Bank& b : g.banks) visit(b);
    }
  }

  void see_act(const Command& c, Stack& s, Group& g, Bank& b) {
    if (b.open) broken("state: ACT in an open bank");
    apart("tRP", b.closed, t_.at("tRP"));
    apart("tRC", b.act, t_.at("tRC"));
    apart("tRFCSB", b.refsb, t_.at("tRFCSB"));
    activates(s, g);
    b.open = true;
    b.row = c.row;
    b.act = c.at;
  }
  /// The common rules of ACT and REFSB.
  void activates(Stack& s, Group& g) {
    apart("tRRDL", g.act, t_.at("tRRDL"));
    apart("tRRDS", s.act, t_.at("tRRDS"));
    apart("tFAW", s.acts.front(), t_.at("tFAW"));
    apart("tRFC", s.ref, t_.at("tRFC"));
    apart("tRREFD", s.refsb, t_.at("tRREFD"));
    std::rotate(s.acts.begin(), s.acts.begin() + 1, s.acts.end());
    s.acts.back() = now_->at;
    if (now_->op != "ACT") return;
    g.act = now_->at;
    s.act = now_->at;
  }
  void see_column(const Command& c, Pc& pc, Stack& s, Group& g, Bank& b) {
    const bool write = c.op[0] == 'W', closes = c.op.back() == 'A';
    const Time wr_data = t_.at("tCWL") + t_.at("tBURST");
    if (!b.open || b.row != c.row) broken("state: a column command without its row");
    if (write) {
      apart("tRCDWR", b.act, t_.at("tRCDWR"));
      apart("tCCDL", g.wr, t_.at("tCCDL"));
      apart("tCCDS", s.wr, t_.at("tCCDS"));
      apart("tRTW", pc.rd, t_.at("tRTW"));
    } else {
      apart("tRCDRD", b.act, t_.at("tRCDRD"));
      apart("tCCDL", g.rd, t_.at("tCCDL"));
      apart("tCCDS", s.rd, t_.at("tCCDS"));
      apart("tWTRL", g.wr, wr_data + t_.at("tWTRL"));
      apart("tWTRS", pc.wr, wr_data + t_.at("tWTRS"));
    }
    for (Stack& other : pc.stacks) {
      if (&other != &s) apart("tCCDR", write ? other.wr : other.rd, t_.at("tCCDR"));
    }
    const Time data = c.at + t_.at(write ? "tCWL" : "tCL");
    if (data < pc.data_end) broken("data bus");
    pc.data_end = data + t_.at("tBURST");
    (write ? b.wr : b.rd) = (write ? g.wr : g.rd) = (write ? s.wr : s.rd) = (write ? pc.wr : pc.rd) = c.at;
    if (!closes) return;
    b.open = false;  // after the bank's time for that
    b.closed = std::max(c.at + (write ? wr_data + t_.at("tWR") : t_.at("tRTP")), b.act + t_.at("tRAS"));
    b.closed = std::max({b.closed, b.rd + t_.at("tRTP"), b.wr + wr_data + t_.at("tWR")});
  }
  void see_pre(const Command& c, Bank& b) {
    if (!b.open) return;
    apart("tRAS", b.act, t_.at("tRAS"));
    apart("tRTP", b.rd, t_.at("tRTP"));
    apart("tWR", b.wr, t_.at("tCWL") + t_.at("tBURST") + t_.at("tWR"));
    b.open = false;
    b.closed = c.at;
  }
  void see_ref(const Command& c, Stack& s) {
    for_all(s, [&](Bank& b) {
      if (b.open) broken("state: REF with an open bank");
      apart("tRP", b.closed, t_.at("tRP"));
      apart("tRC", b.act, t_.at("tRC"));
      apart("tRFCSB", b.refsb, t_.at("tRFCSB"));
      refreshed(c, b);
    });
    apart("tRFC", s.ref, t_.at("tRFC"));
    s.ref = c.at;
  }
  void see_refsb(const Command& c, Stack& s, Group& g, Bank& b) {
    if (b.open) broken("state: REFSB of an open bank");
    apart("tRP", b.closed, t_.at("tRP"));
    apart("tRC", b.act, t_.at("tRC"));
    apart("tRFCSB", b.refsb, t_.at("tRFCSB"));
    activates(s, g);
    refreshed(c, b);
    b.refsb = s.refsb = c.at;
  }
  /// Up to eight refreshes may be postponed.
  void refreshed(const Command& c, Bank& b) {
    if (c.at - b.refreshed > 9 * Time{t_.at("tREFI")}) broken("tREFI");
    b.refreshed = c.at;
  }

  const Shape shape_;
  const Timings t_;
  std::vector<Pc> pcs_;
  Time column_bus_ = kLongAgo, row_bus_ = kLongAgo;
  const Command* now_ = nullptr;
  uint64_t commands_ = 0;
  std::map<std::string, uint64_t> count_;
  std::vector<Violation> first_;
};

}  // namespace kernbench::testing
