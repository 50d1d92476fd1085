// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/first_fit_allocator.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

namespace kernbench {

namespace {

/// The first range after the address.
template <class Ranges>
auto behind(Ranges& ranges, uint64_t addr) {
  return std::partition_point(ranges.begin(), ranges.end(),
                              [addr](const FirstFitAllocator::Range& r) { return r.addr <= addr; });
}

}  // namespace

FirstFitAllocator::FirstFitAllocator(uint64_t base, uint64_t size, uint64_t alignment) : alignment_(alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    throw std::invalid_argument("alignment " + std::to_string(alignment) + " is not a power of two");
  }
  const uint64_t skipped = (alignment - base % alignment) % alignment;
  if (size <= skipped) return;
  capacity_ = (size - skipped) / alignment * alignment;
  if (capacity_ > 0) free_.push_back({base + skipped, capacity_});
}

std::optional<uint64_t> FirstFitAllocator::allocate(uint64_t nbytes) {
  const uint64_t asked = std::max<uint64_t>(nbytes, 1);
  if (asked > capacity_) return std::nullopt;  // also prevents an overflow in the rounding below
  const uint64_t size = (asked + alignment_ - 1) / alignment_ * alignment_;
  const auto hole = std::find_if(free_.begin(), free_.end(), [size](const Range& r) { return r.size >= size; });
  if (hole == free_.end()) return std::nullopt;
  const uint64_t addr = hole->addr;
  live_.insert(behind(live_, addr), {addr, size});
  hole->addr += size;
  hole->size -= size;
  if (hole->size == 0) free_.erase(hole);
  if (free_.capacity() <= live_.size()) free_.reserve(2 * live_.size() + 1);
  used_ += size;
  high_water_ = std::max(high_water_, used_);
  return addr;
}

void FirstFitAllocator::free(uint64_t addr) {
  const auto past = behind(live_, addr);
  if (past == live_.begin() || std::prev(past)->addr != addr) {
    throw std::invalid_argument("free of address " + std::to_string(addr) + ", which is not allocated");
  }
  const Range range = *std::prev(past);
  live_.erase(std::prev(past));
  used_ -= range.size;
  const auto next = behind(free_, addr);
  const bool joins_next = next != free_.end() && addr + range.size == next->addr;
  const auto before = next == free_.begin() ? free_.end() : std::prev(next);
  if (before != free_.end() && before->addr + before->size == addr) {
    before->size += range.size;
    if (!joins_next) return;
    before->size += next->size;
    free_.erase(next);
  } else if (joins_next) {
    next->addr = addr;
    next->size += range.size;
  } else {
    free_.insert(next, range);
  }
}

uint64_t FirstFitAllocator::largest_free() const {
  uint64_t largest = 0;
  for (const Range& r : free_) largest = std::max(largest, r.size);
  return largest;
}

std::optional<FirstFitAllocator::Range> FirstFitAllocator::find(uint64_t addr) const {
  const auto past = behind(live_, addr);
  if (past == live_.begin() || addr - std::prev(past)->addr >= std::prev(past)->size) return std::nullopt;
  return *std::prev(past);
}

}  // namespace kernbench
