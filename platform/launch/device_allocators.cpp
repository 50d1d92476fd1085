// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/device_allocators.h"

#include <algorithm>
#include <string>

#include "kernbench/phase2/op/translation.h"
#include "kernbench/platform/elaborate/pes.h"

namespace kernbench::launch {

namespace {

constexpr uint64_t kPageWithoutMmu = 2 << 20;
constexpr uint64_t kVirtualEnd = uint64_t{1} << 63;

std::string no_room(uint64_t nbytes, const std::string& pe, const std::string& owner, const FirstFitAllocator& a,
                    uint64_t size) {
  return std::to_string(nbytes) + " bytes for " + pe + " do not fit " + owner + " (" + std::to_string(a.free_bytes()) +
         " of " + std::to_string(size) + " bytes free)";
}

}  // namespace

DeviceAllocators::DeviceAllocators(const topology::Graph& graph, const Pes& pes) : graph_(graph), pes_(pes) {
  for (size_t p = 0; p < pes.count(); ++p) {
    if (const MmuRole* mmu = pes.pe(p).mmu) page_bytes_ = std::max(page_bytes_, mmu->page_bytes());
  }
  if (page_bytes_ == 0) page_bytes_ = kPageWithoutMmu;
  // A flat system may have memories above the 51-bit map.
  uint64_t base = kVirtualBase;
  for (const topology::Memory& m : graph.memories) {
    if (m.base >= kVirtualEnd || m.size > kVirtualEnd - m.base) return;
    base = std::max(base, m.base + m.size);
  }
  virtual_.emplace(base, kVirtualEnd - base, page_bytes_);
}

size_t DeviceAllocators::hbm_of(size_t pe) {
  const auto found = hbm_of_pe_.find(pe);
  return found != hbm_of_pe_.end() ? found->second : hbm_of_pe_.emplace(pe, pes_.local_memory(pe)).first->second;
}

FirstFitAllocator& DeviceAllocators::hbm_allocator(size_t memory) {
  const topology::Memory& m = graph_.memories[memory];
  return hbm_.try_emplace(memory, m.base, m.size, m.size >= (1 << 20) ? 4096 : 256).first->second;
}

uint64_t DeviceAllocators::allocate_hbm(size_t pe, uint64_t nbytes) {
  const size_t memory = hbm_of(pe);
  FirstFitAllocator& allocator = hbm_allocator(memory);
  if (const auto address = allocator.allocate(nbytes)) return *address;
  const topology::Memory& m = graph_.memories[memory];
  throw OutOfDeviceMemory(no_room(nbytes, graph_.pes[pe].id, graph_.nodes[m.node].id, allocator, m.size));
}

void DeviceAllocators::free_hbm(size_t pe, uint64_t address) {
  hbm_allocator(hbm_of(pe)).free(address);
}

uint64_t DeviceAllocators::allocate_tcm(size_t pe, uint64_t nbytes) {
  TcmRole* tcm = pes_.pe(pe).tcm;
  if (!tcm) throw OutOfDeviceMemory(pes_.pe(pe).id + ": has no pe_tcm");
  if (const auto address = tcm->allocator().allocate(nbytes)) return *address;
  const std::string& id = graph_.nodes[graph_.pes[pe].blocks.at("pe_tcm")].id;
  throw OutOfDeviceMemory(no_room(nbytes, pes_.pe(pe).id, id, tcm->allocator(), tcm->allocatable_bytes()));
}

void DeviceAllocators::free_tcm(size_t pe, uint64_t address) {
  pes_.pe(pe).tcm->allocator().free(address);
}

std::optional<uint64_t> DeviceAllocators::allocate_virtual(uint64_t nbytes) {
  if (!virtual_) return std::nullopt;
  if (const auto address = virtual_->allocate(nbytes)) return address;
  throw OutOfDeviceMemory(std::to_string(nbytes) + " bytes do not fit the virtual address space (" +
                          std::to_string(virtual_->free_bytes()) + " bytes free)");
}

}  // namespace kernbench::launch
