// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/switch_allocator.h"

namespace kernbench::fabric {

NamedClasses<SwitchAllocator>& SwitchAllocator::registry() {
  static NamedClasses<SwitchAllocator> registry("switch allocation");
  return registry;
}

namespace {

/// The next one after the last winner, round robin.
class RoundRobin : public SwitchAllocator {
 public:
  bool goes_before(const SwitchRequest& a, const SwitchRequest& b, uint64_t last) const override {
    return a.rank - last - 1 < b.rank - last - 1;
  }
};

/// First come, first served, like links without buffers.
class OldestFirst : public SwitchAllocator {
 public:
  bool goes_before(const SwitchRequest& a, const SwitchRequest& b, uint64_t) const override { return a.turn < b.turn; }
  bool at_arrival() const override { return true; }
};

}  // namespace

KERNBENCH_REGISTER_NAMED(SwitchAllocator, RoundRobin, "round_robin", "round robin over the inputs' virtual channels")
KERNBENCH_REGISTER_NAMED(SwitchAllocator, OldestFirst, "oldest_first", "oldest ready flit first")

}  // namespace kernbench::fabric
