// The compiled graph in the forms of `kernbench topology`.
#pragma once

#include <ostream>

#include "kernbench/platform/topology/graph.h"

namespace kernbench::topology {

/// The interface contract's JSON, streamed in compiled order.
void print_json(const Graph&, std::ostream&);

}  // namespace kernbench::topology
