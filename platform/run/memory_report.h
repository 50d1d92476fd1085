// SPDX-License-Identifier: Apache-2.0
// What memories that count by themselves (MemoryTarget::counters) did in a run.
#pragma once

#include <vector>

#include "kernbench/platform/run/record/run_record.h"

namespace kernbench {

class Platform;

/// Of all memories that have counters, in compiled order, from the start of the simulation on.
std::vector<MemoryReport> memory_reports(Platform&);
/// The same from an earlier time on: less what was told then (nothing: from the start on).
std::vector<MemoryReport> since(std::vector<MemoryReport> now, const std::vector<MemoryReport>& then);

}  // namespace kernbench
