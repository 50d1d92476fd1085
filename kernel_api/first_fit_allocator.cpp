#include "kernbench/kernel_api/first_fit_allocator.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

namespace kernbench {

FirstFitAllocator::FirstFitAllocator(uint64_t base, uint64_t size, uint64_t alignment) : alignment_(alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    throw std::invalid_argument("alignment " + std::to_string(alignment) + " is not a power of two");
  }
  const uint64_t skipped = (alignment - base % alignment) % alignment;
  if (size <= skipped) return;
  capacity_ = (size - skipped) / alignment * alignment;
  if (capacity_ > 0) free_.emplace(base + skipped, capacity_);
}

std::optional<uint64_t> FirstFitAllocator::allocate(uint64_t nbytes) {
  const uint64_t asked = std::max<uint64_t>(nbytes, 1);
  if (asked > capacity_) return std::nullopt;  // also keeps the rounding below from overflowing
  const uint64_t size = (asked + alignment_ - 1) / alignment_ * alignment_;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < size) continue;
    const uint64_t addr = it->first;
    const uint64_t rest = it->second - size;
    const auto next = free_.erase(it);
    if (rest > 0) free_.emplace_hint(next, addr + size, rest);
    live_.emplace(addr, size);
    used_ += size;
    high_water_ = std::max(high_water_, used_);
    return addr;
  }
  return std::nullopt;
}

void FirstFitAllocator::free(uint64_t addr) {
  const auto live = live_.find(addr);
  if (live == live_.end()) {
    throw std::invalid_argument("free of address " + std::to_string(addr) + ", which is not allocated");
  }
  uint64_t start = addr;
  uint64_t size = live->second;
  used_ -= size;
  auto node = live_.extract(live);
  auto next = free_.lower_bound(start);
  if (next != free_.end() && start + size == next->first) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second += size;
      return;
    }
  }
  node.key() = start;
  node.mapped() = size;
  free_.insert(next, std::move(node));
}

uint64_t FirstFitAllocator::largest_free() const {
  uint64_t largest = 0;
  for (const auto& [addr, size] : free_) largest = std::max(largest, size);
  return largest;
}

std::optional<FirstFitAllocator::Range> FirstFitAllocator::find(uint64_t addr) const {
  auto it = live_.upper_bound(addr);
  if (it == live_.begin()) return std::nullopt;
  --it;
  if (addr - it->first >= it->second) return std::nullopt;
  return Range{it->first, it->second};
}

}  // namespace kernbench
