// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_mmu.h"

#include <algorithm>
#include <unordered_set>

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::pe {

PeMmu::PeMmu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      PeBlock(static_cast<Component&>(*this)),
      page_bytes_(parameters.page_bytes),
      hit_ns_(parameters.tlb_hit_ns),
      miss_ns_(parameters.tlb_miss_ns),
      tlb_(parameters.tlb_entries) {}

ImplSpec PeMmu::spec() {
  return spec_of<Parameters>("builtin.pe_mmu", "pe_mmu", "a PE's MMU: virtual addresses, and the latency of its TLB")
      .overhead_is(Resource::mmu);
}

bool PeMmu::unmap(uint64_t address, uint64_t nbytes) {
  if (!table_.unmap(address, nbytes)) return false;
  tlb_.drop(address / page_bytes_, (address + std::max<uint64_t>(nbytes, 1) - 1) / page_bytes_);
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
  if (rows.ranges) {
    std::unordered_set<uint64_t> seen;
    for_each_range(virtual_addr, rows, [&](uint64_t at, uint64_t nbytes) {
      for (uint64_t page = at / page_bytes_; page <= (at + nbytes - 1) / page_bytes_; ++page) {
        if (seen.insert(page).second) ns += tlb_.look_up(page) ? hit_ns_ : miss_ns_;
      }
    });
    return ns;
  }
  uint64_t next_page = 0;  // pages below were looked up: rows come in address order
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

}  // namespace kernbench::pe
