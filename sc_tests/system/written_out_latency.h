// SPDX-License-Identifier: Apache-2.0
// The zero-load latency of a transaction, written out from the timing rules §2 to §4 and the graph: without SystemC or
// modules, independent of the models under test.
#pragma once

#include "kernbench/platform/work/probe.h"

namespace kernbench::testing {

/// In ns, for `nbytes` from the first address of the case's memory, in the mode of the platform's graph. Ideal and
/// cut_through links: the closed form, a sum of overheads, wires and one drain. Flits: edge by edge and node by node.
double written_out_ns(Platform&, const ProbeCase&, uint64_t nbytes);

}  // namespace kernbench::testing
