// Who watches a fabric from outside: waveforms. Costs one branch where nobody does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernbench {

class Component;
class FabricTransaction;
class MemoryTarget;
struct Link;

enum class MemoryStep : uint8_t { arrived, started, finished };

/// All times in ns, not before the present; what is reserved is told ahead.
class FabricObserver {
 public:
  virtual ~FabricObserver() = default;
  /// A message (in flit mode: a flit) was ready for the link at `ready` and holds it in [from, to).
  virtual void link_taken(const Link&, double /*ready*/, double /*from*/, double /*to*/, double /*bytes*/) {}
  virtual void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep, double /*t*/) {}
  /// A transaction (in flit mode: a flit) holds a channel of the memory in [from, to).
  virtual void channel_taken(const MemoryTarget&, size_t /*channel*/, double /*from*/, double /*to*/) {}
  /// An initiator's transaction was granted; it is complete.
  virtual void access_started(const Component&, const FabricTransaction&, double /*t*/) {}
  virtual void access_done(const Component&, const FabricTransaction&, double /*t*/) {}
};

}  // namespace kernbench
