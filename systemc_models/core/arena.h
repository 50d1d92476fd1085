// SPDX-License-Identifier: Apache-2.0
// Memory for the state that a platform's blocks access at every event. It is allocated contiguously in call order, on
// large pages if available, so that the state of thousands of PEs needs few TLB entries. It is freed as a whole with
// the arena.
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

  /// Returns `bytes` bytes that begin at a cache line.
  void* allocate(size_t bytes);
  /// `count` Ts in sequence. Their memory lives as long as the arena. Objects with destructors must be destroyed
  /// before.
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
