// SPDX-License-Identifier: Apache-2.0
// Drives a DramController without a platform, in cycles, and passes its commands to the checker.
#pragma once

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "jedec_checker.h"
#include "kernbench/systemc_models/memory/hbm_dram.h"

namespace kernbench::testing {

/// The timings of a configuration, by name, for the checker.
inline JedecChecker::Timings timings_of(const DramConfig& c) {
  JedecChecker::Timings t;
  HbmDramParameters::for_each_timing([&](const char* name, HbmDramParameters::Number HbmDramParameters::*,
                                         uint32_t DramTiming::*value, const char*, std::optional<Resource>,
                                         const char*) { t[name] = static_cast<int>(c.timing.*value); });
  return t;
}

/// A checker for each channel.
class CheckedCommands : public DramCommandObserver {
 public:
  CheckedCommands(const DramConfig& c, const JedecChecker::Timings& timings) {
    const DramGeometry& g = c.geometry;
    const JedecChecker::Shape shape{static_cast<int>(g.pseudo_channels), static_cast<int>(g.stack_ids),
                                    static_cast<int>(g.bank_groups), static_cast<int>(g.banks)};
    for (uint32_t i = 0; i < g.channels; ++i) channels_.emplace_back(shape, timings);
  }
  void command(const DramCommand& c) override {
    const DramPlace& p = c.place;
    channels_[p.channel].see({name_of(c.op), c.cycle, p.pc, p.stack_id, p.group, p.bank, p.row});
  }
  uint64_t commands() const {
    uint64_t n = 0;
    for (const JedecChecker& c : channels_) n += c.commands();
    return n;
  }
  std::map<std::string, uint64_t> violations() const {
    std::map<std::string, uint64_t> all;
    for (const JedecChecker& c : channels_) {
      for (const auto& [rule, n] : c.violations()) all[rule] += n;
    }
    return all;
  }

 private:
  std::deque<JedecChecker> channels_;
};

/// Stores the commands.
class KeptCommands : public DramCommandObserver {
 public:
  std::vector<DramCommand> commands;
  void command(const DramCommand& c) override { commands.push_back(c); }
  /// Cycles of commands of one kind.
  std::vector<Cycle> cycles(DramOp op) const {
    std::vector<Cycle> v;
    for (const DramCommand& c : commands) {
      if (c.op == op) v.push_back(c.cycle);
    }
    return v;
  }
};

struct DramAccess {
  Cycle at = 0;
  bool write = false;
  uint64_t offset = 0, bytes = 32;
  Cycle done = 0;  ///< completion
};

/// Plays accesses, sorted by time, to the end. At most `outstanding` are in flight (0: unlimited). Each is issued at
/// its time or later, one cycle after a response if it has to wait.
inline void play(DramController& dram, std::vector<DramAccess>& accesses, size_t outstanding = 0) {
  std::deque<DramTransfer> transfers;
  std::vector<DramTransfer*> idle;
  std::vector<Cycle> ends;  // of reads in flight: a heap, earliest first
  const auto later = [](Cycle a, Cycle b) { return a > b; };
  size_t next = 0, under_way = 0;
  Cycle now = 0;
  while (next < accesses.size() || dram.next() != kNoCycle) {
    while (!ends.empty() && ends.front() < now) {
      std::pop_heap(ends.begin(), ends.end(), later);
      ends.pop_back();
      --under_way;
    }
    const bool room = outstanding == 0 || under_way < outstanding;
    if (next < accesses.size() && room && accesses[next].at <= now) {
      DramAccess& a = accesses[next];
      ++next;
      if (idle.empty()) idle.push_back(&transfers.emplace_back());
      DramTransfer& t = *idle.back();
      idle.pop_back();
      t = {};
      a.at = now;
      t.write = a.write;
      t.offset = a.offset;
      t.rows = {1, a.bytes, 0};
      t.ready = now;
      t.context = &a;
      ++under_way;
      dram.submit(t, now);
      continue;
    }
    Cycle when = dram.next();
    if (next < accesses.size() && room) when = std::min(when, std::max(now, accesses[next].at));
    if (!room && !ends.empty()) when = std::min(when, ends.front() + 1);
    now = when;
    if (dram.next() > now) continue;
    for (DramTransfer* t : dram.run(now)) {
      static_cast<DramAccess*>(t->context)->done = t->done;
      ends.push_back(t->done);
      std::push_heap(ends.begin(), ends.end(), later);
      idle.push_back(t);
    }
  }
}

/// `count` accesses of 32 to 256 bytes, some of them writes, most in a few rows, some anywhere, in bursts with idle
/// times in between: this covers all interactions of commands.
inline std::vector<DramAccess> mixed_accesses(size_t count, uint64_t seed, uint64_t span, Cycle longest_pause) {
  std::mt19937_64 random(seed);
  std::vector<DramAccess> all(count);
  Cycle at = 0;
  uint64_t hot = 0;
  unsigned writes = 4;
  for (size_t i = 0; i < count; ++i) {
    if (random() % 64 == 0) hot = random() % span;
    if (random() % 256 == 0) writes = static_cast<unsigned>(random() % 9);
    if (random() % 512 == 0) at += static_cast<Cycle>(random() % static_cast<uint64_t>(longest_pause));
    at += static_cast<Cycle>(random() % 4);
    const bool near = random() % 4 != 0;
    all[i] = {at, random() % 8 < writes, (near ? hot + random() % 8192 : random() % span) / 32 * 32,
              32 * (1 + random() % 8)};
  }
  return all;
}

}  // namespace kernbench::testing
