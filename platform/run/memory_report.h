// SPDX-License-Identifier: Apache-2.0
// The counters of memories (MemoryTarget::counters) in a run.
#pragma once

#include <vector>

#include "kernbench/platform/run/record/run_record.h"

namespace kernbench {

class Platform;

/// All memories with counters, in compiled order, from the start of the simulation.
std::vector<MemoryReport> memory_reports(Platform&);
/// The same minus the values reported before (none: from the start).
std::vector<MemoryReport> since(std::vector<MemoryReport> now, const std::vector<MemoryReport>& then);

}  // namespace kernbench
