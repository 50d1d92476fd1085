// SPDX-License-Identifier: Apache-2.0
// A list that grows by blocks, which are never moved. The causal graph of a long run takes gigabytes, and moving it
// would cost more than building it.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "kernbench/phase2/memory/bulk_bytes.h"

namespace kernbench::insight {

template <class T>
class Blocks {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) & (sizeof(T) - 1)) == 0, "a power of two in bytes");

 public:
  class Iterator {
   public:
    Iterator(const Blocks& list, size_t at) : list_(&list), at_(at) {}
    const T& operator*() const { return (*list_)[at_]; }
    const T* operator->() const { return &(*list_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator!=(const Iterator& o) const { return at_ != o.at_; }

   private:
    const Blocks* list_;
    size_t at_;
  };

  size_t size() const { return size_; }
  const T& operator[](size_t i) const { return blocks_[i / kEach][i % kEach]; }
  T& operator[](size_t i) { return blocks_[i / kEach][i % kEach]; }
  Iterator at(size_t i) const { return {*this, i}; }
  void push_back(const T& value) {
    if (size_ == blocks_.size() * kEach) blocks_.emplace_back(LargePageAllocator<T>().allocate(kEach));
    (*this)[size_++] = value;
  }
  size_t bytes() const { return blocks_.size() * kEach * sizeof(T); }

 private:
  static constexpr size_t kEach = 2 * LargePageAllocator<T>::kPage / sizeof(T);
  struct Free {
    void operator()(T* p) const { LargePageAllocator<T>().deallocate(p, kEach); }
  };

  std::vector<std::unique_ptr<T[], Free>> blocks_;
  size_t size_ = 0;
};

}  // namespace kernbench::insight
