// SPDX-License-Identifier: Apache-2.0
// First-fit allocator of address ranges with coalescing, for a PE's TCM and the host's HBM slices.
//
// It manages addresses and accesses no memory. A freed range merges with its free neighbours immediately, so no two
// free ranges are adjacent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kernbench {

class FirstFitAllocator {
 public:
  /// Manages [base, base + size), bytes. Addresses are multiples of `alignment` (a power of two, else
  /// std::invalid_argument), and sizes are rounded up to it. An unaligned base or end loses the remainder.
  FirstFitAllocator(uint64_t base, uint64_t size, uint64_t alignment = 64);

  /// The lowest free range that fits; none if no free range is large enough. 0 bytes take one alignment unit.
  std::optional<uint64_t> allocate(uint64_t nbytes);
  /// Frees a range. std::invalid_argument for an address that is not allocated. Allocates no memory itself, so
  /// destructors may call it.
  void free(uint64_t addr);

  uint64_t capacity() const { return capacity_; }
  uint64_t used_bytes() const { return used_; }
  uint64_t free_bytes() const { return capacity_ - used_; }
  /// Largest range that allocate() can return now.
  uint64_t largest_free() const;
  /// Maximum of used_bytes() so far.
  uint64_t high_water() const { return high_water_; }

  struct Range {
    uint64_t addr = 0;
    uint64_t size = 0;
  };
  /// The allocated range that holds `addr`, for error messages.
  std::optional<Range> find(uint64_t addr) const;

 private:
  uint64_t alignment_;
  uint64_t capacity_ = 0;
  uint64_t used_ = 0;
  uint64_t high_water_ = 0;
  // Sorted by address. Ranges in free_ are never adjacent. free_ has capacity for all ranges that live_ may return.
  std::vector<Range> free_, live_;
};

}  // namespace kernbench
