// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/graph/value_pool.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <new>

#include "kernbench/phase2/memory/bulk_bytes.h"

namespace kernbench::phase2 {
namespace {

constexpr uint64_t kPage = uint64_t{2} << 20;    ///< a large page
constexpr uint64_t kBlock = uint64_t{8} << 20;   ///< for small values; uses only the pages that are touched
constexpr uint64_t kSmall = uint64_t{2} << 20;   ///< larger values get a separate block
constexpr uint64_t kKept = uint64_t{256} << 20;  ///< bytes of free large values that are kept for reuse
constexpr uint64_t kShelf = uint64_t{1} << 20;   ///< bytes of free small values that a thread keeps

/// Eight sizes per power of two: little memory is wasted, and sizes recur.
uint64_t rounded(uint64_t n) {
  if (n <= 64) return 64;
  uint64_t step = 64;
  while (step * 16 < n) step *= 2;
  return (n + step - 1) / step * step;
}

std::shared_ptr<uint8_t> large_pages(uint64_t size) {
  constexpr std::align_val_t kAlign{kPage};
  auto* p = static_cast<uint8_t*>(::operator new(size, kAlign));
  ask_for_large_pages(p, size);
  return {p, [](uint8_t* q) { ::operator delete(q, kAlign); }};
}

}  // namespace

ValuePool::ValuePool() = default;
ValuePool::~ValuePool() = default;

ValuePool::Block& ValuePool::add_block(uint64_t size) {
  Block b{large_pages(size), size};
  const uint8_t* at = b.bytes.get();
  ASAN_POISON_MEMORY_REGION(at, size);
  return blocks_[at] = std::move(b);
}

/// A value that any thread returned, or null.
uint8_t* ValuePool::take_free(uint64_t size) {
  const auto it = free_.find(size);
  if (it == free_.end() || it->second.empty()) return nullptr;
  uint8_t* p = it->second.back();
  it->second.pop_back();
  if (size > kSmall) free_large_ -= size;
  return p;
}

// AddressSanitizer reports accesses outside of values in use. Without it these lines have no effect.
uint8_t* ValuePool::get(uint64_t nbytes) {
  uint8_t* p = take(rounded(nbytes));
  ASAN_UNPOISON_MEMORY_REGION(p, nbytes);
  return p;
}

uint8_t* ValuePool::take(uint64_t size) {
  if (size > kSmall) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (uint8_t* p = take_free(size)) return p;
    return add_block(size).bytes.get();
  }
  Shelf& mine = shelves_.local();
  std::vector<uint8_t*>& free = mine.free[size];
  if (!free.empty()) {
    uint8_t* p = free.back();
    free.pop_back();
    mine.free_bytes -= size;
    return p;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (uint8_t* p = take_free(size)) return p;
  if (mine.left < size) {
    // The rest of the block is lost: at most a quarter of a block, usually much less.
    mine.next = add_block(kBlock).bytes.get();
    mine.left = kBlock;
  }
  uint8_t* p = mine.next;
  mine.next += size;
  mine.left -= size;
  return p;
}

void ValuePool::put(uint8_t* p, uint64_t nbytes) {
  const uint64_t size = rounded(nbytes);
  ASAN_POISON_MEMORY_REGION(p, size);
  if (size > kSmall) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_large_ + size > kKept) {
      blocks_.erase(p);
      return;
    }
    free_large_ += size;
    free_[size].push_back(p);
    return;
  }
  Shelf& mine = shelves_.local();
  std::vector<uint8_t*>& free = mine.free[size];
  free.push_back(p);
  mine.free_bytes += size;
  if (mine.free_bytes <= kShelf) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<uint8_t*>& others = free_[size];
  others.insert(others.end(), free.begin(), free.end());
  mine.free_bytes -= size * free.size();
  free.clear();
}

std::shared_ptr<const void> ValuePool::owner_of(const uint8_t* p) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::prev(blocks_.upper_bound(p))->second.bytes;
}

}  // namespace kernbench::phase2
