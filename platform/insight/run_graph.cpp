// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/run_graph.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::insight {
namespace {

uint64_t hash_of(const CostPart& p) {
  uint64_t bits = 0;
  std::memcpy(&bits, &p.ns, sizeof bits);
  const uint64_t what =
      uint64_t{p.index} << 16 | static_cast<uint64_t>(p.limit) << 8 | static_cast<uint64_t>(p.resource);
  const uint64_t hash = (bits ^ what) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace

RunGraph::RunGraph(double begin_ns, Resource unexplained)
    : unexplained_(unexplained), known_(64, SameCost{this}, SameCost{this}) {
  costs_.push_back({0, 0, 0});
  ops_.emplace_back();
  moments_.push_back({begin_ns, 0, 0});
  for (size_t i = 1; i < kLimits; ++i) {
    CostPart mark;
    mark.limit = static_cast<Limit>(i);
    marks_[i] = cost(mark);
  }
}

size_t RunGraph::SameCost::operator()(Cost c) const {
  uint64_t hash = 0;
  for (auto [p, end] = graph->parts(c); p != end; ++p) hash = (hash << 1 | hash >> 63) ^ hash_of(*p);
  return hash;
}

bool RunGraph::SameCost::operator()(Cost a, Cost b) const {
  const auto [a_begin, a_end] = graph->parts(a);
  const auto [b_begin, b_end] = graph->parts(b);
  return std::equal(a_begin, a_end, b_begin, b_end);
}

/// The parts from `first` on form a cost; an equal cost is reused.
Cost RunGraph::keep(size_t first) {
  if (first == parts_.size()) return 0;
  CostEntry entry{static_cast<uint32_t>(first), static_cast<uint32_t>(parts_.size() - first), 0};
  for (size_t i = first; i < parts_.size(); ++i) entry.ns += parts_[i].ns;
  const auto made = static_cast<Cost>(costs_.size());
  costs_.push_back(entry);
  const auto [at, is_new] = known_.insert(made);
  if (is_new) return made;
  costs_.pop_back();
  parts_.resize(first);
  return *at;
}

Cost RunGraph::cost(const std::vector<CostPart>& parts) {
  const size_t first = parts_.size();
  for (const CostPart& p : parts) {
    if (p.ns > kNothingNs || p.limit != Limit::none) parts_.push_back(p);
  }
  return keep(first);
}

void RunGraph::append(Cost c) {
  for (uint32_t i = 0; i < costs_[c].count; ++i) parts_.push_back(CostPart(parts_[costs_[c].first + i]));
}

Cost RunGraph::plus(Cost before, const CostPart& part) {
  if (part.ns <= kNothingNs && part.limit == Limit::none) return before;
  Sum& known = sums_[(before * 0x9e3779b1u ^ hash_of(part) >> 40) % kSums];
  if (known.sum != 0 && known.before == before && known.part == part) return known.sum;
  const size_t first = parts_.size();
  append(before);
  parts_.push_back(part);
  known = {before, part, keep(first)};
  return known.sum;
}

Cost RunGraph::plus(Cost a, Cost b) {
  if (a == 0) return b;
  const size_t first = parts_.size();
  append(a);
  append(b);
  return keep(first);
}

OpNumber RunGraph::op(const OpDesc* desc) {
  if (!desc) return 0;
  ops_.push_back({&*names_.insert(desc->name).first, desc->pe, desc->launch, desc->where});
  return static_cast<OpNumber>(ops_.size() - 1);
}

OpNumber RunGraph::op(const std::string& name, const SourceLine& where, uint32_t pe) {
  ops_.push_back({&*names_.insert(name).first, pe, kNoLaunch, where});
  return static_cast<OpNumber>(ops_.size() - 1);
}

Moment RunGraph::add(double t_ns, OpNumber op, const Cause* causes, size_t count) {
  if (moments_.size() == std::numeric_limits<Moment>::max() ||
      causes_.size() + count > std::numeric_limits<uint32_t>::max())
    throw RunError("the critical path of a run with more than 4,294,967,295 events is not kept: omit --explain");
  const auto first = static_cast<uint32_t>(causes_.size());
  double latest = -1;
  uint32_t last = first;
  for (size_t i = 0; i < count; ++i) {
    const double comes = ns(causes[i]);
    if (comes > t_ns + kSameNs) {
      ++contradictions_;
      continue;
    }
    if (comes > latest) {
      latest = comes;
      last = static_cast<uint32_t>(causes_.size());
    }
    causes_.push_back(causes[i]);
  }
  if (causes_.size() == first) {
    causes_.push_back({});
    latest = moments_[0].ns;
  }
  if (const double open = t_ns - latest; open > kSameNs) {
    if (unexplained_ == Resource::other) unexplained_ns_ += open;
    const auto [begin, end] = parts(causes_[last].cost);
    std::vector<CostPart> all(begin, end);
    all.push_back({unexplained_, false, CostPart::kNobody, open, has_finite_buffers() ? Limit::buffers : Limit::none});
    causes_[last].cost = cost(all);
  }
  moments_.push_back({t_ns, first, op});
  return static_cast<Moment>(moments_.size() - 1);
}

std::vector<std::pair<Cause, Cause>> RunGraph::turns_until(Moment last) const {
  std::vector<std::pair<Cause, Cause>> all;
  for (const Turn& t : turns_) {
    if (t.at > last) break;
    all.emplace_back(t.first, t.second);
  }
  return all;
}

/// By event: the latest reader of its time, as a dependency or by an arbitration order reported then.
RunGraph::Large<Moment> RunGraph::last_uses(Moment last) const {
  Large<Moment> uses(last + size_t{1}, 0);
  for (Moment m = 1; m <= last; ++m) {
    for (auto [c, end] = causes(m); c != end; ++c) uses[c->from] = m;
  }
  for (const Turn& t : turns_) {
    if (t.at > last) break;
    for (const Moment from : {t.first.from, t.second.from}) uses[from] = std::max(uses[from], t.at);
  }
  uses[last] = last + 1;  // the end itself is needed
  return uses;
}

/// Walking the events is expensive, so several machines share one walk. Only the times of events that are still needed
/// are kept; they are few.
void RunGraph::retime(Moment last, const Machine* machines, size_t count, const Large<Moment>& last_use,
                      const std::vector<Repeated>& repeated, Retimed* found) const {
  constexpr double kNeverLast = -1e300;  // ns
  std::vector<Times> cost(costs_.size(), Times{});
  for (Cost c = 0; c < costs_.size(); ++c) {
    for (auto [p, end] = parts(c); p != end; ++p) {
      for (size_t i = 0; i < count; ++i) {
        const bool without = p->limit != Limit::none && p->limit == machines[i].without;
        if (!without) cost[c][i] += p->ns * machines[i].factors[static_cast<size_t>(p->resource)];
        if (without && p->ns == 0) cost[c][i] = kNeverLast;
      }
    }
  }
  constexpr uint32_t kNoPlace = ~0u;
  std::vector<Times> comes;
  std::vector<uint32_t> room;  // free slots of `comes`
  Large<uint32_t> place(last + size_t{1}, kNoPlace);
  const auto keep = [&](Moment m, const Times& t) {
    if (room.empty()) {
      room.push_back(static_cast<uint32_t>(comes.size()));
      comes.emplace_back();
    }
    place[m] = room.back();
    room.pop_back();
    comes[place[m]] = t;
  };
  const auto forget = [&](Moment from, Moment now) {
    if (last_use[from] > now || place[from] == kNoPlace) return;
    room.push_back(place[from]);
    place[from] = kNoPlace;
  };
  Times begin;
  begin.fill(moments_[0].ns);
  keep(0, begin);
  auto turn = turns_.begin();
  for (Moment m = 0; m <= last; ++m) {
    if (m > 0) {
      Times latest{};
      for (auto [c, end] = causes(m); c != end; ++c) {
        const Times &from = comes[place[c->from]], &takes = cost[c->cost];
        for (size_t i = 0; i < kAtOnce; ++i) {
          const double t = from[i] + takes[i];
          latest[i] = latest[i] < t ? t : latest[i];
        }
      }
      if (last_use[m] > 0) keep(m, latest);
    }
    const auto first_turn = turn;
    for (; turn != turns_.end() && turn->at == m; ++turn) {
      const Times &first = comes[place[turn->first.from]], &second = comes[place[turn->second.from]];
      const double in_run = ns(turn->first) - ns(turn->second);
      for (size_t i = 0; i < count; ++i)
        found[i].overtakes.add(in_run, first[i] + cost[turn->first.cost][i] - second[i] - cost[turn->second.cost][i]);
    }
    for (auto t = first_turn; t != turn; ++t) forget(t->first.from, m), forget(t->second.from, m);
    if (m == 0) continue;
    for (auto [c, end] = causes(m); c != end; ++c) forget(c->from, m);
  }
  for (size_t i = 0; i < count; ++i) {
    found[i].ns = comes[place[last]][i];
    for (const Repeated& r : repeated) found[i].ns += r.more * (comes[place[r.to]][i] - comes[place[r.from]][i]);
  }
}

std::vector<RunGraph::Retimed> RunGraph::retimed(Moment last, const std::vector<Machine>& machines,
                                                 const std::vector<Repeated>& repeated) const {
  std::vector<Retimed> all(machines.size());
  Large<Moment> last_use = last_uses(last);
  for (const Repeated& r : repeated) last_use[r.from] = last_use[r.to] = last + 1;
  for (size_t first = 0; first < machines.size(); first += kAtOnce)
    retime(last, &machines[first], std::min(kAtOnce, machines.size() - first), last_use, repeated, &all[first]);
  return all;
}

uint64_t RunGraph::bytes() const {
  return moments_.bytes() + causes_.bytes() +
         costs_.capacity() * (sizeof(CostEntry) + sizeof(Cost) + 4 * sizeof(void*)) +
         parts_.capacity() * sizeof(CostPart) + ops_.capacity() * sizeof(ops_[0]) + turns_.capacity() * sizeof(Turn);
}

}  // namespace kernbench::insight
