// Who watches a fabric from outside: waveforms, recordings. Costs one branch where nobody does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernbench {

class Component;
class FabricTransaction;
class MemoryTarget;
struct Link;

enum class MemoryStep : uint8_t { arrived, started, finished };

/// A message (in flit mode: a flit) on its way over a link. Times in ns.
struct LinkCrossing {
  bool response = false;
  bool first = true, last = true;  ///< flit: of its message
  uint32_t flit = 0;               ///< flit: its number in its message
  uint32_t ready_by = 0;  ///< flit: the one of its message by whose arrival it became ready, itself or the last
  /// A message's header, behind which its data follow at the slowest link's pace; else all of a flit.
  bool header = true;
  double bytes = 0;
  double ready_ns = 0;   ///< ready to leave the block before the link
  double start_ns = 0;   ///< takes the link; ideal links: is ready
  double end_ns = 0;     ///< the link is free for the next; ideal links: is ready
  double arrive_ns = 0;  ///< its header (the flit) is at the other end
};

/// All times in ns, not before the present; what is reserved is told ahead.
class FabricObserver {
 public:
  virtual ~FabricObserver() = default;
  /// A message (in flit mode: a flit) takes the link. A transaction's crossings come in the order of its way.
  virtual void link_crossed(const FabricTransaction&, const Link&, const LinkCrossing&) {}
  virtual void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double /*t*/) {}
  /// A transaction (in flit mode: a flit, which is ready there at `ready`) holds a channel of the memory in [from, to).
  virtual void channel_taken(const MemoryTarget&, const FabricTransaction&, size_t /*channel*/, double /*ready*/,
                             double /*from*/, double /*to*/) {}
  /// An initiator's transaction was granted; it is complete.
  virtual void access_started(const Component&, const FabricTransaction&, double /*t*/) {}
  virtual void access_done(const Component&, const FabricTransaction&, double /*t*/) {}
  /// A message between PEs, which is posted, has left its initiator; its header (in flit mode: its last flit) is
  /// at the block where it ends.
  virtual void post_started(const Component&, const FabricTransaction&, double /*t*/) {}
  virtual void post_done(const Component&, const FabricTransaction&, double /*t*/) {}
};

}  // namespace kernbench
