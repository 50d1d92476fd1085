// SPDX-License-Identifier: Apache-2.0
// Bulk data on large pages if the system supports them. This reduces page faults and TLB misses.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

/// n zero bytes.
Bytes bulk_bytes(uint64_t n);

/// Requests large pages for memory that was not touched yet. If the request fails, only speed differs.
void ask_for_large_pages(void* p, uint64_t nbytes);

/// Allocator for large vectors: from 4 MB on it uses large pages.
template <class T>
struct LargePageAllocator {
  using value_type = T;
  static constexpr size_t kPage = size_t{2} << 20;

  LargePageAllocator() = default;
  template <class Other>
  LargePageAllocator(const LargePageAllocator<Other>&) {}
  T* allocate(size_t n) {
    const size_t nbytes = n * sizeof(T);
    if (nbytes < 2 * kPage) return std::allocator<T>().allocate(n);
    void* p = std::aligned_alloc(kPage, (nbytes + kPage - 1) / kPage * kPage);
    if (!p) throw std::bad_alloc();
    ask_for_large_pages(p, nbytes);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t n) {
    if (n * sizeof(T) < 2 * kPage) return std::allocator<T>().deallocate(p, n);
    std::free(p);
  }
  friend bool operator==(const LargePageAllocator&, const LargePageAllocator&) { return true; }
  friend bool operator!=(const LargePageAllocator&, const LargePageAllocator&) { return false; }
};

}  // namespace kernbench::phase2
