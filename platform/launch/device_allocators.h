// SPDX-License-Identifier: Apache-2.0
// The host's allocators of device memory: first fit with coalescing. There is one per (SIP, cube, PE), separately for
// HBM and TCM, and one for virtual addresses, which all PEs share. They only manage addresses and do not access memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>

#include "kernbench/kernel_api/first_fit_allocator.h"
#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {
class Pes;
}
namespace kernbench {
class Platform;
}

namespace kernbench {
namespace topology {
struct Graph;
}

}  // namespace kernbench
namespace kernbench::launch {
/// No memory left: one line with the requested size, the free size, the owner and the purpose.
class OutOfDeviceMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One per machine. PEs are indices in compiled order.
class DeviceAllocators {
 public:
  DeviceAllocators(const topology::Graph&, const Pes&);

  /// In the PE's nearest HBM (its own slice if it has one; PEs without one share an allocator), at a multiple of 4 KiB
  /// (256 bytes in memories under 1 MiB). OutOfDeviceMemory.
  uint64_t allocate_hbm(size_t pe, uint64_t nbytes);
  void free_hbm(size_t pe, uint64_t address);
  /// The present state of each HBM with an allocation, by its index in the graph's memories.
  const std::map<size_t, FirstFitAllocator>& hbm() const { return hbm_; }
  /// In the PE's TCM, beside the kernels' buffers; addresses are local to the PE. OutOfDeviceMemory.
  uint64_t allocate_tcm(size_t pe, uint64_t nbytes);
  void free_tcm(size_t pe, uint64_t address);
  /// A virtual range at a page boundary (of the largest page_bytes in the system). None if the system's physical
  /// addresses leave no room above them. OutOfDeviceMemory if the room is used up.
  std::optional<uint64_t> allocate_virtual(uint64_t nbytes);
  void free_virtual(uint64_t address) { virtual_->free(address); }

  uint64_t page_bytes() const { return page_bytes_; }

 private:
  size_t hbm_of(size_t pe);
  FirstFitAllocator& hbm_allocator(size_t memory);

  const topology::Graph& graph_;
  const Pes& pes_;
  std::map<size_t, size_t> hbm_of_pe_;       ///< index of the memory
  std::map<size_t, FirstFitAllocator> hbm_;  ///< by memory
  uint64_t page_bytes_ = 0;
  std::optional<FirstFitAllocator> virtual_;
};

/// The allocators of a platform's host.
DeviceAllocators& allocators_of(Platform&);

}  // namespace kernbench::launch
