#include "kernbench/platform/topology/graph/pe_edges.h"

#include <algorithm>

#include "kernbench/systemc_models/pe/standard_edges.h"

namespace kernbench::topology {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

Pairs needed(const Pe& pe) {
  Pairs pairs;
  for (const auto& [from, to] : kStandardEdges) {
    const auto a = pe.blocks.find(from), b = pe.blocks.find(to);
    if (a != pe.blocks.end() && b != pe.blocks.end()) pairs.emplace_back(a->second, b->second);
  }
  return pairs;
}

/// Those that the file gives.
Pairs given(const Graph& g, const Pe& pe) {
  std::vector<uint32_t> nodes;
  for (const auto& [kind, node] : pe.blocks) nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end());
  Pairs pairs;
  for (const uint32_t from : nodes) {
    for (const uint32_t e : g.out_edges[from]) {
      const std::pair<uint32_t, uint32_t> pair(from, g.edges[e].to);
      if (pair.second == from || !std::binary_search(nodes.begin(), nodes.end(), pair.second)) continue;
      if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(pair);
    }
  }
  return pairs;
}

}  // namespace

Pairs edges_inside(const Graph& g, const Pe& pe) {
  Pairs pairs = given(g, pe);
  return pairs.empty() ? needed(pe) : pairs;
}

Pairs missing_edges_inside(const Graph& g, const Pe& pe) {
  const Pairs pairs = given(g, pe);
  if (pairs.empty()) return {};
  Pairs missing = needed(pe);
  missing.erase(std::remove_if(missing.begin(), missing.end(),
                               [&](const auto& p) { return std::find(pairs.begin(), pairs.end(), p) != pairs.end(); }),
                missing.end());
  return missing;
}

}  // namespace kernbench::topology
