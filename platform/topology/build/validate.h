// What must hold for any graph, however it was described.
#pragma once

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::topology {

/// Memories (owner's kind, windows inside 64 bits, no overlap, base and interleave, reached by some initiator) and the
/// rules of flit mode. The graph is finished.
void validate(const Graph&, FaultList&);

}  // namespace kernbench::topology
