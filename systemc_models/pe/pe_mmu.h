// Models: a PE's MMU: which virtual addresses are mapped, and what a look-up costs. A command's addresses are
// translated at its submission, exactly, whatever the page size; the TLB only decides how long the DMA waits before
// each of its memory transactions: tlb_hit_ns or tlb_miss_ns for every page that the transaction touches, in order of
// address. The TLB is fully associative with LRU replacement; one entry holds a page with all mappings in it.
// docs/memory.md, docs/timing.md.
// Does not model: page walks as memory traffic (a miss is a fixed cost), protection, pages of several sizes.
//
// Parameters: page_bytes (bytes, 2 MiB, a power of two), tlb_entries (pages, 64), tlb_hit_ns, tlb_miss_ns (ns, 0).
#pragma once

#include "kernbench/systemc_models/core/component.h"
#include "kernbench/systemc_models/pe/mapping_table.h"
#include "kernbench/systemc_models/pe/tlb.h"

namespace kernbench {

class PeMmu : public Component {
 public:
  PeMmu(sc_core::sc_module_name name, const ComponentConfig& config);
  static ImplSpec spec();

  uint64_t page_bytes() const { return page_bytes_; }

  /// As MappingTable's; a range that is unmapped leaves the TLB.
  const VirtualMapping* map(std::shared_ptr<const VirtualMapping> m) { return table_.map(std::move(m)); }
  bool unmap(uint64_t addr, uint64_t nbytes);
  const MappingTable& table() const { return table_; }

  /// The tensor at a virtual address as the memories know it. TranslationFault.
  TensorRef translate(const TensorRef&) const;
  /// What the TLB costs before a transaction of these rows at a virtual address, ns; changes what is in it.
  double look_up_ns(uint64_t virtual_addr, const Rows&);

 private:
  uint64_t page_bytes_;
  double hit_ns_, miss_ns_;
  MappingTable table_;
  Tlb tlb_;
};

}  // namespace kernbench
