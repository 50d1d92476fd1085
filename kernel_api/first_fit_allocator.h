// First-fit allocator of address ranges with coalescing: a PE's TCM, the host's HBM slices.
//
// It hands out addresses and touches no memory. Freed ranges merge with their free neighbours at once, so two
// adjacent free ranges never exist.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kernbench {

class FirstFitAllocator {
 public:
  /// Manages [base, base + size), bytes. Every address handed out is a multiple of `alignment` (a power of two, else
  /// std::invalid_argument), every size is rounded up to it; a base or an end that is not aligned loses the remainder.
  FirstFitAllocator(uint64_t base, uint64_t size, uint64_t alignment = 64);

  /// The lowest free range that fits; none if no free range is large enough. 0 bytes take one alignment unit.
  std::optional<uint64_t> allocate(uint64_t nbytes);
  /// Gives a range back. An address that was not handed out (or was freed before) is std::invalid_argument.
  /// Takes no memory itself: destructors give back.
  void free(uint64_t addr);

  uint64_t capacity() const { return capacity_; }
  uint64_t used_bytes() const { return used_; }
  uint64_t free_bytes() const { return capacity_ - used_; }
  /// Largest single range that allocate() could give now.
  uint64_t largest_free() const;
  /// The most bytes that were ever in use at once.
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
  // By address, one behind the other in memory. No two of free_ touch, and it has room for all that live_ may give
  // back.
  std::vector<Range> free_, live_;
};

}  // namespace kernbench
