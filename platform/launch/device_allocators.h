// SPDX-License-Identifier: Apache-2.0
// The host's allocators of device memory: first fit with coalescing, one for each (SIP, cube, PE), HBM and TCM apart,
// and one of virtual addresses, which all PEs share. They hand out addresses and touch no memory.
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
/// No room: one line with the size asked, the size free, the owner, and for whom.
class OutOfDeviceMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One per machine. PEs are indices in compiled order.
class DeviceAllocators {
 public:
  DeviceAllocators(const topology::Graph&, const Pes&);

  /// In the PE's nearest HBM (its own slice where it has one; PEs without share an allocator), at a multiple of 4 KiB
  /// (256 bytes in memories under 1 MiB). OutOfDeviceMemory.
  uint64_t allocate_hbm(size_t pe, uint64_t nbytes);
  void free_hbm(size_t pe, uint64_t address);
  /// Of each HBM that was asked for any, by its index in the graph's memories: as it is now.
  const std::map<size_t, FirstFitAllocator>& hbm() const { return hbm_; }
  /// In the PE's TCM, beside what kernels have there: addresses are local to the PE. OutOfDeviceMemory.
  uint64_t allocate_tcm(size_t pe, uint64_t nbytes);
  void free_tcm(size_t pe, uint64_t address);
  /// A virtual range at a page boundary (of the largest page_bytes in the system); none where the system's own
  /// addresses leave no room above them. OutOfDeviceMemory where they do and it is used up.
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

/// Those of a platform's host.
DeviceAllocators& allocators_of(Platform&);

}  // namespace kernbench::launch
