// The way of a probed transaction, node by node, from the rules (timing contract §2, §3): where each nanosecond of the
// lone latency is paid. Its sum is compared with the simulated latency by the checks.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernbench/platform/tools/probe.h"

namespace kernbench {

/// A node on the way and the edge that leaves it. Times in ns from the grant.
struct ProbeHop {
  static constexpr uint32_t kNoEdge = std::numeric_limits<uint32_t>::max();
  uint32_t node = 0;            ///< of the graph
  bool response = false;        ///< on the way back
  double arrive_ns = 0;         ///< the header is here; flit mode: the first flit
  double overhead_ns = 0;       ///< the node's
  double store_forward_ns = 0;  ///< wait for the rest of the data
  double drain_ns = 0;          ///< data served here (memory) or awaited here (initiator, after a routed read's header)
  uint32_t edge = kNoEdge;      ///< the edge that leaves; none at the end
  double transfer_ns = 0;       ///< flit mode: the first flit onto that edge
  double wire_ns = 0;           ///< of that edge
  double bw_gbs = 0;            ///< of that edge, in the data's direction where the way back is not listed; 0: no limit
  bool bottleneck = false;      ///< that edge carries the data and is as narrow as any that does

  double leave_ns() const { return arrive_ns + overhead_ns + store_forward_ns + drain_ns; }
};

struct ProbeTrace {
  std::vector<ProbeHop> hops;  ///< the request's way; where responses are routed, then the way back
  double drain_ns = 0;         ///< serialisation: transfers and drains of all hops
  double total_ns = 0;
  double memory_bw_gbs = 0;           ///< what the memory itself can serve, all channels together; 0: no limit
  bool memory_is_bottleneck = false;  ///< less than every edge on the data's way
};

/// What a memory can serve at most, GB/s, of data that comes or goes by an edge of `edge_bw_gbs`; 0: no limit.
double memory_bandwidth(Platform&, uint32_t memory, double edge_bw_gbs);

/// InputError if the transaction does not fit its memory.
ProbeTrace trace_hops(Platform&, const ProbeCase&, uint64_t nbytes);

}  // namespace kernbench
