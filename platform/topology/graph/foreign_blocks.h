// SPDX-License-Identifier: Apache-2.0
// Nodes of kind `foreign`: places for blocks of the user's own between others (platform/elaborate/foreign_node.h).
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::topology {

constexpr const char* kForeignKind = "foreign";

inline bool is_foreign(const Graph& g, uint32_t node) {
  return g.nodes[node].kind == kForeignKind;
}

/// The other nodes that edges out of (into) a foreign node lead to, past further foreign nodes. Ascending.
std::vector<uint32_t> ends_behind(const Graph&, uint32_t foreign);
std::vector<uint32_t> ends_before(const Graph&, uint32_t foreign);

/// Puts a foreign node of a new id between two neighbours, in both directions as far as there are edges: they keep
/// their length and bandwidth up to it, and cost nothing from there on. Also between two blocks of a PE that are bound
/// without an edge (Graph::pe_edges). InputError, one line, where the id is taken or the two are no such neighbours.
/// `attrs`: the node's.
void insert_foreign(Graph&, const std::string& id, const std::string& a, const std::string& b, Attributes attrs = {});

}  // namespace kernbench::topology
