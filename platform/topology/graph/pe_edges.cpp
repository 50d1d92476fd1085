// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/graph/pe_edges.h"

#include <algorithm>

#include "kernbench/platform/topology/graph/foreign_blocks.h"

namespace kernbench::topology {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

Pairs needed(const Graph& g, const Pe& pe) {
  Pairs pairs;
  for (const auto& [from, to] : g.pe_edges.standard) {
    const auto a = pe.blocks.find(from), b = pe.blocks.find(to);
    if (a != pe.blocks.end() && b != pe.blocks.end()) pairs.emplace_back(a->second, b->second);
  }
  return pairs;
}

/// Bound even without an edge; a given edge does not replace the others.
bool is_bound_without_edge(const Graph& g, const PeEdge& e) {
  const PeKindEdges::Pairs& bound = g.pe_edges.without_edge;
  return std::any_of(bound.begin(), bound.end(), [&](const auto& pair) {
    return pair.first == g.nodes[e.from].kind && pair.second == g.nodes[e.to].kind;
  });
}

bool has(const Pe& pe, uint32_t node) {
  return std::any_of(pe.blocks.begin(), pe.blocks.end(), [node](const auto& b) { return b.second == node; });
}

/// The foreign nodes after `first` with an edge to `to`.
void add_last(const Graph& g, uint32_t first, uint32_t to, std::vector<uint32_t>& last) {
  std::vector<uint32_t> seen = {first};
  for (size_t i = 0; i < seen.size(); ++i) {
    for (const uint32_t e : g.out_edges[seen[i]]) {
      const uint32_t next = g.edges[e].to;
      if (next == to) last.push_back(seen[i]);
      if (is_foreign(g, next) && std::find(seen.begin(), seen.end(), next) == seen.end()) seen.push_back(next);
    }
  }
}

/// Edges in the file.
std::vector<PeEdge> given(const Graph& g, const Pe& pe) {
  std::vector<uint32_t> nodes;
  for (const auto& [kind, node] : pe.blocks) nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end());
  std::vector<PeEdge> edges;
  const auto edge_between = [&](uint32_t from, uint32_t to) -> PeEdge* {
    if (to == from || !std::binary_search(nodes.begin(), nodes.end(), to)) return nullptr;
    for (PeEdge& e : edges) {
      if (e.from == from && e.to == to) return &e;
    }
    edges.push_back({from, to, {}, {}});
    return &edges.back();
  };
  for (const uint32_t from : nodes) {
    for (const uint32_t e : g.out_edges[from]) {
      const uint32_t next = g.edges[e].to;
      if (!is_foreign(g, next)) {
        edge_between(from, next);
      } else if (inside_pe(g, next)) {
        for (const uint32_t to : ends_behind(g, next)) {
          PeEdge* edge = edge_between(from, to);
          if (!edge) continue;
          edge->first.push_back(next);
          add_last(g, next, to, edge->last);
        }
      }
    }
  }
  return edges;
}

bool none_given(const Graph& g, const std::vector<PeEdge>& edges) {
  return std::all_of(edges.begin(), edges.end(), [&](const PeEdge& e) { return is_bound_without_edge(g, e); });
}

}  // namespace

std::vector<PeEdge> edges_inside(const Graph& g, const Pe& pe) {
  std::vector<PeEdge> edges = given(g, pe);
  if (!none_given(g, edges)) return edges;
  for (const auto& [from, to] : needed(g, pe)) edges.push_back({from, to, {}, {}});
  return edges;
}

bool inside_pe(const Graph& g, uint32_t foreign) {
  std::vector<uint32_t> ends = ends_behind(g, foreign);
  const std::vector<uint32_t> before = ends_before(g, foreign);
  ends.insert(ends.end(), before.begin(), before.end());
  return std::any_of(g.pes.begin(), g.pes.end(), [&](const Pe& pe) {
    return !ends.empty() && std::all_of(ends.begin(), ends.end(), [&](uint32_t n) { return has(pe, n); });
  });
}

Pairs missing_edges_inside(const Graph& g, const Pe& pe) {
  const std::vector<PeEdge> edges = given(g, pe);
  if (none_given(g, edges)) return {};
  Pairs missing = needed(g, pe);
  const auto is_given = [&](const std::pair<uint32_t, uint32_t>& p) {
    return std::any_of(edges.begin(), edges.end(),
                       [&](const PeEdge& e) { return e.from == p.first && e.to == p.second; });
  };
  missing.erase(std::remove_if(missing.begin(), missing.end(), is_given), missing.end());
  return missing;
}

}  // namespace kernbench::topology
