// Who watches a PE from outside: traces, waveforms, statistics. Costs one branch where nobody does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernbench/systemc_models/pe/pe_command.h"

namespace kernbench {

struct Pe;
struct QueueSegment;

/// What a server does. Each server is in one of these at every time, so their durations sum to the run's.
enum class Activity : uint8_t {
  idle,            ///< no item
  waits_for_slot,  ///< has an item, waits for the accel_slot
  service,         ///< serves an item (a DMA's service includes its waits for links and memory)
  queue_full       ///< has served an item, and the next queue has no room
};

/// What the scheduler's feed loop does.
enum class FeedActivity : uint8_t {
  idle,              ///< nothing to feed
  waits_for_window,  ///< the tiles in flight leave too few bytes of the reserved TCM for the next one
  waits_for_room     ///< the first stage's queue is full
};

enum class KernelActivity : uint8_t {
  idle,  ///< no kernel
  runs,
  waits  ///< for a command
};

/// The servers that a segment of a message between PEs passes, the first at its sender.
enum class QueueServer : uint8_t { comm, inbound, writer, reader };
constexpr size_t kQueueServers = 4;
/// Their names in traces, recordings and timelines.
constexpr const char* kQueueServerNames[kQueueServers] = {"COMM", "INBOUND", "SLOT_WRITE", "SLOT_READ"};
inline const char* name_of(QueueServer s) {
  return kQueueServerNames[static_cast<size_t>(s)];
}

/// Why a send or a receive stands still.
enum class QueueStall : uint8_t {
  no_slot,     ///< a send: no slot of the peer's ring is free as far as is known here
  no_message,  ///< a receive: its message's next segment is not visible
  credit       ///< a receive that has been read: its credit is not at the sender yet (credit_blocks)
};
/// What stands still, and what for: in traces and timelines.
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
  uint32_t fill = 0;                         ///< segments in its ring: visible, and not read
  uint32_t free_slots = 0;                   ///< of the peer's ring, as known here
  bool no_slot = false, no_message = false;  ///< a call stands still for that reason
};

/// All times in ns. Calls come in a deterministic order. Some tell intervals, at their end and never empty; those named
/// *_changed tell what is from t on, as it begins, t not before the present.
class PeObserver {
 public:
  virtual ~PeObserver() = default;
  /// `item` is null for idle; op_id is 0 where no log is attached.
  virtual void activity(const Pe&, Stage, unsigned /*server*/, Activity, const PeItem* /*item*/, uint64_t /*op_id*/,
                        double /*from*/, double /*to*/) {}
  /// A memory transaction of a DMA's item is granted: the call of FabricObserver::access_started() that comes next is
  /// of it.
  virtual void transaction_starts(const Pe&, const PeItem&, double /*t*/) {}
  /// A memory transaction of a DMA's item is done, and FabricObserver::access_done() of it was the call before: granted
  /// at `granted`, waited so long for links and for the memory.
  virtual void transaction(const Pe&, Stage, unsigned /*server*/, const PeItem&, double /*granted*/, double /*done*/,
                           double /*link_wait*/, double /*memory_wait*/) {}
  virtual void feed(const Pe&, FeedActivity, double /*from*/, double /*to*/) {}
  /// The kernel stood in tl.wait (or a synchronous call) for a command.
  virtual void kernel_wait(const Pe&, const PeCommand&, double /*from*/, double /*to*/) {}
  /// The kernel submits a command at t of its own clock, which may be ahead of time; and goes on at t of that clock
  /// with what it waited for of the command `seq`, whether it stood still or not: its slots (`sent`), or its end. Both
  /// come in the kernel's order.
  virtual void kernel_submits(const Pe&, const PeCommand&, double /*t*/) {}
  virtual void kernel_goes_on(const Pe&, uint64_t /*seq*/, bool /*sent*/, double /*t*/) {}
  /// The kernel did scalar work of its own: what tl.elapse says, and reading elements of what it has loaded.
  virtual void kernel_works(const Pe&, double /*from*/, double /*to*/) {}
  /// `item` is null for idle.
  virtual void server_changed(const Pe&, Stage, unsigned /*server*/, Activity, const PeItem* /*item*/,
                              uint64_t /*op_id*/, double /*t*/) {}
  /// An item takes a place in the queue of a stage; the stage of the item is that one.
  virtual void item_queued(const Pe&, Stage, const PeItem&, double /*t*/) {}
  /// So many items wait in the queue of a stage.
  virtual void queue_changed(const Pe&, Stage, size_t /*items*/, double /*t*/) {}
  virtual void feed_changed(const Pe&, FeedActivity, double /*t*/) {}
  /// So many tiles have been fed and have not left their last stage.
  virtual void tiles_changed(const Pe&, int64_t /*tiles*/, double /*t*/) {}
  virtual void kernel_changed(const Pe&, KernelActivity, double /*t*/) {}
  // Messages between PEs; ports by index (IpcqRole::ports).
  /// A launch has given the PE its ports.
  virtual void ports_opened(const Pe&, double /*t*/) {}
  virtual void port_changed(const Pe&, uint32_t /*port*/, const QueuePortState&, double /*t*/) {}
  /// A segment takes a slot of its peer's ring.
  virtual void slot_taken(const Pe&, const QueueSegment&, double /*t*/) {}
  /// Calls of a port stood still.
  virtual void queue_stall(const Pe&, uint32_t /*port*/, QueueStall, double /*from*/, double /*to*/) {}
  /// A server takes a segment at t; behind vc_comm's call its message is posted (FabricObserver::post_started). It
  /// holds it up to `to`, which is known then or later and may be ahead; with the reader's its account is complete.
  virtual void segment_taken(const Pe&, QueueServer, const QueueSegment&, double /*t*/) {}
  virtual void segment_served(const Pe&, QueueServer, const QueueSegment&, double /*from*/, double /*to*/) {}
  // Events of ADR-0014 D7; engine_start and engine_complete are the ends of a service.
  virtual void command_submitted(const Pe&, const PeCommand&, double /*t*/) {}
  virtual void sub_command_dispatched(const Pe&, const PeItem&, double /*t*/) {}
  /// All operands of a tile are in TCM.
  virtual void tile_ready(const Pe&, const PeItem&, double /*t*/) {}
  virtual void command_complete(const Pe&, const PeCommand&, double /*t*/) {}
};

}  // namespace kernbench
