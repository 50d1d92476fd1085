// SPDX-License-Identifier: Apache-2.0
// Models a PE's MMU: the mapped virtual addresses, and the cost of a look-up. Addresses of a command are translated
// exactly at its submission, for any page size. The TLB only determines the wait of the DMA before each memory
// transaction: tlb_hit_ns or tlb_miss_ns for each page that the transaction touches, in order of addresses. The TLB is
// fully associative with LRU replacement; an entry covers a page with all its mappings. docs/memory.md, docs/timing.md.
// Does not model page walks as memory traffic (a miss has a fixed cost), protection, or several page sizes.
#pragma once

#include "kernbench/systemc_models/pe/pe_block.h"
#include "kernbench/systemc_models/pe/roles.h"
#include "kernbench/systemc_models/pe/tlb.h"

namespace kernbench::pe {

struct PeMmuParameters : BlockParameters {
  uint64_t page_bytes = 2 << 20;
  uint32_t tlb_entries = 64;
  double tlb_hit_ns = 0, tlb_miss_ns = 0;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&PeMmuParameters::page_bytes, "page_bytes", "bytes",
             "page size of a TLB entry, and alignment of virtual ranges; a power of two")
        .min(64)
        .power_of_two()
        .direction(Direction::depth)
        .costs(CostClass::free)
        .of(Resource::mmu);
    list.add(&PeMmuParameters::tlb_entries, "tlb_entries", "pages", "entries of the fully associative LRU TLB")
        .depth()
        .of(Resource::mmu);
    list.add(&PeMmuParameters::tlb_hit_ns, "tlb_hit_ns", "ns",
             "delay of a memory transaction for each page that hits the TLB")
        .latency(Resource::mmu);
    list.add(&PeMmuParameters::tlb_miss_ns, "tlb_miss_ns", "ns",
             "delay of a memory transaction for each page that misses the TLB")
        .latency(Resource::mmu);
  }
};

class PeMmu : public Component, public PeBlock, public MmuRole {
 public:
  using Parameters = PeMmuParameters;
  CommandTargetSocket command_in{"command_in", *this};

  PeMmu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters&);
  static ImplSpec spec();

  // PeBlock.
  PeBlock* pe_block() override { return this; }
  CommandTargetSocket* command_target() override { return &command_in; }
  /// TLB time before a transaction of `asked_rows` at `asked_address`; updates the TLB.
  void asked(PeItem& item, PePort&) override { item.answer_ns = look_up_ns(item.asked_address, item.asked_rows); }

  // MmuRole.
  uint64_t page_bytes() const override { return page_bytes_; }
  const VirtualMapping* map(std::shared_ptr<const VirtualMapping> m) override { return table_.map(std::move(m)); }
  /// An unmapped range leaves the TLB.
  bool unmap(uint64_t address, uint64_t nbytes) override;
  std::string nearest(uint64_t address) const override { return table_.nearest(address); }
  TensorRef translate(const TensorRef&) const override;
  const MappingTable& table() const { return table_; }

 private:
  double look_up_ns(uint64_t virtual_addr, const Rows&);

  uint64_t page_bytes_;
  double hit_ns_, miss_ns_;
  MappingTable table_;
  Tlb tlb_;
};

}  // namespace kernbench::pe
