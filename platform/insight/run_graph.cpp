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
  const uint64_t hash = (bits ^ (uint64_t{p.index} << 8 | static_cast<uint64_t>(p.resource))) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

}  // namespace

RunGraph::RunGraph(double begin_ns) : known_(64, SameCost{this}, SameCost{this}) {
  costs_.push_back({0, 0, 0});
  ops_.emplace_back();
  moments_.push_back({begin_ns, 0, 0});
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

/// The parts from `first` on are a cost, which is kept where it is not known yet.
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
    if (p.ns > kNothingNs) parts_.push_back(p);
  }
  return keep(first);
}

void RunGraph::append(Cost c) {
  for (uint32_t i = 0; i < costs_[c].count; ++i) parts_.push_back(CostPart(parts_[costs_[c].first + i]));
}

Cost RunGraph::plus(Cost before, const CostPart& part) {
  if (part.ns <= kNothingNs) return before;
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

OpNumber RunGraph::op(const std::shared_ptr<const OpDesc>& desc) {
  if (!desc) return 0;
  ops_.push_back(desc);
  return static_cast<OpNumber>(ops_.size() - 1);
}

Moment RunGraph::add(double t_ns, OpNumber op, const Cause* causes, size_t count) {
  if (moments_.size() == std::numeric_limits<Moment>::max() ||
      causes_.size() + count > std::numeric_limits<uint32_t>::max())
    throw RunError("the critical path of a run of more than 4,294,967,295 causes is not kept: leave --explain away");
  const auto first = static_cast<uint32_t>(causes_.size());
  double latest = -1;
  uint32_t last = first;
  for (size_t i = 0; i < count; ++i) {
    const double comes = moments_[causes[i].from].ns + costs_[causes[i].cost].ns;
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
    unexplained_ns_ += open;
    const auto [begin, end] = parts(causes_[last].cost);
    std::vector<CostPart> all(begin, end);
    all.push_back({Resource::other, false, CostPart::kNobody, open});
    causes_[last].cost = cost(all);
  }
  moments_.push_back({t_ns, first, op});
  return static_cast<Moment>(moments_.size() - 1);
}

/// Walking the moments is what costs: several factors at a time share it.
void RunGraph::retime(Moment last, const Factors* factors, size_t count, std::vector<Times>& comes,
                      Retimed* found) const {
  std::vector<Times> cost(costs_.size(), Times{});
  for (Cost c = 0; c < costs_.size(); ++c) {
    for (auto [p, end] = parts(c); p != end; ++p) {
      for (size_t i = 0; i < count; ++i) cost[c][i] += p->ns * factors[i][static_cast<size_t>(p->resource)];
    }
  }
  comes[0].fill(moments_[0].ns);
  for (Moment m = 1; m <= last; ++m) {
    Times latest{};
    for (auto [c, end] = causes(m); c != end; ++c) {
      const Times &from = comes[c->from], &takes = cost[c->cost];
      for (size_t i = 0; i < kAtOnce; ++i) {
        const double t = from[i] + takes[i];
        latest[i] = latest[i] < t ? t : latest[i];
      }
    }
    comes[m] = latest;
  }
  for (size_t i = 0; i < count; ++i) found[i] = {comes[last][i], false};
  for (const Turn& t : turns_) {
    if (t.first.from > last || t.second.from > last) continue;
    for (size_t i = 0; i < count; ++i) {
      const double first = comes[t.first.from][i] + cost[t.first.cost][i];
      const double second = comes[t.second.from][i] + cost[t.second.cost][i];
      found[i].other_order |= first > second + kSameNs;
    }
  }
}

std::vector<RunGraph::Retimed> RunGraph::retimed(Moment last, const std::vector<Factors>& factors) const {
  std::vector<Retimed> all(factors.size());
  std::vector<Times> comes(last + size_t{1});
  for (size_t first = 0; first < factors.size(); first += kAtOnce)
    retime(last, &factors[first], std::min(kAtOnce, factors.size() - first), comes, &all[first]);
  return all;
}

uint64_t RunGraph::bytes() const {
  return moments_.capacity() * sizeof(Entry) + causes_.capacity() * sizeof(Cause) +
         costs_.capacity() * (sizeof(CostEntry) + sizeof(Cost) + 4 * sizeof(void*)) +
         parts_.capacity() * sizeof(CostPart) + ops_.capacity() * sizeof(ops_[0]) + turns_.capacity() * sizeof(Turn);
}

}  // namespace kernbench::insight
