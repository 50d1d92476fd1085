// SPDX-License-Identifier: Apache-2.0
// Memory for what a platform's blocks touch at every event: laid side by side in the order of asking, on large pages
// where the system gives them, so that thousands of PEs' state needs few entries of the processor's page table cache.
// Given back as a whole, with the arena.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::core {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  /// Room for `bytes` from the beginning of a cache line on.
  void* allocate(size_t bytes);
  /// `count` Ts in a row. Their memory lives as long as the arena; who owns something must be destroyed before.
  template <class T>
  T* make(size_t count = 1) {
    static_assert(alignof(T) <= kLine);
    T* first = static_cast<T*>(allocate(count * sizeof(T)));
    for (size_t i = 0; i < count; ++i) new (first + i) T();
    return first;
  }

 private:
  static constexpr size_t kLine = 64;
  void grow(size_t bytes);
  struct Chunk {
    void* start;
    size_t bytes;
  };
  std::vector<Chunk> chunks_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace kernbench::core
