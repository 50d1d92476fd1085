#include "kernbench/systemc_models/pe/pe_mmu.h"

#include <algorithm>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

namespace {

constexpr int64_t kDefaultPage = 2 << 20;
constexpr int64_t kDefaultEntries = 64;

AttrSpec cost(const char* name, const char* help) {
  AttrSpec a;
  a.name = name;
  a.unit = "ns";
  a.help = help;
  a.default_value = 0.0;
  a.min = 0;
  return a;
}

}  // namespace

PeMmu::PeMmu(sc_core::sc_module_name name, const ComponentConfig& config)
    : Component(name, config),
      page_bytes_(static_cast<uint64_t>(config.attributes->integer("page_bytes", kDefaultPage))),
      hit_ns_(config.attributes->number("tlb_hit_ns", 0)),
      miss_ns_(config.attributes->number("tlb_miss_ns", 0)),
      tlb_(static_cast<size_t>(config.attributes->integer("tlb_entries", kDefaultEntries))) {}

ImplSpec PeMmu::spec() {
  AttrSpec page;
  page.name = "page_bytes";
  page.type = AttrType::integer;
  page.unit = "bytes";
  page.help = "what one TLB entry holds, and the alignment of virtual ranges; a power of two";
  page.default_value = kDefaultPage;
  page.min = 64;
  page.power_of_two = true;
  AttrSpec entries = count_attribute("tlb_entries", kDefaultEntries, "of the fully associative LRU TLB");
  entries.unit = "pages";
  return {"builtin.pe_mmu",
          "pe_mmu",
          "a PE's MMU: virtual addresses, and what a TLB costs",
          {overhead_attribute(), page, entries,
           cost("tlb_hit_ns", "before a memory transaction, for each page it touches that is in the TLB"),
           cost("tlb_miss_ns", "the same for a page that is not")}};
}

bool PeMmu::unmap(uint64_t addr, uint64_t nbytes) {
  if (!table_.unmap(addr, nbytes)) return false;
  tlb_.drop(addr / page_bytes_, (addr + std::max<uint64_t>(nbytes, 1) - 1) / page_bytes_);
  return true;
}

TensorRef PeMmu::translate(const TensorRef& ref) const {
  TensorRef physical = ref;
  physical.translation = table_.translate(ref.addr, ref.span_bytes(), &physical.space);
  physical.addr = physical.translation->pieces.front().addr;
  return physical;
}

double PeMmu::look_up_ns(uint64_t virtual_addr, const Rows& rows) {
  if (hit_ns_ == 0 && miss_ns_ == 0) return 0;
  double ns = 0;
  uint64_t next_page = 0;  // pages below have been looked up: rows come in order of address
  for (uint64_t r = 0; r < rows.count; ++r) {
    const uint64_t first = virtual_addr + r * rows.stride;
    const uint64_t last = (first + std::max<uint64_t>(rows.bytes, 1) - 1) / page_bytes_;
    for (uint64_t page = std::max(next_page, first / page_bytes_); page <= last; ++page) {
      ns += tlb_.look_up(page) ? hit_ns_ : miss_ns_;
      next_page = page + 1;
    }
  }
  return ns;
}

KERNBENCH_REGISTER_COMPONENT(PeMmu)

}  // namespace kernbench
