// SPDX-License-Identifier: Apache-2.0
// Observers of a PE, such as traces, waveforms and statistics. Without one, each hook costs one branch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench::pe {

struct Pe;
struct QueueSegment;

/// Activity of a server. Each server has exactly one at any time, so the durations sum to the run time.
enum class Activity : uint8_t {
  idle,            ///< no item
  waits_for_slot,  ///< has an item, waits for the accel_slot
  service,         ///< serves an item (a DMA's service includes its waits for links and memory)
  queue_full       ///< has served an item; the next queue is full
};

/// Activity of the scheduler's feed loop.
enum class FeedActivity : uint8_t {
  idle,              ///< nothing to feed
  waits_for_window,  ///< the tiles in flight leave too little reserved TCM for the next one
  waits_for_room     ///< the first stage's queue is full
};

enum class KernelActivity : uint8_t {
  idle,  ///< no kernel
  runs,
  waits  ///< for a command
};

/// The servers that a segment of a message between PEs passes, starting at its sender.
enum class QueueServer : uint8_t { comm, inbound, writer, reader };
constexpr size_t kQueueServers = 4;
/// Their names in traces, recordings and timelines.
constexpr const char* kQueueServerNames[kQueueServers] = {"COMM", "INBOUND", "SLOT_WRITE", "SLOT_READ"};
inline const char* name_of(QueueServer s) {
  return kQueueServerNames[static_cast<size_t>(s)];
}

/// Reason why a send or a receive is blocked.
enum class QueueStall : uint8_t {
  no_slot,     ///< a send: the peer's ring has no free slot, as far as known here
  no_message,  ///< a receive: the next segment of its message is not visible
  credit       ///< a receive whose data were read: its credit has not reached the sender (credit_blocks)
};
/// The blocked call and its reason, for traces and timelines.
inline const char* call_of(QueueStall s) {
  constexpr const char* kCalls[] = {"send", "recv", "credit"};
  return kCalls[static_cast<size_t>(s)];
}
inline const char* name_of(QueueStall s) {
  constexpr const char* kNames[] = {"waiting for slot", "waiting for message", "waiting for credit"};
  return kNames[static_cast<size_t>(s)];
}

/// A port of inter-PE queues.
struct QueuePortState {
  uint32_t fill = 0;                         ///< segments in its ring that are visible and unread
  uint32_t free_slots = 0;                   ///< of the peer's ring, as known here
  bool no_slot = false, no_message = false;  ///< a call is blocked for that reason
};

/// All times in ns. Calls come in a deterministic order. Some report intervals, at their end and never empty. Those
/// named *_changed report the state from t on, at its start, with t not before the present.
class PeObserver {
 public:
  virtual ~PeObserver() = default;
  /// `item` is null for idle; op_id is 0 without a log.
  virtual void activity(const Pe&, Stage, unsigned /*server*/, Activity, const PeItem* /*item*/, uint64_t /*op_id*/,
                        double /*from*/, double /*to*/) {}
  /// A memory transaction of a DMA's item is granted. The next call of FabricObserver::access_started() belongs to it.
  virtual void transaction_starts(const Pe&, const PeItem&, double /*t*/) {}
  /// A memory transaction of a DMA's item is done, granted at `granted`, with its waits for links and memory. The
  /// previous call was its FabricObserver::access_done().
  virtual void transaction(const Pe&, Stage, unsigned /*server*/, const PeItem&, double /*granted*/, double /*done*/,
                           double /*link_wait*/, double /*memory_wait*/) {}
  virtual void feed(const Pe&, FeedActivity, double /*from*/, double /*to*/) {}
  /// The kernel was blocked in tl.wait (or a synchronous call) for a command.
  virtual void kernel_wait(const Pe&, const PeCommand&, double /*from*/, double /*to*/) {}
  /// kernel_submits: the kernel submits a command at t of its own clock, which may be ahead of the simulation. The
  /// other call: the kernel continues at t of that clock after a wait for the command `seq`, blocked or not: for its
  /// slots (`sent`), or its end. Both come in the kernel's order.
  virtual void kernel_submits(const Pe&, const PeCommand&, double /*t*/) {}
  virtual void kernel_goes_on(const Pe&, uint64_t /*seq*/, bool /*sent*/, double /*t*/) {}
  /// tl.wait_until pauses between two polls. Called at the start of the pause.
  virtual void kernel_polls(const Pe&, double /*from*/, double /*to*/) {}
  /// The kernel did scalar work: tl.elapse, or reading elements of loaded tensors. SourceLine: that of the longest
  /// tl.elapse.
  virtual void kernel_works(const Pe&, double /*from*/, double /*to*/, const SourceLine&) {}
  /// `item` is null for idle.
  virtual void server_changed(const Pe&, Stage, unsigned /*server*/, Activity, const PeItem* /*item*/,
                              uint64_t /*op_id*/, double /*t*/) {}
  /// An item enters the queue of a stage, which is the item's stage.
  virtual void item_queued(const Pe&, Stage, const PeItem&, double /*t*/) {}
  /// Number of items waiting in the queue of a stage.
  virtual void queue_changed(const Pe&, Stage, size_t /*items*/, double /*t*/) {}
  virtual void feed_changed(const Pe&, FeedActivity, double /*t*/) {}
  /// Number of tiles that were fed and have not left their last stage.
  virtual void tiles_changed(const Pe&, int64_t /*tiles*/, double /*t*/) {}
  virtual void kernel_changed(const Pe&, KernelActivity, double /*t*/) {}
  // Messages between PEs; ports by index (IpcqRole::ports).
  /// A launch has opened the PE's ports.
  virtual void ports_opened(const Pe&, double /*t*/) {}
  virtual void port_changed(const Pe&, uint32_t /*port*/, const QueuePortState&, double /*t*/) {}
  /// A segment takes a slot of its peer's ring.
  virtual void slot_taken(const Pe&, const QueueSegment&, double /*t*/) {}
  /// Calls of a port were blocked.
  virtual void queue_stall(const Pe&, uint32_t /*port*/, QueueStall, double /*from*/, double /*to*/) {}
  /// A server takes a segment at t; after the call for vc_comm, its message is posted (FabricObserver::post_started).
  /// The server is occupied until `to`, which may be known only later, and may be in the future. After the call for the
  /// reader, the latency breakdown is complete.
  virtual void segment_taken(const Pe&, QueueServer, const QueueSegment&, double /*t*/) {}
  virtual void segment_served(const Pe&, QueueServer, const QueueSegment&, double /*from*/, double /*to*/) {}
  // Events of ADR-0014 D7; engine_start and engine_complete are the ends of a service.
  virtual void command_submitted(const Pe&, const PeCommand&, double /*t*/) {}
  virtual void sub_command_dispatched(const Pe&, const PeItem&, double /*t*/) {}
  /// All operands of a tile are in TCM.
  virtual void tile_ready(const Pe&, const PeItem&, double /*t*/) {}
  virtual void command_complete(const Pe&, const PeCommand&, double /*t*/) {}
};

}  // namespace kernbench::pe
