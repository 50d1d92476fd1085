#include "kernbench/phase2/value_pool.h"

#include <algorithm>
#include <new>

#include "kernbench/phase2/bulk_bytes.h"

namespace kernbench {
namespace {

constexpr uint64_t kPage = uint64_t{2} << 20;    ///< a large one
constexpr uint64_t kBlock = uint64_t{8} << 20;   ///< of small values; takes only the pages that are touched
constexpr uint64_t kSmall = uint64_t{2} << 20;   ///< larger values have a block of their own
constexpr uint64_t kKept = uint64_t{256} << 20;  ///< bytes of free large values that are kept for others

/// Eight sizes to each power of two: little is wasted, and sizes recur.
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

ValuePool::Block& ValuePool::add_block(uint64_t size) {
  Block b{large_pages(size), size};
  const uint8_t* at = b.bytes.get();
  return blocks_[at] = std::move(b);
}

ValuePool::Rest& ValuePool::rest_of_this_thread() {
  const std::thread::id me = std::this_thread::get_id();
  for (Rest& r : rests_) {
    if (r.thread == me) return r;
  }
  rests_.push_back({me, nullptr, 0});
  return rests_.back();
}

ValuePool::Place ValuePool::get(uint64_t nbytes) {
  const uint64_t size = rounded(nbytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = free_.find(size);
  if (it != free_.end() && !it->second.empty()) {
    uint8_t* p = it->second.back();
    it->second.pop_back();
    if (size > kSmall) free_large_ -= size;
    return {p, false};
  }
  if (size > kSmall) return {add_block(size).bytes.get(), true};
  Rest& rest = rest_of_this_thread();
  if (rest.left < size) {
    // What was left is lost: at most a quarter of a block, mostly far less.
    rest.next = add_block(kBlock).bytes.get();
    rest.left = kBlock;
  }
  uint8_t* p = rest.next;
  rest.next += size;
  rest.left -= size;
  return {p, true};
}

void ValuePool::put(uint8_t* p, uint64_t nbytes) {
  const uint64_t size = rounded(nbytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (size > kSmall) {
    if (free_large_ + size > kKept) {
      blocks_.erase(p);
      return;
    }
    free_large_ += size;
  }
  free_[size].push_back(p);
}

std::shared_ptr<const void> ValuePool::owner_of(const uint8_t* p) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::prev(blocks_.upper_bound(p))->second.bytes;
}

}  // namespace kernbench
