// SPDX-License-Identifier: Apache-2.0
// Latency breakdown of messages between PEs (collectives rules §10.15): by segment, by queue, and the waits of a PE's
// servers and calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::pe {

/// Parts of a segment's time, in order. They sum to the time from the call of its send to the end of its slot read. ns.
struct SegmentAccount {
  double call_ns = 0;       ///< call of the send: overheads of pe_cpu and pe_ipcq
  double slot_wait_ns = 0;  ///< for a free slot
  double comm_wait_ns = 0;  ///< for vc_comm
  // In flight. In flit mode, drain is the zero-load time of the path without overheads and wires; the rest is link
  // queueing.
  double overhead_ns = 0, wire_ns = 0, link_queue_ns = 0, store_forward_ns = 0;
  double inbound_wait_ns = 0;  ///< for the inbound server
  double drain_ns = 0;
  double writer_wait_ns = 0, slot_write_ns = 0;
  double receive_wait_ns = 0;  ///< visible, waits for its receive
  double reader_wait_ns = 0, slot_read_ns = 0;

  void add(const SegmentAccount&);
};

struct SegmentPart {
  const char* name;
  double SegmentAccount::*ns;
};
inline constexpr SegmentPart kSegmentParts[] = {{"call_ns", &SegmentAccount::call_ns},
                                                {"slot_wait_ns", &SegmentAccount::slot_wait_ns},
                                                {"comm_wait_ns", &SegmentAccount::comm_wait_ns},
                                                {"overhead_ns", &SegmentAccount::overhead_ns},
                                                {"wire_ns", &SegmentAccount::wire_ns},
                                                {"link_queue_ns", &SegmentAccount::link_queue_ns},
                                                {"store_forward_ns", &SegmentAccount::store_forward_ns},
                                                {"inbound_wait_ns", &SegmentAccount::inbound_wait_ns},
                                                {"drain_ns", &SegmentAccount::drain_ns},
                                                {"writer_wait_ns", &SegmentAccount::writer_wait_ns},
                                                {"slot_write_ns", &SegmentAccount::slot_write_ns},
                                                {"receive_wait_ns", &SegmentAccount::receive_wait_ns},
                                                {"reader_wait_ns", &SegmentAccount::reader_wait_ns},
                                                {"slot_read_ns", &SegmentAccount::slot_read_ns}};

inline void SegmentAccount::add(const SegmentAccount& a) {
  for (const SegmentPart& p : kSegmentParts) this->*p.ns += a.*p.ns;
}

/// Traffic of a queue. A PE may have used a port in several launches.
struct QueueTraffic {
  std::string from, port, to, peer_port;  ///< PE and port of the sender, then of the receiver
  uint64_t messages = 0, segments = 0, bytes = 0;
  SegmentAccount account = {};  ///< sum over all segments
};

/// Total waiting time of waits that end in the order in which they began. ns.
class WaitsInOrder {
 public:
  void add(double from, double to) {
    sum_ns_ += std::max(0.0, to - std::max(from, until_));
    until_ = std::max(until_, to);
  }
  double ns() const { return sum_ns_; }

 private:
  double sum_ns_ = 0, until_ = 0;
};

/// The same for waits that end in any order. ns.
class Waits {
 public:
  void begin(double now) {
    if (waiting_++ == 0) since_ = now;
  }
  void end(double now) {
    if (--waiting_ == 0) sum_ns_ += now - since_;
  }
  double ns() const { return sum_ns_; }

 private:
  size_t waiting_ = 0;
  double since_ = 0, sum_ns_ = 0;
};

/// Statistics of a server of messages: vc_comm, the inbound server, the slot writer or the slot reader.
struct QueueServerStatistics {
  std::string name;  ///< "comm", "in", "wr", "rd"
  double busy_ns = 0;
  uint64_t ops = 0, bytes = 0;
  WaitsInOrder waits = {};  ///< for the server
  /// Reason for blocked traffic, such as "comm_busy", with its share of the time; there is at least one of each.
  struct Stall {
    const char* reason;
    double ns;
  };
  std::vector<Stall> stalls = {};
  void add(double ns, uint64_t nbytes) {
    busy_ns += ns;
    bytes += nbytes;
    ++ops;
  }
};

}  // namespace kernbench::pe
