// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/check/races.h"

#include <algorithm>
#include <tuple>

#include "kernbench/phase2/memory/memory_image.h"
#include "kernbench/phase2/op/runs.h"

namespace kernbench::phase2 {

CommandHistory::Pe& CommandHistory::at(uint32_t pe) {
  if (pe >= pes_.size()) pes_.resize(pe + 1);
  return pes_[pe];
}

namespace {

bool releases(const OpDesc& d) {
  return d.type == CommandType::atomic && d.ranged->releases();
}

}  // namespace

void CommandHistory::submitted(const std::shared_ptr<const OpDesc>& desc) {
  if (!why_ended_.empty()) return;
  Pe& p = at(desc->pe);
  Command c;
  c.desc = desc;
  c.launch = launch_;
  c.submitted = p.events++;
  p.commands.push_back(std::move(c));
  if (!releases(*desc)) return;
  auto clock = std::make_shared<Clock>(p.knows);
  (*clock)[desc->pe] = p.events;
  (*clock)[releases_of(desc->pe)] = desc->seq;
  releasing_[{desc->pe, desc->seq}] = std::move(clock);
}

void CommandHistory::learn(Clock& knows, const Clock& more) {
  for (const auto& [who, count] : more) {
    uint64_t& known = knows[who];
    known = std::max(known, count);
  }
}

void CommandHistory::learn_now(Pe& p, const Clock& more) {
  learn(p.knows, more);
  p.learnt.emplace_back(p.events++, p.knows);
}

void CommandHistory::took_effect(const OpDesc& d) {
  if (!why_ended_.empty()) return;
  const CommandId id{d.pe, d.seq};
  const auto for_each_element = [&](auto f) {
    const uint64_t item = size_of(d.output.dtype);
    if (d.polls) return f(std::pair(d.operands[0].ref.space, d.operands[0].ref.addr));
    for (const MovedRange& r : d.ranged->ranges) {
      for (uint64_t at = 0; at < r.nbytes; at += item) f(std::pair(d.ranged->space, r.addr + at));
    }
  };
  if (d.polls || d.ranged->acquires()) {
    const Clock* last = nullptr;  // many elements share one
    for_each_element([&](const std::pair<Space, uint64_t>& element) {
      const auto it = released_.find(element);
      if (it == released_.end() || it->second.get() == last) return;
      last = it->second.get();
      learn(acquired_[id], *last);
    });
  }
  if (d.polls) {
    if (const auto it = acquired_.find(id); it != acquired_.end()) learn_now(at(d.pe), acquired_.extract(it).mapped());
    return;
  }
  const auto releasing = releasing_.find(id);
  if (releasing == releasing_.end()) return;
  for_each_element([&](const std::pair<Space, uint64_t>& element) {
    std::shared_ptr<const Clock>& known = released_[element];
    if (!known) {
      known = releasing->second;
    } else if (known != releasing->second) {
      auto both = std::make_shared<Clock>(*known);
      learn(*both, *releasing->second);
      known = std::move(both);
    }
  });
}

void CommandHistory::took_effect_together(const std::vector<std::shared_ptr<OpDesc>>& sources) {
  if (!why_ended_.empty()) return;
  Clock all;
  for (const std::shared_ptr<OpDesc>& s : sources) {
    const auto releasing = releasing_.find({s->pe, s->seq});
    if (releasing == releasing_.end()) continue;
    learn(all, *releasing->second);
    learn(all, {{releases_of(s->pe), s->seq + 1}});
  }
  for (const std::shared_ptr<OpDesc>& s : sources) {
    took_effect(*s);
    if (s->ranged->acquires()) learn(acquired_[{s->pe, s->seq}], all);
  }
}

void CommandHistory::completed(uint32_t pe, uint64_t seq, double done_ns) {
  if (!why_ended_.empty()) return;
  command(pe, seq).done_ns = done_ns;
}

void CommandHistory::waited(uint32_t pe, uint64_t seq) {
  if (!why_ended_.empty()) return;
  Command& c = command(pe, seq);
  const uint64_t now = at(pe).events++;
  c.waited = std::min(c.waited, now);
  c.found_complete = std::min(c.found_complete, now);
  Clock more;
  if (const auto it = acquired_.find({pe, seq}); it != acquired_.end()) more = acquired_.extract(it).mapped();
  // A releasing atomic waited for all earlier writes (access rules §17.1).
  if (releases(*c.desc)) learn(more, {{releases_of(pe), seq}});
  if (!more.empty()) learn_now(at(pe), more);
}

void CommandHistory::found_complete(uint32_t pe, uint64_t seq) {
  if (!why_ended_.empty()) return;
  Command& c = command(pe, seq);
  c.found_complete = std::min(c.found_complete, at(pe).events++);
}

void CommandHistory::sent(uint32_t pe, uint64_t message) {
  if (!why_ended_.empty()) return;
  Pe& p = at(pe);
  Clock clock = p.knows;
  clock[pe] = p.events++;
  messages_[message] = std::move(clock);
}

void CommandHistory::received(uint32_t pe, uint64_t message) {
  if (!why_ended_.empty()) return;
  Pe& p = at(pe);
  const auto it = messages_.find(message);
  if (it == messages_.end()) return;
  const Clock clock = std::move(it->second);
  messages_.erase(it);
  learn_now(p, clock);
}

void CommandHistory::ended(uint32_t pe, Clock* clock) {
  if (!why_ended_.empty()) return;
  Pe& p = at(pe);
  const uint64_t now = p.events++;
  for (; p.ended < p.commands.size(); ++p.ended) {
    Command& c = p.commands[p.ended];
    c.waited = std::min(c.waited, now);
    c.found_complete = std::min(c.found_complete, now);
  }
  learn(*clock, p.knows);
  (*clock)[pe] = p.events++;
}

void CommandHistory::begins(uint32_t pe, const Clock& clock) {
  if (!why_ended_.empty()) return;
  learn_now(at(pe), clock);
}

void CommandHistory::end(const std::string& why) {
  why_ended_ = why;
  pes_ = {};
  messages_ = {};
  releasing_ = {};
  acquired_ = {};
  released_ = {};
}

void CommandHistory::serves_in_order(uint32_t pe, CommandType type) {
  at(pe).in_order |= 1u << static_cast<unsigned>(type);
}

bool CommandHistory::before(const Command& a, const Command& b, bool in_tcm) const {
  if (a.launch != b.launch) return a.launch < b.launch;
  const uint64_t known = in_tcm ? a.found_complete : a.waited;
  const Pe& p = pes_[b.desc->pe];
  if (a.desc->pe == b.desc->pe) {
    if (known < b.submitted) return true;
    if (a.desc->type == b.desc->type && (p.in_order >> static_cast<unsigned>(a.desc->type) & 1u) &&
        a.submitted < b.submitted)
      return true;
  }
  // The state of b's PE when it submitted b.
  const auto after =
      std::partition_point(p.learnt.begin(), p.learnt.end(), [&](const auto& l) { return l.first < b.submitted; });
  if (after == p.learnt.begin()) return false;
  const Clock& clock = std::prev(after)->second;
  const auto it = clock.find(a.desc->pe);
  if (it != clock.end() && known < it->second) return true;
  const CommandType type = a.desc->type;
  if (type != CommandType::store && type != CommandType::composite && type != CommandType::atomic) return false;
  const auto released = clock.find(releases_of(a.desc->pe));
  return released != clock.end() && a.desc->seq < released->second;
}

namespace {

using Key = MemoryImage::SpaceKey;
using Command = CommandHistory::Command;

struct Access {
  const TensorRef* ref;
  bool writes;
  const RangedOp* ranged = nullptr;  ///< for a command on ranges: its memory side, which replaces `ref`
};

Key key_of(const Access& a) {
  return a.ranged ? Key{a.ranged->space, kNoPe} : MemoryImage::key_of(*a.ref);
}

/// Calls f(addr, nbytes) for the touched runs.
template <class F>
void for_each_touched(const Access& a, F f) {
  if (!a.ranged) return for_each_run(a.writes ? *a.ref : without_repeats(*a.ref), f);
  for (const MovedRange& r : a.ranged->ranges) f(r.addr, r.nbytes);
}

/// Whether the command cannot race with another one of this kind.
bool is_atomic(const OpDesc& d) {
  return d.type == CommandType::atomic || d.polls;
}

std::vector<Access> accesses_of(const OpDesc& d) {
  std::vector<Access> v;
  const auto reads = [&](const std::vector<Operand>& operands) {
    for (const Operand& o : operands) {
      if (!o.is_scalar) v.push_back({&o.ref, false});
    }
  };
  reads(d.operands);
  for (const EpilogueOp& e : d.epilogue) reads(e.operands);
  const bool changes_nothing = d.materialized || d.name == "materialize" || d.type == CommandType::send;
  if (!changes_nothing) for_each_output(d, [&](const TensorRef& t) { v.push_back({&t, true}); });
  if (!d.ranged) return v;
  if (d.type == CommandType::load) {
    v.front().ranged = d.ranged.get();
  } else if (d.type == CommandType::store || !d.ranged->returns_old) {
    v.back().ranged = d.ranged.get();
  } else {
    v.push_back({&d.output, true, d.ranged.get()});
  }
  return v;
}

/// Disjoint ranges of bytes, in address order.
class Stretches {
 public:
  void add(uint64_t addr, uint64_t n) {
    uint64_t end = addr + n;
    auto it = ends_.upper_bound(addr);
    if (it != ends_.begin() && std::prev(it)->second >= addr) --it;
    while (it != ends_.end() && it->first <= end) {
      addr = std::min(addr, it->first);
      end = std::max(end, it->second);
      it = ends_.erase(it);
    }
    ends_.emplace(addr, end);
  }
  template <class F>
  void for_each_common(uint64_t addr, uint64_t n, F f) const {
    auto it = ends_.upper_bound(addr);
    if (it != ends_.begin() && std::prev(it)->second > addr) --it;
    for (; it != ends_.end() && it->first < addr + n; ++it) {
      const uint64_t from = std::max(addr, it->first);
      f(from, std::min(addr + n, it->second) - from);
    }
  }

 private:
  std::map<uint64_t, uint64_t> ends_;
};

/// The commands that touched a range and can still race with a later access.
struct Cell {
  uint64_t end = 0;
  std::vector<const Command*> writes;
  std::vector<const Command*> reads;  ///< by PE
};

bool by_pe(const Command* a, uint32_t pe) {
  return a->desc->pe < pe;
}

class Finder {
 public:
  Finder(const CommandHistory& history, size_t most) : history_(history), most_(most) {}

  std::vector<Race> find() {
    std::vector<const Command*> order;
    for (uint32_t pe = 0; pe < history_.pes(); ++pe) {
      for (const Command& c : history_.commands(pe)) {
        order.push_back(&c);
        // Bytes without a write cannot race. This excludes most inputs.
        for (const Access& a : accesses_of(*c.desc)) {
          if (!a.writes) continue;
          Stretches& written = written_[key_of(a)];
          for_each_touched(a, [&](uint64_t addr, uint64_t n) { written.add(addr, n); });
        }
      }
    }
    std::sort(order.begin(), order.end(), [](const Command* a, const Command* b) {
      const OpDesc &x = *a->desc, &y = *b->desc;
      return std::tie(a->launch, x.submit_ns, x.pe, x.seq) < std::tie(b->launch, y.submit_ns, y.pe, y.seq);
    });
    for (const Command* c : order) {
      reported_.clear();
      for (const Access& a : accesses_of(*c->desc)) visit(*c, a);
    }
    std::vector<Race> races;
    for (auto& [lines, race] : races_) races.push_back(std::move(race));
    std::sort(races.begin(), races.end(), [](const Race& a, const Race& b) {
      return std::tie(a.second.submit_ns, a.second.pe, a.addr, a.kind) <
             std::tie(b.second.submit_ns, b.second.pe, b.addr, b.kind);
    });
    return races;
  }

 private:
  void visit(const Command& c, const Access& a) {
    const Key key = key_of(a);
    const auto written = written_.find(key);
    if (written == written_.end()) return;
    for_each_touched(a, [&](uint64_t addr, uint64_t n) {
      written->second.for_each_common(addr, n,
                                      [&](uint64_t from, uint64_t len) { touch(c, key, from, len, a.writes); });
    });
  }

  void touch(const Command& c, Key key, uint64_t addr, uint64_t n, bool writes) {
    std::map<uint64_t, Cell>& cells = cells_[key];
    const uint64_t end = addr + n;
    split(cells, addr);
    split(cells, end);
    for (uint64_t at = addr; at < end;) {
      auto it = cells.lower_bound(at);
      if (it == cells.end() || it->first > at) {
        Cell fresh;
        fresh.end = it == cells.end() ? end : std::min(end, it->first);
        it = cells.emplace_hint(it, at, std::move(fresh));
      }
      enter(c, key, it->first, it->second, writes);
      at = it->second.end;
    }
  }

  static void split(std::map<uint64_t, Cell>& cells, uint64_t at) {
    auto it = cells.lower_bound(at);
    if (it == cells.begin()) return;
    --it;
    if (it->second.end <= at) return;
    Cell tail = it->second;
    it->second.end = at;
    cells.emplace(at, std::move(tail));
  }

  /// Reports the races of the access. Then it removes covered accesses: those ordered before a write, or before a read
  /// by the same PE.
  void enter(const Command& c, Key key, uint64_t addr, Cell& cell, bool writes) {
    const bool tcm = key.space == Space::tcm;
    const auto check = [&](std::vector<const Command*>& others, size_t first, size_t last, bool other_writes) {
      size_t kept = first;
      for (size_t i = first; i < last; ++i) {
        const Command& o = *others[i];
        const bool same = &o == &c;
        const bool ordered = same || history_.before(o, c, tcm);
        const bool together = !tcm && is_atomic(*o.desc) && is_atomic(*c.desc);
        if (!ordered && !together && (writes || other_writes))
          report(o, other_writes, c, writes, key, addr, cell.end - addr);
        const bool covered = same ? other_writes == writes : ordered && (writes || !other_writes);
        if (!covered) others[kept++] = others[i];
      }
      others.erase(others.begin() + static_cast<int64_t>(kept), others.begin() + static_cast<int64_t>(last));
      return kept;
    };
    check(cell.writes, 0, cell.writes.size(), true);
    if (writes) {
      check(cell.reads, 0, cell.reads.size(), false);
      cell.writes.push_back(&c);
      return;
    }
    const auto own = std::lower_bound(cell.reads.begin(), cell.reads.end(), c.desc->pe, by_pe);
    const auto first = static_cast<size_t>(own - cell.reads.begin());
    size_t last = first;
    while (last < cell.reads.size() && cell.reads[last]->desc->pe == c.desc->pe) ++last;
    const size_t at = check(cell.reads, first, last, false);
    cell.reads.insert(cell.reads.begin() + static_cast<int64_t>(at), &c);
  }

  static RacingAccess described(const Command& c, bool writes) {
    const OpDesc& d = *c.desc;
    return {d.name, writes, d.pe, d.where, d.submit_ns, c.done_ns};
  }

  void report(const Command& a, bool a_writes, const Command& b, bool b_writes, Key key, uint64_t addr, uint64_t n) {
    Race r;
    r.kind = a_writes && b_writes ? Race::Kind::two_writes
             : a_writes           ? Race::Kind::read_of_unfinished_write
                                  : Race::Kind::overwrite_of_unfinished_read;
    const OpDesc &x = *a.desc, &y = *b.desc;
    // A pair of commands is one race for any number of ranges.
    if (const auto it = reported_.find({&a, r.kind}); it != reported_.end()) {
      Race& known = *it->second;
      if (known.count == 1 && known.space == key.space && known.addr + known.nbytes == addr) known.nbytes += n;
      return;
    }
    Lines lines{r.kind, x.where.file, x.where.line, y.where.file, y.where.line, x.pe == y.pe, x.name, y.name};
    auto it = races_.find(lines);
    if (it == races_.end() && races_.size() >= most_) it = std::prev(races_.end());
    if (it != races_.end()) {
      ++it->second.count;
    } else {
      r.first = described(a, a_writes);
      r.second = described(b, b_writes);
      r.space = key.space;
      r.pe = key.pe;
      r.addr = addr;
      r.nbytes = n;
      it = races_.emplace(std::move(lines), std::move(r)).first;
    }
    reported_.emplace(std::make_pair(&a, it->second.kind), &it->second);
  }

  using Lines = std::tuple<Race::Kind, std::string, int, std::string, int, bool, std::string, std::string>;
  const CommandHistory& history_;
  size_t most_;
  std::map<Key, Stretches> written_;
  std::map<Key, std::map<uint64_t, Cell>> cells_;
  std::map<Lines, Race> races_;
  std::map<std::pair<const Command*, Race::Kind>, Race*> reported_;  ///< by the command that is being entered
};

}  // namespace

std::vector<Race> find_races(const CommandHistory& history, size_t most) {
  return Finder(history, most).find();
}

}  // namespace kernbench::phase2
