// SPDX-License-Identifier: Apache-2.0
// A growing FIFO over one array, whose first elements are inside the object. It is for short queues of blocks, where
// std::deque's 80 bytes and two levels cost more than the contents.
#pragma once

#include <cstdint>
#include <utility>

#include "kernbench/phase2/rooms.h"

namespace kernbench::core {

template <class T, uint32_t kInside = 4>
class Ring {
 public:
  static_assert((kInside & (kInside - 1)) == 0, "a power of two");
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (items_ != inside_) delete[] items_;
  }

  bool empty() const { return size_ == 0; }
  uint32_t size() const { return size_; }
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }
  const T& back() const { return (*this)[size_ - 1]; }
  const T& operator[](uint32_t i) const { return items_[(first_ + i) & (capacity_ - 1)]; }

  void push_back(const T& item) {
    if (size_ == capacity_) grow();
    items_[(first_ + size_++) & (capacity_ - 1)] = item;
  }
  void pop_front() {
    first_ = (first_ + 1) & (capacity_ - 1);
    --size_;
  }

 private:
  void grow() {
    T* items = new T[2 * capacity_]();
    for (uint32_t i = 0; i < size_; ++i) items[i] = items_[(first_ + i) & (capacity_ - 1)];
    if (items_ != inside_) delete[] items_;
    items_ = items;
    first_ = 0;
    capacity_ *= 2;
  }

  T* items_ = inside_;
  uint32_t capacity_ = kInside;  // a power of two
  uint32_t first_ = 0, size_ = 0;
  T inside_[kInside] = {};
};

}  // namespace kernbench::core
