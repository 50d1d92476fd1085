// SPDX-License-Identifier: Apache-2.0
// Paths in a graph with networks that have their own routing rule (graph/network.h). The part of a shortest path inside
// such a network is replaced by the rule's path, in both directions.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::topology {

class NetworkRules {
 public:
  explicit NetworkRules(const Graph& graph) : graph_(graph) {}
  bool any() const { return !graph_.networks.empty(); }
  /// The path with each stretch inside a network replaced by the rule's path between its ends.
  std::vector<uint32_t> by_rule(const std::vector<uint32_t>& path) const;
  /// The return path, from the path's end to its begin: inside a network by its rule, elsewhere by `back`, the reverse
  /// edge between the same nodes.
  template <class Back>
  std::vector<uint32_t> way_back(const std::vector<uint32_t>& path, const Back& back) const {
    std::vector<uint32_t> way;
    for (size_t end = path.size(); end > 0;) {
      const uint32_t network = network_of(path[end - 1]);
      if (network == NetworkPlace::kNone) {
        way.push_back(back(path[--end]));
        continue;
      }
      size_t begin = end - 1;
      while (begin > 0 && network_of(path[begin - 1]) == network) --begin;
      add_stretch(graph_.edges[path[end - 1]].to, graph_.edges[path[begin]].from, way);
      end = begin;
    }
    return way;
  }

 private:
  /// The network that contains both ends of the edge; else kNone.
  uint32_t network_of(uint32_t edge) const;
  void add_stretch(uint32_t from, uint32_t to, std::vector<uint32_t>& way) const;
  const Graph& graph_;
};

}  // namespace kernbench::topology
