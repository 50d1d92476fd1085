// SPDX-License-Identifier: Apache-2.0
// The edges between the blocks of one PE (ADR-0014 D8): the flow of items and of queries. They take no time (timing
// rules §5).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::topology {

struct PeEdge {
  uint32_t from = 0, to = 0;
  /// Foreign nodes between them: those with an edge from `from`, and those with an edge to `to`. Empty: none.
  std::vector<uint32_t> first, last;
};

/// Each pair of blocks once, in compiled order. A PE without such edges in the file has the standard ones between its
/// existing blocks.
std::vector<PeEdge> edges_inside(const Graph&, const Pe&);
/// Whether all neighbours of a foreign node are blocks of one PE.
bool inside_pe(const Graph&, uint32_t foreign);

/// Missing edges that a PE's blocks need.
std::vector<std::pair<uint32_t, uint32_t>> missing_edges_inside(const Graph&, const Pe&);

}  // namespace kernbench::topology
