// SPDX-License-Identifier: Apache-2.0
// What must hold for any graph, however it was described.
#pragma once

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

/// Memories (owner's kind, windows inside 64 bits, no overlap, base and interleave, reached by some initiator) and the
/// rules of flit mode. The graph is finished; faults name the kinds that are legal.
void validate(const Graph&, const Kinds&, FaultList&);

}  // namespace kernbench::topology
