// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/graph/foreign_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"

namespace kernbench::topology {
namespace {

/// `neighbours(node)`: the nodes in one direction.
template <class Neighbours>
std::vector<uint32_t> ends(const Graph& g, uint32_t foreign, Neighbours&& neighbours) {
  std::vector<uint32_t> found, open = {foreign}, seen = {foreign};
  while (!open.empty()) {
    const uint32_t n = open.back();
    open.pop_back();
    for (const uint32_t to : neighbours(n)) {
      if (std::find(seen.begin(), seen.end(), to) != seen.end()) continue;
      seen.push_back(to);
      (is_foreign(g, to) ? open : found).push_back(to);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

uint32_t node_of(const Graph& g, const std::string& id) {
  const auto it = g.index_of.find(id);
  if (it == g.index_of.end())
    throw InputError(fmt::format("found '{}', which is no node; legal: the id of a node", id));
  return it->second;
}

/// Whether they are blocks of one PE that are bound without an edge.
bool bound_without_edge(const Graph& g, uint32_t from, uint32_t to) {
  const PeKindEdges::Pairs& bound = g.pe_edges.without_edge;
  return std::any_of(bound.begin(), bound.end(), [&](const auto& kinds) {
    return std::any_of(g.pes.begin(), g.pes.end(), [&](const Pe& pe) {
      const auto a = pe.blocks.find(kinds.first), b = pe.blocks.find(kinds.second);
      return a != pe.blocks.end() && b != pe.blocks.end() && a->second == from && b->second == to;
    });
  });
}

void add_edge(Graph& g, uint32_t from, uint32_t to, const std::string& kind, int line) {
  Edge e;
  e.from = from;
  e.to = to;
  e.kind = kind;
  e.line = line;
  g.edges.push_back(e);
}

}  // namespace

std::vector<uint32_t> ends_behind(const Graph& g, uint32_t foreign) {
  return ends(g, foreign, [&](uint32_t n) {
    std::vector<uint32_t> to;
    for (const uint32_t e : g.out_edges[n]) to.push_back(g.edges[e].to);
    return to;
  });
}

std::vector<uint32_t> ends_before(const Graph& g, uint32_t foreign) {
  return ends(g, foreign, [&](uint32_t n) {
    std::vector<uint32_t> from;
    for (const Edge& e : g.edges) {
      if (e.to == n) from.push_back(e.from);
    }
    return from;
  });
}

void insert_foreign(Graph& g, const std::string& id, const std::string& a, const std::string& b, Attributes attrs) {
  const uint32_t ends[2] = {node_of(g, a), node_of(g, b)};
  if (g.in_one_network(ends[0], ends[1]))
    throw InputError(fmt::format("found a link inside network '{}', whose routing is its own; legal: another",
                                 g.networks[g.network_place(ends[0]).network].id));
  Node node;
  node.id = id;
  node.kind = kForeignKind;
  node.impl = "builtin.foreign";
  node.transit = true;
  node.attrs = std::move(attrs);
  const auto index = static_cast<uint32_t>(g.nodes.size());
  if (!g.index_of.emplace(id, index).second)
    throw InputError(fmt::format("found '{}' a second time; legal: an id of its own", id));
  bool any = false;
  for (size_t e = 0, count = g.edges.size(); e < count; ++e) {
    for (int from : {0, 1}) {
      if (g.edges[e].from != ends[from] || g.edges[e].to != ends[1 - from]) continue;
      g.edges[e].to = index;
      add_edge(g, index, ends[1 - from], std::string(g.edges[e].kind), g.edges[e].line);
      any = true;
      break;
    }
  }
  for (int from : {0, 1}) {
    if (any || !bound_without_edge(g, ends[from], ends[1 - from])) continue;
    add_edge(g, ends[from], index, edge_kind::kPeInternal, 0);
    add_edge(g, index, ends[1 - from], edge_kind::kPeInternal, 0);
    any = true;
  }
  if (!any) throw InputError(fmt::format("found no edge between '{}' and '{}'; legal: two neighbours", a, b));
  g.nodes.push_back(std::move(node));
  g.finish();
}

}  // namespace kernbench::topology
