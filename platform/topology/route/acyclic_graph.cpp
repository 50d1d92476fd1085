// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/route/acyclic_graph.h"

#include <algorithm>

namespace kernbench::topology {

AcyclicGraph::AcyclicGraph(uint32_t nodes) : nodes_(nodes) {
  for (uint32_t n = 0; n < nodes; ++n) nodes_[n].place = n;
}

/// Collects nodes reachable from `start` and ordered before `until`, or, backwards, nodes that lead to `start` and are
/// ordered after `until`. False: `until` itself was found.
bool AcyclicGraph::find(uint32_t start, uint32_t until, bool forward, std::vector<uint32_t>& found) {
  ++searches_;
  found.assign(1, start);
  nodes_[start].seen = searches_;
  const uint32_t limit = nodes_[until].place;
  for (size_t i = 0; i < found.size(); ++i) {
    for (const uint32_t w : forward ? nodes_[found[i]].next : nodes_[found[i]].before) {
      if (w == until) return false;
      const bool inside = forward ? nodes_[w].place < limit : nodes_[w].place > limit;
      if (!inside || nodes_[w].seen == searches_) continue;
      nodes_[w].seen = searches_;
      found.push_back(w);
    }
  }
  return true;
}

bool AcyclicGraph::add(uint32_t from, uint32_t to) {
  if (from == to) return false;
  if (nodes_[from].place > nodes_[to].place) {
    std::vector<uint32_t> behind, ahead;
    if (!find(to, from, true, behind)) return false;
    find(from, to, false, ahead);
    // All predecessors of `from` move before all successors of `to`, within the positions that they occupy together.
    const auto earlier = [&](uint32_t a, uint32_t b) { return nodes_[a].place < nodes_[b].place; };
    std::sort(behind.begin(), behind.end(), earlier);
    std::sort(ahead.begin(), ahead.end(), earlier);
    ahead.insert(ahead.end(), behind.begin(), behind.end());
    std::vector<uint32_t> places;
    for (const uint32_t n : ahead) places.push_back(nodes_[n].place);
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < ahead.size(); ++i) nodes_[ahead[i]].place = places[i];
  }
  nodes_[from].next.push_back(to);
  nodes_[to].before.push_back(from);
  return true;
}

}  // namespace kernbench::topology
