// SPDX-License-Identifier: Apache-2.0
// The edges between the blocks of one PE (ADR-0014 D8): who hands on to whom, and who asks whom. They take no time
// (timing rules §5).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::topology {

struct PeEdge {
  uint32_t from = 0, to = 0;
  /// Foreign nodes between them: those that `from` has an edge to, and those that have one to `to`. Empty: none.
  std::vector<uint32_t> first, last;
};

/// Each pair of blocks once, in compiled order. Of a PE for which the file has no such edge, the standard ones, as far
/// as it has their blocks.
std::vector<PeEdge> edges_inside(const Graph&, const Pe&);
/// Whether a foreign node stands between blocks of one PE alone.
bool inside_pe(const Graph&, uint32_t foreign);

/// Edges that a PE's blocks cannot work without and that it has not.
std::vector<std::pair<uint32_t, uint32_t>> missing_edges_inside(const Graph&, const Pe&);

}  // namespace kernbench::topology
