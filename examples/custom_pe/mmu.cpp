// SPDX-License-Identifier: Apache-2.0
// Models: an MMU without a TLB: every transaction waits for a walk of the page table, always as long.
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/roles.h"

namespace {
using namespace kernbench;

struct WalkingMmuParameters : BlockParameters {
  uint64_t page_bytes = 2 << 20;
  double walk_ns = 0;
  template <class List>
  static void describe(List& list) {
    list.add(&WalkingMmuParameters::page_bytes, "page_bytes", "bytes", "alignment of virtual ranges")
        .min(64)
        .power_of_two();
    list.add(&WalkingMmuParameters::walk_ns, "walk_ns", "ns", "before every transaction").latency(Resource::mmu);
  }
};

class WalkingMmu : public Component, public PeBlock, public MmuRole {
 public:
  using Parameters = WalkingMmuParameters;
  CommandTargetSocket command_in{"command_in", *this};

  WalkingMmu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Component(name, config, checked(p)), PeBlock(static_cast<Component&>(*this)), parameters_(p) {}
  static ImplSpec spec() { return spec_of<Parameters>("custom.walking_mmu", "pe_mmu", "MMU without a TLB"); }

  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  void asked(PeItem& item, PePort&) override { item.answer_ns = parameters_.walk_ns; }  // by pe_dma

  uint64_t page_bytes() const override { return parameters_.page_bytes; }
  const VirtualMapping* map(std::shared_ptr<const VirtualMapping> m) override { return table_.map(std::move(m)); }
  bool unmap(uint64_t address, uint64_t nbytes) override { return table_.unmap(address, nbytes); }
  std::string nearest(uint64_t address) const override { return table_.nearest(address); }
  TensorRef translate(const TensorRef& ref) const override {
    TensorRef physical = ref;
    physical.translation = table_.translate(ref.addr, ref.span_bytes(), &physical.space);
    physical.addr = physical.translation->pieces.front().addr;
    return physical;
  }

 private:
  const Parameters parameters_;
  MappingTable table_;
};

KERNBENCH_REGISTER_COMPONENT(WalkingMmu)
}  // namespace
