// SPDX-License-Identifier: Apache-2.0
// Assembles a graph from a flat file or from a hierarchy, and performs the checks common to both.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "kernbench/platform/topology/graph/block.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

class GraphBuilder {
 public:
  GraphBuilder(const Kinds& kinds, FaultList& faults) : kinds_(kinds), faults_(faults) {}

  void reserve(size_t nodes, size_t edges);
  /// A duplicate id is an error, located by `field`.
  uint32_t add_node(std::string id, const Block& block, std::optional<Position> position = {},
                    const std::string& field = "id");
  /// kNoNode if there is none.
  uint32_t find(const std::string& id) const;
  /// Adds one directed edge; self links and second edges between the same nodes are errors.
  void add_edge(uint32_t from, uint32_t to, const LinkProperties& p, const std::string& field = "link");
  /// Adds two edges, the forward one first.
  void add_link(uint32_t a, uint32_t b, const LinkProperties& p, const std::string& field = "link");
  void add_memory(uint32_t node, std::string space, uint64_t base, uint64_t size, int line);

  Graph& graph() { return graph_; }
  FaultList& faults() { return faults_; }
  /// Checks memories, reachability and the flit rules, and returns the finished graph. Throws TopologyError if any
  /// error was noted.
  Graph finish();

 private:
  const Kinds& kinds_;
  FaultList& faults_;
  Graph graph_;
  std::unordered_map<uint64_t, uint32_t> edge_of_;  // (from, to) -> edge
};

}  // namespace kernbench::topology
