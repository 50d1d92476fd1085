// SPDX-License-Identifier: Apache-2.0
// The latency of a transaction alone in the system, written out from the timing rules §2 to §4 and the graph: no
// SystemC, no modules, nothing of the models under test.
#pragma once

#include "kernbench/platform/work/probe.h"

namespace kernbench::testing {

/// In ns, of `nbytes` from the first address of the case's memory, in the mode of the platform's graph. Ideal and
/// cut_through links: the closed form, a sum of overheads, wires and one drain. Flits: each edge and node in turn.
double written_out_ns(Platform&, const ProbeCase&, uint64_t nbytes);

}  // namespace kernbench::testing
