// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/collectives/redistribution.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kernbench::ccl {
namespace {

using PartKey = std::vector<int64_t>;

PartKey key_of(const Shard& s) {
  PartKey k(s.offset.begin(), s.offset.end());
  k.insert(k.end(), s.extent.begin(), s.extent.end());
  return k;
}

/// The intersection of two blocks. Returns false if it is empty.
bool overlap(const Dims& a, const Dims& a_extent, const Dims& b, const Dims& b_extent, Dims* offset, Dims* extent) {
  *offset = a;
  *extent = a_extent;
  for (int i = 0; i < a.rank(); ++i) {
    (*offset)[i] = std::max(a[i], b[i]);
    (*extent)[i] = std::min(a[i] + a_extent[i], b[i] + b_extent[i]) - (*offset)[i];
    if ((*extent)[i] <= 0) return false;
  }
  return true;
}

/// Estimates that weigh copies against rings. Bandwidths in GB/s: a memory, all links of a cube, one PE to another cube
/// or rank. Latency of a ring step in ns.
constexpr double kMemory = 256, kCube = 512, kFar = 128, kStep = 200;

}  // namespace

Redistribution::Redistribution(const ShardPlan& x, bool partial, const ShardPlan& y,
                               const std::vector<host::LayoutPlace>& places)
    : item_(size_of(x.dtype)), places_(places), of_pe_(places.size(), -1) {
  const std::vector<Part> parts = parts_of(x, partial);
  std::map<PartKey, size_t> known;
  for (uint32_t p = 0; p < y.shards.size(); ++p) {
    const Shard& s = y.shards[p];
    if (s.empty()) continue;
    const auto [it, is_new] = known.emplace(key_of(s), groups_.size());
    if (is_new) {
      groups_.emplace_back();
      groups_.back().part = s;
    }
    groups_[it->second].members.push_back(p);
    of_pe_[p] = static_cast<int64_t>(it->second);
  }
  for (Group& g : groups_) {
    fill(g, parts);
    count(g, parts);
  }
}

std::vector<Redistribution::Part> Redistribution::parts_of(const ShardPlan& x, bool partial) const {
  std::vector<Part> parts;
  std::map<PartKey, size_t> known;
  for (uint32_t p = 0; p < x.shards.size(); ++p) {
    const Shard& s = x.shards[p];
    if (s.empty()) continue;
    const auto [it, is_new] = known.emplace(key_of(s), parts.size());
    if (is_new) parts.push_back({s.offset, s.extent, {}, {}});
    Part& part = parts[it->second];
    part.holders.push_back(p);
    if (!partial) continue;
    if (part.summands.empty() || places_[part.summands.back().front()].rank != places_[p].rank)
      part.summands.emplace_back();
    part.summands.back().push_back(p);
  }
  return parts;
}

uint32_t Redistribution::nearest(const std::vector<uint32_t>& holders, uint32_t to) const {
  const auto distance = [&](uint32_t p) {
    if (p == to) return 0;
    if (places_[p].rank != places_[to].rank) return 3;
    return places_[p].cube != places_[to].cube ? 2 : 1;
  };
  // PEs choose different ones among equally near holders, which balances the load.
  int least = 4;
  for (const uint32_t p : holders) least = std::min(least, distance(p));
  std::vector<uint32_t> near;
  for (const uint32_t p : holders) {
    if (distance(p) == least) near.push_back(p);
  }
  return near[to % near.size()];
}

Redistribution::Take Redistribution::take_from(const Part& part, Dims offset, Dims extent, uint32_t by) const {
  Take t{0, offset, extent, {}};
  if (part.summands.empty()) {
    t.from = nearest(part.holders, by);
    return t;
  }
  t.from = nearest(part.summands.front(), by);
  for (size_t i = 1; i < part.summands.size(); ++i) t.also.push_back(nearest(part.summands[i], by));
  return t;
}

void Redistribution::fill(Group& g, const std::vector<Part>& parts) {
  struct Needed {
    const Part* part;
    Dims offset, extent;
  };
  std::vector<Needed> needed;
  for (const Part& p : parts) {
    Needed n{&p, {}, {}};
    if (overlap(g.part.offset, g.part.extent, p.offset, p.extent, &n.offset, &n.extent)) needed.push_back(n);
  }
  const size_t members = g.members.size();
  g.takes.resize(members);
  const auto holds_some = [&](const Part& p, uint32_t pe) {
    return std::binary_search(p.holders.begin(), p.holders.end(), pe);
  };
  const auto holds = [&](const Part& p, uint32_t pe) { return p.summands.size() < 2 && holds_some(p, pe); };
  const bool sums =
      std::any_of(needed.begin(), needed.end(), [](const Needed& n) { return n.part->summands.size() > 1; });
  bool all_have_all = true;
  std::map<uint32_t, uint64_t> asked;                         // by holder, if every member fetches everything itself
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> of_cube;  // cubes may be numbered per rank or globally
  std::map<uint32_t, uint64_t> of_rank;
  for (const uint32_t m : g.members) {
    for (const Needed& n : needed) {
      if (holds(*n.part, m)) continue;
      all_have_all = false;
      const Take t = take_from(*n.part, n.offset, n.extent, m);
      std::vector<uint32_t> from = t.also;
      from.push_back(t.from);
      for (const uint32_t f : from) {
        asked[f] += nbytes(n.extent);
        if (places_[f].cube != places_[m].cube || places_[f].rank != places_[m].rank)
          of_cube[{places_[m].rank, places_[m].cube}] += nbytes(n.extent);
        if (places_[f].rank != places_[m].rank) of_rank[places_[m].rank] += nbytes(n.extent);
      }
    }
  }
  const auto most = [](const auto& m) {
    uint64_t n = 0;
    for (const auto& [key, value] : m) n = std::max(n, value);
    return static_cast<double>(n);
  };
  const double copies = std::max({most(asked) / kMemory, most(of_cube) / kCube, most(of_rank) / kFar});
  const double ring = static_cast<double>(nbytes(g.part.extent)) / kFar + static_cast<double>(members) * kStep;
  g.hand_on = members > 1 && !all_have_all && (sums || ring < copies);  // otherwise each member would fetch all
                                                                        // summands
  for (size_t i = 0; i < members; ++i) {
    if (g.hand_on) break;
    for (const Needed& n : needed) g.takes[i].push_back(take_from(*n.part, n.offset, n.extent, g.members[i]));
  }
  if (!g.hand_on) return;
  std::vector<uint64_t> taken(members, 0);
  for (const Needed& n : needed) {
    std::vector<size_t> have;
    for (size_t i = 0; i < members; ++i) {
      if (holds_some(*n.part, g.members[i])) have.push_back(i);  // for a sum: one summand less to fetch
    }
    if (have.empty()) {  // no holder: each member gets a share
      have.resize(members);
      for (size_t i = 0; i < members; ++i) have[i] = i;
    }
    int axis = 0;
    for (int i = 0; i < n.extent.rank(); ++i) {
      if (n.extent[i] > n.extent[axis]) axis = i;
      if (n.extent[i] >= static_cast<int64_t>(have.size())) {
        axis = i;
        break;
      }
    }
    std::stable_sort(have.begin(), have.end(), [&](size_t a, size_t b) { return taken[a] < taken[b]; });
    for (uint32_t i = 0; i < have.size(); ++i) {
      Shard share{0, n.offset, n.extent};
      if (n.extent.rank() > 0) take_block(share, axis, i, static_cast<uint32_t>(have.size()));
      if (share.empty() || (n.extent.rank() == 0 && i > 0)) continue;
      const size_t m = have[i];
      g.takes[m].push_back(take_from(*n.part, share.offset, share.extent, g.members[m]));
      taken[m] += nbytes(share.extent);
    }
  }
}

void Redistribution::count(const Group& g, const std::vector<Part>& parts) {
  uint64_t all = 0;
  for (size_t i = 0; i < g.members.size(); ++i) {
    for (const Take& t : g.takes[i]) {
      const uint64_t n = nbytes(t.extent);
      all += n;
      moved_ += t.from != g.members[i] ? n : 0;
      for (const uint32_t a : t.also) moved_ += a != g.members[i] ? n : 0;
    }
  }
  if (g.hand_on) moved_ += all * (g.members.size() - 1);
  for (const Part& p : parts) {
    Dims offset, extent;
    if (!overlap(g.part.offset, g.part.extent, p.offset, p.extent, &offset, &extent)) continue;
    if (p.summands.size() > 1) {
      const bool here = std::any_of(g.members.begin(), g.members.end(), [&](uint32_t m) {
        return std::binary_search(p.holders.begin(), p.holders.end(), m);
      });
      least_ += nbytes(extent) * (p.summands.size() + g.members.size() - (here ? 2 : 1));
      continue;
    }
    for (const uint32_t m : g.members)
      least_ += std::binary_search(p.holders.begin(), p.holders.end(), m) ? 0 : nbytes(extent);
  }
}

std::string Redistribution::rings() const {
  std::string text;
  for (const Group& g : groups_) {
    if (!g.hand_on) continue;
    if (!text.empty()) text += ';';
    for (size_t i = 0; i < g.members.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(g.members[i]);
  }
  return text;
}

std::string Redistribution::to_string(const std::vector<host::LayoutPlace>& places) const {
  size_t rings = 0, ring_members = 0, takes = 0;
  for (const Group& g : groups_) {
    rings += g.hand_on ? 1 : 0;
    ring_members += g.hand_on ? g.members.size() : 0;
    for (const auto& t : g.takes) takes += t.size();
  }
  std::string text = std::to_string(groups_.size()) + " parts, " + std::to_string(takes) + " copies";
  if (rings > 0)
    text += ", of which " + std::to_string(rings) + " parts go round rings of " + std::to_string(ring_members / rings);
  text += "; " + std::to_string(moved_) + " bytes between PEs, the least is " + std::to_string(least_) + "\n";
  const auto name = [&](uint32_t p) { return "rank " + std::to_string(places[p].rank) + " pe " + std::to_string(p); };
  size_t told = 0;
  for (const Group& g : groups_) {
    for (size_t i = 0; i < g.members.size(); ++i) {
      for (const Take& t : g.takes[i]) {
        if (told++ == 16) return text + "  …\n";
        text += "  " + name(g.members[i]) + " takes " + t.offset.to_string() + " + " + t.extent.to_string() +
                (t.from == g.members[i] ? " of its own" : " from " + name(t.from)) +
                (t.also.empty() ? "" : " and " + std::to_string(t.also.size()) + " summands") +
                (g.hand_on ? ", which goes round " + std::to_string(g.members.size()) + " PEs" : "") + "\n";
      }
    }
  }
  return text;
}

}  // namespace kernbench::ccl
