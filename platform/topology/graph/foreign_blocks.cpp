#include "kernbench/platform/topology/graph/foreign_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/op/errors.h"

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
  if (it == g.index_of.end()) throw InputError(fmt::format("found '{}', which is no node; legal: the id of a node", id));
  return it->second;
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

void insert_foreign(Graph& g, const std::string& id, const std::string& a, const std::string& b) {
  const uint32_t ends[2] = {node_of(g, a), node_of(g, b)};
  Node node;
  node.id = id;
  node.kind = kForeignKind;
  node.impl = "builtin.foreign";
  node.transit = true;
  const auto index = static_cast<uint32_t>(g.nodes.size());
  if (!g.index_of.emplace(id, index).second)
    throw InputError(fmt::format("found '{}' a second time; legal: an id of its own", id));
  bool any = false;
  for (size_t e = 0, count = g.edges.size(); e < count; ++e) {
    for (int from : {0, 1}) {
      if (g.edges[e].from != ends[from] || g.edges[e].to != ends[1 - from]) continue;
      Edge rest;
      rest.from = index;
      rest.to = ends[1 - from];
      rest.kind = g.edges[e].kind;
      rest.line = g.edges[e].line;
      g.edges[e].to = index;
      g.edges.push_back(rest);
      any = true;
      break;
    }
  }
  if (!any) throw InputError(fmt::format("found no edge between '{}' and '{}'; legal: two neighbours", a, b));
  g.nodes.push_back(std::move(node));
  g.finish();
}

}  // namespace kernbench::topology
