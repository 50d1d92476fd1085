// SPDX-License-Identifier: Apache-2.0
// Observers of a fabric, such as waveforms and recordings. Without one, each hook costs one branch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernbench/phase2/rooms.h"

namespace kernbench::core {
class Component;
}

namespace kernbench::fabric {

class FabricTransaction;
class MemoryTarget;
struct Link;

enum class MemoryStep : uint8_t { arrived, started, finished };

/// A message (in flit mode: a flit) that crosses a link. Times in ns.
struct LinkCrossing {
  bool response = false;
  bool first = true, last = true;  ///< flit: of its message
  uint32_t flit = 0;               ///< flit: its number in its message
  uint32_t ready_by = 0;           ///< flit: the flit of its message whose arrival made it ready, itself or the last
  /// The header of a message, whose data follow at the slowest link's rate; else a complete flit.
  bool header = true;
  double bytes = 0;
  double ready_ns = 0;   ///< ready to leave the block before the link
  double start_ns = 0;   ///< starts on the link; ideal links: equal to ready_ns
  double end_ns = 0;     ///< the link is free for the next; ideal links: equal to ready_ns
  double arrive_ns = 0;  ///< its header (the flit) is at the other end
};

/// All times in ns, not before the present; reservations are reported in advance.
class FabricObserver {
 public:
  virtual ~FabricObserver() = default;
  /// A message (in flit mode: a flit) starts on the link. Crossings of a transaction are reported in order of its path.
  virtual void link_crossed(const FabricTransaction&, const Link&, const LinkCrossing&) {}
  virtual void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double /*t*/) {}
  /// A transaction (in flit mode: a flit, ready there at `ready`) holds a channel of the memory in [from, to).
  virtual void channel_taken(const MemoryTarget&, const FabricTransaction&, size_t /*channel*/, double /*ready*/,
                             double /*from*/, double /*to*/) {}
  /// An initiator's transaction was granted; it is complete. Of a multicast, only the first destination's is reported.
  virtual void access_started(const Component&, const FabricTransaction&, double /*t*/) {}
  virtual void access_done(const Component&, const FabricTransaction&, double /*t*/) {}
  /// At a fork, `branch` gets a copy of flit `flit` of a multicast, which `from` has carried so far. In other link
  /// modes the message is copied, as flit 0.
  virtual void branched(const FabricTransaction& /*from*/, const FabricTransaction& /*branch*/, uint32_t /*flit*/) {}
  /// Of a reduction: `to` (in flit mode: its flit `flit`) has come as far as `from`, which it waited for: the last
  /// message of a sum, the memory's service, or the acknowledgement before a fork.
  virtual void joined(const FabricTransaction& /*from*/, const FabricTransaction& /*to*/, uint32_t /*flit*/) {}
  /// A posted message between PEs has left its initiator; its header (in flit mode: its last flit) has reached its
  /// destination.
  virtual void post_started(const Component&, const FabricTransaction&, double /*t*/) {}
  virtual void post_done(const Component&, const FabricTransaction&, double /*t*/) {}
};

}  // namespace kernbench::fabric
