// SPDX-License-Identifier: Apache-2.0
// Activity of the PEs' engines in a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/platform/run/record/run_record.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench {

/// For these PEs (indices in compiled order), PE by PE, from the start of the simulation to sim_ns.
std::vector<EngineReport> engine_reports(Machine&, const std::vector<size_t>& pes, double sim_ns);
/// Traffic of the inter-PE queues that end at these PEs, PE by PE.
std::vector<QueueTraffic> queue_traffic(Machine&, const std::vector<size_t>& pes);
/// The same for the last `ns`: minus the values reported before.
std::vector<EngineReport> since(std::vector<EngineReport> now, const std::vector<EngineReport>& then, double ns);
std::vector<QueueTraffic> since(std::vector<QueueTraffic> now, const std::vector<QueueTraffic>& then);
/// Limitations of the engines, each line once, because equal engines report equal ones.
std::vector<std::string> engine_notes(Machine&, const std::vector<size_t>& pes);

}  // namespace kernbench
