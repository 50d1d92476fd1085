// Who takes a link next of the flits that could (docs/flow_control.md): what `allocation` names, where nodes have
// finite buffers. One of your own is one file: an heir, registered by a line (examples/custom_router):
//
//   KERNBENCH_REGISTER_NAMED(SwitchAllocator, Shortest, "shortest", "the shortest message first")
#pragma once

#include <cstdint>

#include "kernbench/systemc_models/core/named_registry.h"

namespace kernbench {

class FabricTransaction;

/// A queue whose first flit could take the link.
struct SwitchRequest {
  uint64_t rank = 0;  ///< of the queue, among all of its node: by port and virtual channel
  uint64_t turn = 0;  ///< of the flit, among all of the system: when it became ready
  uint32_t flit = 0;  ///< its number in its message
  bool response = false;
  const FabricTransaction* transaction = nullptr;  ///< its message
};

class SwitchAllocator {
 public:
  virtual ~SwitchAllocator() = default;
  /// Whether `a` takes the link before `b`; `last`: the rank of who had it last. A strict order.
  virtual bool goes_before(const SwitchRequest& a, const SwitchRequest& b, uint64_t last) const = 0;
  /// Decided at each arrival, so that whoever is there first goes; else when all that become ready at an instant have.
  virtual bool at_arrival() const { return false; }
  static NamedClasses<SwitchAllocator>& registry();
};

}  // namespace kernbench
