// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/route/blocks.h"

#include <algorithm>

namespace kernbench::topology {
namespace {

/// The neighbours of all nodes, over edges in either direction.
struct Neighbours {
  std::vector<uint32_t> first, nodes;
  Neighbours(const Graph& g, const std::vector<bool>& left_out) : first(g.nodes.size() + 1) {
    const auto for_each_end = [&](auto visit) {
      for (size_t e = 0; e < g.edges.size(); ++e) {
        if (left_out[e]) continue;
        visit(g.edges[e].from, g.edges[e].to);
        visit(g.edges[e].to, g.edges[e].from);
      }
    };
    for_each_end([&](uint32_t a, uint32_t) { ++first[a + 1]; });
    for (size_t n = 0; n < g.nodes.size(); ++n) first[n + 1] += first[n];
    nodes.resize(first.back());
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    for_each_end([&](uint32_t a, uint32_t b) { nodes[next[a]++] = b; });
  }
};

}  // namespace

Blocks::Blocks(const Graph& g, const std::vector<bool>& left_out) : home_(g.nodes.size(), kNone) {
  find(g, left_out);
  sort_edges(g, left_out);
}

/// Hopcroft and Tarjan: depth first; `low` is the earliest node that a subtree reaches with one additional edge.
void Blocks::find(const Graph& g, const std::vector<bool>& left_out) {
  const Neighbours neighbours(g, left_out);
  const size_t n = g.nodes.size();
  std::vector<uint32_t> number(n), low(n), parent(n, kNone), next(neighbours.first.begin(), neighbours.first.end() - 1);
  std::vector<uint32_t> way, found;  // path from the root; nodes that are in no block yet
  uint32_t numbers = 0;
  for (uint32_t root = 0; root < n; ++root) {
    if (number[root] != 0) continue;
    number[root] = low[root] = ++numbers;
    way.push_back(root);
    while (!way.empty()) {
      const uint32_t v = way.back();
      if (next[v] < neighbours.first[v + 1]) {
        const uint32_t w = neighbours.nodes[next[v]++];
        if (number[w] != 0) {
          low[v] = std::min(low[v], number[w]);
          continue;
        }
        number[w] = low[w] = ++numbers;
        parent[w] = v;
        way.push_back(w);
        found.push_back(w);
        continue;
      }
      way.pop_back();
      if (way.empty()) continue;
      const uint32_t up = parent[v];
      low[up] = std::min(low[up], low[v]);
      if (low[v] >= number[up]) take_block(up, v, &found);
    }
  }
  // Blocks are found leaves first, so a block's depth follows from a block found later.
  depth_.assign(top_.size(), 0);
  for (size_t b = top_.size(); b-- > 0;) depth_[b] = depth(top_[b]) + 1;
}

/// Makes a block of the top and the nodes found since `first`.
void Blocks::take_block(uint32_t top, uint32_t first, std::vector<uint32_t>* found) {
  const auto block = static_cast<uint32_t>(top_.size());
  top_.push_back(top);
  uint32_t node = kNone;
  while (node != first) {
    node = found->back();
    found->pop_back();
    home_[node] = block;
  }
}

uint32_t Blocks::block_of(const Edge& e) const {
  if (home_[e.to] == kNone) return home_[e.from];
  return home_[e.from] == home_[e.to] || top_[home_[e.to]] == e.from ? home_[e.to] : home_[e.from];
}

void Blocks::sort_edges(const Graph& g, const std::vector<bool>& left_out) {
  const auto for_each_edge = [&](auto visit) {
    for (uint32_t e = 0; e < g.edges.size(); ++e) {
      const Edge& edge = g.edges[e];
      if (!left_out[e] && edge.from != edge.to) visit(e, slot(block_of(edge), edge.from));
    }
  };
  first_.assign(home_.size() + top_.size() + 1, 0);
  for_each_edge([&](uint32_t, uint32_t s) { ++first_[s + 1]; });
  for (size_t s = 0; s + 1 < first_.size(); ++s) first_[s + 1] += first_[s];
  edges_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for_each_edge([&](uint32_t e, uint32_t s) { edges_[next[s]++] = e; });
}

std::vector<Blocks::Stretch> Blocks::stretches(uint32_t a, uint32_t b) const {
  std::vector<Stretch> up, down;  // from each end to the meeting point
  while (a != b) {
    if (home_[a] == home_[b]) {
      if (home_[a] == kNone) return {};
      up.push_back({home_[a], a, b});
      break;
    }
    if (depth(a) >= depth(b)) {
      const uint32_t block = home_[a];
      up.push_back({block, a, top_[block]});
      a = top_[block];
    } else {
      const uint32_t block = home_[b];
      down.push_back({block, top_[block], b});
      b = top_[block];
    }
  }
  up.insert(up.end(), down.rbegin(), down.rend());
  return up;
}

}  // namespace kernbench::topology
