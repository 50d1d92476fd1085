// SPDX-License-Identifier: Apache-2.0
// What the engines of PEs did in a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/platform/run/record/run_record.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench {

/// Of these PEs (indices in compiled order), PE by PE, from the start of the simulation to sim_ns.
std::vector<EngineReport> engine_reports(Machine&, const std::vector<size_t>& pes, double sim_ns);
/// What came through the inter-PE queues that end at these PEs, PE by PE.
std::vector<QueueTraffic> queue_traffic(Machine&, const std::vector<size_t>& pes);
/// The same from an earlier time on, `ns` ago: less what was told then.
std::vector<EngineReport> since(std::vector<EngineReport> now, const std::vector<EngineReport>& then, double ns);
std::vector<QueueTraffic> since(std::vector<QueueTraffic> now, const std::vector<QueueTraffic>& then);
/// What a user may not expect of them, each line once: engines alike say the same.
std::vector<std::string> engine_notes(Machine&, const std::vector<size_t>& pes);

}  // namespace kernbench
