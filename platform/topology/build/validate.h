// SPDX-License-Identifier: Apache-2.0
// Checks that apply to any graph.
#pragma once

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

/// Checks memories (owner's kind, windows within 64 bits, no overlap, base and interleave, reachable by some initiator)
/// and the rules of flit mode. The graph is finished; errors list the legal kinds.
void validate(const Graph&, const Kinds&, FaultList&);

}  // namespace kernbench::topology
