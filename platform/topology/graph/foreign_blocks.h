// SPDX-License-Identifier: Apache-2.0
// Nodes of kind `foreign`: places for user blocks between others (platform/elaborate/foreign_node.h).
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::topology {

constexpr const char* kForeignKind = "foreign";

inline bool is_foreign(const Graph& g, uint32_t node) {
  return g.nodes[node].kind == kForeignKind;
}

/// The nodes reached by edges out of (into) a foreign node, through further foreign nodes. Ascending.
std::vector<uint32_t> ends_behind(const Graph&, uint32_t foreign);
std::vector<uint32_t> ends_before(const Graph&, uint32_t foreign);

/// Inserts a foreign node with a new id between two neighbours, in each direction that has edges. The edges to it keep
/// length and bandwidth; the edges from it cost nothing. Also between two blocks of a PE that are bound without an edge
/// (Graph::pe_edges). InputError, one line, for a duplicate id or if the two are no such neighbours. `attrs`: the
/// node's.
void insert_foreign(Graph&, const std::string& id, const std::string& a, const std::string& b, Attributes attrs = {});

}  // namespace kernbench::topology
