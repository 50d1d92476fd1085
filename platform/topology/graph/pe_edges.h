// The edges between the blocks of one PE (ADR-0014 D8): who hands on to whom, and who asks whom. They take no time
// (timing contract §5).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::topology {

/// From and to, as nodes; each pair once, in compiled order. Of a PE for which the file has no such edge, the standard
/// ones, as far as it has their blocks.
std::vector<std::pair<uint32_t, uint32_t>> edges_inside(const Graph&, const Pe&);

/// Edges that a PE's blocks cannot work without and that it has not.
std::vector<std::pair<uint32_t, uint32_t>> missing_edges_inside(const Graph&, const Pe&);

}  // namespace kernbench::topology
