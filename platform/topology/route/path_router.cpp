// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/route/path_router.h"

#include <algorithm>
#include <cmath>

#include "kernbench/platform/topology/graph/foreign_blocks.h"

namespace kernbench::topology {
namespace {

bool leaves_out(EdgeSet set, const Graph& g, const Edge& e) {
  const bool command = e.kind == "command";
  switch (set) {
    case EdgeSet::all:
      return false;
    case EdgeSet::no_command:
      return command;
    case EdgeSet::m_cpu_dma:
      return command || g.nodes[e.from].kind.compare(0, 3, "pe_") == 0 || g.nodes[e.to].kind.compare(0, 3, "pe_") == 0;
    case EdgeSet::local:
      break;
  }
  return e.kind == "ucie" || e.kind == "pcie" || g.nodes[e.from].kind == "ucie" || g.nodes[e.to].kind == "ucie";
}

/// An edge's number of hops: a foreign node within a link adds none.
uint32_t hops_of(const Graph& g, const Edge& e) {
  constexpr uint32_t kHop = 256, kToForeign = 1;
  if (is_foreign(g, e.to)) return kToForeign;
  return is_foreign(g, e.from) ? kHop - kToForeign : kHop;
}

}  // namespace

PathRouter::PathRouter(const Graph& graph, EdgeSet set)
    : graph_(graph),
      rules_(graph),
      nm_(graph.edges.size()),
      hops_(graph.edges.size()),
      left_out_(graph.edges.size(), false) {
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    nm_[e] = graph.edges[e].nm();
    hops_[e] = hops_of(graph, graph.edges[e]);
    left_out_[e] = leaves_out(set, graph, graph.edges[e]);
  }
}

PathRouter::Search& PathRouter::search(uint32_t block, uint32_t source) {
  Searches& kept = searches_[block];
  const auto is_it = [source](const Search& s) { return s.source == source; };
  if (kept.last < kept.all.size() && is_it(kept.all[kept.last])) return kept.all[kept.last];
  const auto found = std::find_if(kept.all.begin(), kept.all.end(), is_it);
  if (found != kept.all.end()) {
    kept.last = static_cast<size_t>(found - kept.all.begin());
    return *found;
  }
  Search& s = new_search(block);
  if (++s.epoch == 0) {  // after 2^32 searches stamps repeat, so old ones are cleared
    s.labels.clear();
    s.epoch = 1;
  }
  s.block = block;
  s.source = source;
  s.open.clear();
  const uint32_t slot = blocks_->slot(block, source);
  label(s, slot) = {{0, 0}, s.epoch, 0, 0};
  expand(s, slot);
  return s;
}

/// Adds a search; if the memory limit is reached, replaces the block's oldest.
PathRouter::Search& PathRouter::new_search(uint32_t block) {
  Searches& kept = searches_[block];
  if (kept.all.empty() || labels_ + sizes_[block] <= kMostLabels) {
    kept.last = kept.all.size();
    kept.all.emplace_back(sizes_[block]);
    labels_ += sizes_[block];
  } else {
    kept.last = kept.oldest;
    kept.oldest = (kept.oldest + 1) % kept.all.size();
  }
  return kept.all[kept.last];
}

/// Non-transit nodes are not expanded; their label comes from their predecessors.
void PathRouter::expand(Search& s, uint32_t slot) {
  const Label from = label(s, slot);
  const auto [first, last] = blocks_->out_edges(slot);
  for (const uint32_t* e = first; e != last; ++e) {
    const uint32_t node = graph_.edges[*e].to, to = blocks_->slot(s.block, node);
    const Cost cost{from.cost.nm + nm_[*e], from.cost.hops + hops_[*e]};
    Label& there = label(s, to);
    const bool fresh = there.epoch != s.epoch;
    if (!fresh && there.cost < cost) continue;
    if (!fresh && there.cost == cost) {
      if (precedes(s, *e, there.by)) there.by = *e, there.edges = from.edges + 1;
      continue;
    }
    there = {cost, s.epoch, *e, from.edges + 1};
    if (!graph_.nodes[node].transit) continue;
    s.open.push_back({cost, to});
    std::push_heap(s.open.begin(), s.open.end(), std::greater<>());
  }
}

/// Whether the best path that ends with edge a is lexicographically before the one that ends with b; the first
/// difference decides.
bool PathRouter::precedes(const Search& s, uint32_t a, uint32_t b) const {
  while (graph_.edges[a].from != graph_.edges[b].from) {
    const Label& at_a = label(s, blocks_->slot(s.block, graph_.edges[a].from));
    const Label& at_b = label(s, blocks_->slot(s.block, graph_.edges[b].from));
    if (at_a.edges >= at_b.edges) a = at_a.by;
    if (at_b.edges >= at_a.edges) b = at_b.by;
  }
  return a < b;
}

/// Later nodes have higher costs, and so do their successors.
bool PathRouter::settle(Search& s, uint32_t slot) {
  const Label& target = label(s, slot);
  while (!s.open.empty() && (target.epoch != s.epoch || s.open.front().cost < target.cost)) {
    std::pop_heap(s.open.begin(), s.open.end(), std::greater<>());
    const Open top = s.open.back();
    s.open.pop_back();
    if (label(s, top.slot).cost == top.cost) expand(s, top.slot);
  }
  return target.epoch == s.epoch;
}

void PathRouter::prepare() {
  if (blocks_) return;
  blocks_ = std::make_unique<Blocks>(graph_, left_out_);
  searches_.resize(blocks_->count());
  sizes_.assign(blocks_->count(), 0);
  place_.resize(blocks_->slots());
  for (uint32_t slot = 0; slot < blocks_->slots(); ++slot) {
    const uint32_t block = blocks_->block_of_slot(slot);
    if (block != Blocks::kNone) place_[slot] = sizes_[block]++;
  }
}

bool PathRouter::has_path(uint32_t a, uint32_t b) {
  return walk(a, b, [](const Blocks::Stretch&, const Search&) {});
}

std::vector<uint32_t> PathRouter::find_path(uint32_t a, uint32_t b) {
  return rules_.any() ? rules_.by_rule(shortest_path(a, b)) : shortest_path(a, b);
}

std::vector<uint32_t> PathRouter::shortest_path(uint32_t a, uint32_t b) {
  std::vector<uint32_t> path;
  const bool found = walk(a, b, [&](const Blocks::Stretch& x, const Search& s) {
    const Label* l = &label(s, blocks_->slot(x.block, x.to));
    size_t at = path.size() + l->edges;
    path.resize(at);
    while (l->edges > 0) {
      path[--at] = l->by;
      l = &label(s, blocks_->slot(x.block, graph_.edges[l->by].from));
    }
  });
  if (!found) throw no_path(a, b);
  return path;
}

int64_t PathRouter::distance_nm(uint32_t a, uint32_t b) {
  int64_t nm = 0;
  if (rules_.any()) {
    for (const uint32_t e : find_path(a, b)) nm += nm_[e];
    return nm;
  }
  const auto add = [&](const Blocks::Stretch& x, const Search& s) {
    nm += label(s, blocks_->slot(x.block, x.to)).cost.nm;
  };
  if (!walk(a, b, add)) throw no_path(a, b);
  return nm;
}

RouteError PathRouter::no_path(uint32_t a, uint32_t b) const {
  return RouteError("no path from '" + graph_.nodes[a].id + "' to '" + graph_.nodes[b].id + "'");
}

std::vector<uint32_t> PathRouter::reversed(const std::vector<uint32_t>& path) const {
  std::vector<uint32_t> back;
  back.reserve(path.size());
  for (const uint32_t e : path) back.push_back(edge_back(e));
  return back;
}

std::vector<uint32_t> PathRouter::way_back(const std::vector<uint32_t>& path) const {
  return rules_.way_back(path, [this](uint32_t e) { return edge_back(e); });
}

bool PathRouter::by_rule(const std::vector<uint32_t>& path) const {
  return rules_.any() && std::any_of(path.begin(), path.end(), [&](uint32_t e) {
           return graph_.in_one_network(graph_.edges[e].from, graph_.edges[e].to);
         });
}

uint32_t PathRouter::edge_back(uint32_t edge) const {
  const Edge& forward = graph_.edges[edge];
  const auto& candidates = graph_.out_edges[forward.to];
  const auto it = std::find_if(candidates.begin(), candidates.end(),
                               [&](uint32_t c) { return graph_.edges[c].to == forward.from; });
  if (it == candidates.end())
    throw RouteError("no edge back from '" + graph_.nodes[forward.to].id + "' to '" + graph_.nodes[forward.from].id +
                     "'");
  return *it;
}

}  // namespace kernbench::topology
