// What the engines of PEs did in a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/systemc_models/pe/queue_statistics.h"

namespace kernbench {

class JsonWriter;
class Platform;

struct EngineReport {
  std::string id;
  double busy_ns = 0;
  uint64_t ops = 0, bytes = 0;
  double flops = 0;
  double peak_ns = 0;        ///< what its flops take at its peak; matrix units only
  bool elementwise = false;  ///< a vector unit
  double utilization = 0;
  // With busy_ns sum to servers × sim_ns.
  double idle_ns = 0, slot_wait_ns = 0, queue_full_ns = 0;
  // Part of busy_ns (DMA).
  double link_wait_ns = 0, memory_wait_ns = 0;
  unsigned servers = 0;
  /// Of messages between PEs: why they stood still, and in how much of the time.
  std::vector<QueueServerStatistics::Stall> message_stalls = {};
};

/// Of these PEs (indices in compiled order), PE by PE, from the start of the simulation to sim_ns.
std::vector<EngineReport> engine_reports(Platform&, const std::vector<size_t>& pes, double sim_ns);
/// What came through the inter-PE queues that end at these PEs, PE by PE.
std::vector<QueueTraffic> queue_traffic(Platform&, const std::vector<size_t>& pes);
/// The same from an earlier time on, `ns` ago: less what was told then.
std::vector<EngineReport> since(std::vector<EngineReport> now, const std::vector<EngineReport>& then, double ns);
std::vector<QueueTraffic> since(std::vector<QueueTraffic> now, const std::vector<QueueTraffic>& then);
/// What a user may not expect of them, each line once: engines alike say the same.
std::vector<std::string> engine_notes(Platform&, const std::vector<size_t>& pes);
void write_engine_json(JsonWriter&, const EngineReport&);
void write_queue_json(JsonWriter&, const QueueTraffic&);
/// An object of its parts.
void write_account_json(JsonWriter&, const SegmentAccount&);

}  // namespace kernbench
