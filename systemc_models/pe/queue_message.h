// SPDX-License-Identifier: Apache-2.0
// What moves between the pe_ipcqs of two PEs: messages, cut into segments (collectives rules §10). A segment carries
// its data and description in one; it is a posted message of the fabric on its way to the receiver, and its credit is
// one on the way back.
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
#include "kernbench/systemc_models/pe/queue_statistics.h"

namespace kernbench::pe {

/// When a segment of a sent message was where (collectives rules §10.7 to §10.11), ns.
struct SegmentTimes {
  double slot_ns = 0;     ///< took its slot
  double grant_ns = 0;    ///< granted by vc_comm
  double arrival_ns = 0;  ///< of its header; flit mode: of its last flit
  double visible_ns = 0;  ///< slot written
  double credit_ns = 0;   ///< the slot is free for the sender
};

/// When a segment was read out of its slot, ns.
struct ReadTimes {
  double ready_ns = 0, start_ns = 0, end_ns = 0;
};

/// One send. Shared by its segments, the last of which to be forgotten ends it.
struct QueueMessage {
  uint64_t nbytes = 0;
  uint64_t number = 0;   ///< in its queue, from 0
  double stands_ns = 0;  ///< behind those of earlier sends of its port, since then
  std::vector<SegmentTimes> segments;
  // Of a kernel's; null where a driver plays calls, timing only.
  std::shared_ptr<const OpDesc> desc;       ///< the send
  std::shared_ptr<const RangeValue> value;  ///< what it sends
};

/// A command of pe_ipcq: what a send or a receive is beside its PeCommand. Kept by who submits until it is complete.
struct QueueCall {
  enum class Kind : uint8_t { send, receive, receive_any };
  Kind kind = Kind::send;
  uint32_t port = 0;            ///< index of the PE's port; receive_any: filled in when it has taken one
  std::vector<uint32_t> ports;  ///< receive_any; send: all its ports, where it has several (send_all)
  uint64_t nbytes = 0;          ///< sent, or expected
  uint64_t seq = 0;             ///< program order among the PE's calls
  bool credit_blocks = true;    ///< receive: false where the receiver's attribute is not to act on it (copy_to_dst)
  double call_ns = 0;           ///< what the call has cost who made it
  std::shared_ptr<const OpDesc> desc;       ///< a kernel's; null: timing only
  std::shared_ptr<const RangeValue> value;  ///< send: what it sends, taken at its submission

  // Progress, kept by pe_ipcq.
  PeCommand* command = nullptr;
  PePort* submitted_by = nullptr;
  std::shared_ptr<QueueMessage> message;  ///< send: made when it stands behind the others; receive: the one it matches
  std::vector<std::shared_ptr<QueueMessage>> more_messages;  ///< send_all: of its ports after the first
  std::vector<ReadTimes> reads;           ///< receive: by segment
  uint32_t next = 0;                      ///< send: segments with a slot; receive: segments that are ready
  uint32_t done = 0;                      ///< send: segments released; receive: segments read

  /// Calls f(port, message) for each port of a send.
  template <class F>
  void for_each_port(F f) {
    f(port, message);
    more_messages.resize(ports.empty() ? 0 : ports.size() - 1);
    for (size_t i = 0; i < more_messages.size(); ++i) f(ports[i + 1], more_messages[i]);
  }
};

/// A segment on its way, from the slot that it takes until its credit is back. The sender's pe_ipcq keeps it.
struct QueueSegment {
  std::shared_ptr<QueueMessage> message;
  uint32_t index = 0;
  uint64_t number = 0;  ///< in its queue, from 0 at the opening of the ports
  uint32_t sender_port = 0, receiver_port = 0;
  uint64_t offset = 0, nbytes = 0;   ///< in the message
  QueueCall* sent_by = nullptr;      ///< until it is released
  QueueCall* received_by = nullptr;  ///< from when it is ready
  TimedCall credited;  ///< for who waits until its credit is at the sender (credit_blocks), just before that counts
  // For pe_dma.
  const Route* route = nullptr;  ///< its way, and its credit's
  const Route* credit_route = nullptr;
  uint32_t sender_dma = 0, receiver_dma = 0;  ///< indices of the nodes
  uint32_t credit_bytes = 0;
  uint64_t seq = 0;        ///< of its send: program order at one instant
  uint64_t launch = 0;     ///< whose it is
  double drain_ns = 0;     ///< what the inbound server is held for
  SegmentAccount account;  ///< as far as it has come
  // At the receiver.
  uint64_t slot_address = 0;
  double write_start_ns = 0;
  uint64_t copy_op_id = 0, read_op_id = 0;  ///< of its records; 0: nothing is logged
  // What it travels as inside PEs: from pe_ipcq to pe_dma and, at the receiver, the other way; and its credit likewise.
  PeItem outgoing, arriving, credit, credit_back;
  QueueSegment* next_idle = nullptr;
  /// Of a send_all: the same segment for the receivers behind the other ports. It passes vc_comm once.
  std::vector<QueueSegment*> copies;
  bool is_copy = false;

  /// Calls f(QueueSegment&) for it and its copies.
  template <class F>
  void for_each(F f) {
    f(*this);
    for (QueueSegment* c : copies) f(*c);
  }
  SegmentTimes& times() { return message->segments[index]; }
  bool last() const { return index + 1 == message->segments.size(); }
};

/// A segment in the line of a server that collects what comes at an instant before it serves.
struct QueuedSegment {
  QueueSegment* segment = nullptr;
  double since_ns = 0;
  uint64_t seq = 0;        ///< of the call that it belongs to, on this PE
  PePort* from = nullptr;  ///< vc_comm: whom to tell of its end
};

/// FIFO; what comes at one instant in program order of the calls, then in order of segments (§10.13).
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
