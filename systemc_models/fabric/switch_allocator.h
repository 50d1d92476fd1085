// SPDX-License-Identifier: Apache-2.0
// Arbitration of a link among flits (docs/flow_control.md), selected by the attribute `allocation` of nodes with finite
// buffers. A user-defined allocator is one file: a derived class and one registration line (examples/custom_router):
//
//   KERNBENCH_REGISTER_NAMED(SwitchAllocator, Shortest, "shortest", "the shortest message first")
#pragma once

#include <cstdint>

#include "kernbench/systemc_models/core/named_registry.h"

namespace kernbench::fabric {

class FabricTransaction;

/// A queue whose first flit may take the link.
struct SwitchRequest {
  uint64_t rank = 0;  ///< of the queue, among all queues of its node: by port and virtual channel
  uint64_t turn = 0;  ///< of the flit, in the complete system: order of readiness
  uint32_t flit = 0;  ///< its number in its message
  bool response = false;
  const FabricTransaction* transaction = nullptr;  ///< its message
};

class SwitchAllocator {
 public:
  virtual ~SwitchAllocator() = default;
  /// Whether `a` takes the link before `b`. `last`: rank of the previous winner. A strict order.
  virtual bool goes_before(const SwitchRequest& a, const SwitchRequest& b, uint64_t last) const = 0;
  /// Decided at each arrival, so that the first arrival wins; else after all flits of an instant are ready.
  virtual bool at_arrival() const { return false; }
  static NamedClasses<SwitchAllocator>& registry();
};

}  // namespace kernbench::fabric
