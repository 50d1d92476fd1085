// SPDX-License-Identifier: Apache-2.0
// Messages between the pe_ipcqs of two PEs, which are cut into segments (collectives rules §10). A segment carries its
// data and its description together. It is a posted message of the fabric on the path to the receiver, and its credit
// is another one on the path back.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/phase2/memory/range_value.h"
#include "kernbench/systemc_models/core/timed_call.h"
#include "kernbench/systemc_models/pe/pe_command.h"
#include "kernbench/systemc_models/pe/queue_ports.h"
#include "kernbench/systemc_models/pe/queue_statistics.h"

namespace kernbench::pe {

/// Times of a sent segment (collectives rules §10.7 to §10.11), ns.
struct SegmentTimes {
  double slot_ns = 0;     ///< it got its slot
  double grant_ns = 0;    ///< granted by vc_comm
  double arrival_ns = 0;  ///< of its header; in flit mode, of its last flit
  double visible_ns = 0;  ///< slot written
  double credit_ns = 0;   ///< the slot is free for the sender
};

/// Times of a segment's read from its slot, ns.
struct ReadTimes {
  double ready_ns = 0, start_ns = 0, end_ns = 0;
};

/// One send. Its segments share it; the last one deletes it.
struct QueueMessage {
  uint64_t nbytes = 0;
  uint64_t number = 0;   ///< in its queue, from 0
  double stands_ns = 0;  ///< time since when it is in the list, after earlier sends of its port
  Protocol protocol;
  std::vector<SegmentTimes> segments;
  // For a kernel's send; null for a driver's call, which has only timing.
  std::shared_ptr<const OpDesc> desc;       ///< the send
  std::shared_ptr<const RangeValue> value;  ///< its contents
};

/// A command of pe_ipcq: the data of a send or receive besides its PeCommand. The submitter keeps it until its
/// completion.
struct QueueCall {
  enum class Kind : uint8_t { send, receive, receive_any };
  Kind kind = Kind::send;
  uint32_t port = 0;                        ///< index of the PE's port; for receive_any: set when it has received
  std::vector<uint32_t> ports;              ///< receive_any; send_all: all its ports
  uint64_t nbytes = 0;                      ///< sent, or expected
  uint64_t seq = 0;                         ///< program order of the PE's calls
  uint64_t launch = 0;                      ///< of its kernel, set by pe_ipcq
  bool credit_blocks = true;                ///< receive: false if the receiver's attribute does not apply (copy_to_dst)
  double call_ns = 0;                       ///< cost of the call for its caller
  double protocol_ns = 0;                   ///< send: its protocol's delay, set by pe_ipcq
  std::shared_ptr<const OpDesc> desc;       ///< for a kernel; null: timing only
  std::shared_ptr<const RangeValue> value;  ///< send: its contents at submission

  // Progress, maintained by pe_ipcq.
  PeCommand* command = nullptr;
  PePort* submitted_by = nullptr;
  std::shared_ptr<QueueMessage> message;  ///< send: made when it stands behind the others; receive: the one it matches
  std::vector<std::shared_ptr<QueueMessage>> more_messages;  ///< send_all: those of its other ports
  std::vector<ReadTimes> reads;                              ///< receive: by segment
  uint32_t next = 0;  ///< send: segments with a slot; receive: segments that are ready
  uint32_t done = 0;  ///< send: segments released; receive: segments read

  /// Calls f(port, message) for each port of a send.
  template <class F>
  void for_each_port(F f) {
    f(port, message);
    for (size_t i = 0; i < more_messages.size(); ++i) f(ports[i + 1], more_messages[i]);
  }
};

/// A segment in flight, from the time it gets its slot until its credit has returned. The sender's pe_ipcq keeps it.
struct QueueSegment {
  std::shared_ptr<QueueMessage> message;
  uint32_t index = 0;
  uint64_t number = 0;  ///< in its queue, from 0 when the ports were opened
  uint32_t sender_port = 0, receiver_port = 0;
  uint64_t offset = 0, nbytes = 0;   ///< in the message
  QueueCall* sent_by = nullptr;      ///< until it is released
  QueueCall* received_by = nullptr;  ///< from the time when it is ready
  TimedCall credited;  ///< for a receive that waits until its credit reaches the sender (credit_blocks); called just
                       ///< before the credit counts
  // For pe_dma.
  const Route* route = nullptr;  ///< its path, and its credit's
  const Route* credit_route = nullptr;
  uint32_t sender_dma = 0, receiver_dma = 0;  ///< indices of the nodes
  uint32_t credit_bytes = 0;
  uint64_t seq = 0;        ///< of its send: program order within one instant
  uint64_t launch = 0;     ///< launch that it belongs to
  double drain_ns = 0;     ///< time of the inbound server
  SegmentAccount account;  ///< up to its current position
  // At the receiver.
  uint64_t slot_address = 0;
  double write_start_ns = 0;
  uint64_t copy_op_id = 0, read_op_id = 0;  ///< of its records; 0: no log
  // Items that carry it inside PEs: from pe_ipcq to pe_dma, and in the receiver in the other direction; and its credit
  // likewise.
  PeItem outgoing, arriving, credit, credit_back;
  QueueSegment* next_idle = nullptr;
  /// For a send_all: the same segment for the receivers at the other ports. All pass vc_comm as one.
  std::vector<QueueSegment*> copies;
  bool is_copy = false;

  /// Calls f(QueueSegment&) for it and its copies.
  template <class F>
  void for_each(F f) {
    f(*this);
    for (QueueSegment* c : copies) f(*c);
  }
  SegmentTimes& times() { return message->segments[index]; }
  double paced_ns() const { return message->protocol.paced_ns(nbytes); }
  bool last() const { return index + 1 == message->segments.size(); }
};

/// A segment in the queue of a server that collects all arrivals of an instant before it serves.
struct QueuedSegment {
  QueueSegment* segment = nullptr;
  double since_ns = 0;
  uint64_t seq = 0;        ///< of its call in this PE
  PePort* from = nullptr;  ///< for vc_comm: notified of its end
};

/// FIFO. Arrivals of one instant are ordered by program order of the calls, then by segment (§10.13).
class SegmentLine {
 public:
  bool empty() const { return line_.empty(); }
  void push(const QueuedSegment& s) {
    auto at = line_.end();
    while (at != line_.begin()) {
      const QueuedSegment& before = *std::prev(at);
      const bool earlier = femtoseconds(before.since_ns) < femtoseconds(s.since_ns);
      if (earlier || std::pair(before.seq, before.segment->index) < std::pair(s.seq, s.segment->index)) break;
      --at;
    }
    line_.insert(at, s);
  }
  QueuedSegment pop() {
    const QueuedSegment s = line_.front();
    line_.pop_front();
    return s;
  }

 private:
  std::deque<QueuedSegment> line_;
};

}  // namespace kernbench::pe
