// A FIFO over one array that grows: for the short queues of blocks, where std::deque's 80 bytes and two levels cost
// more than what they hold.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace kernbench {

template <class T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  uint32_t size() const { return size_; }
  T& front() { return items_[first_]; }

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
    const uint32_t capacity = capacity_ ? 2 * capacity_ : 4;
    auto items = std::make_unique<T[]>(capacity);
    for (uint32_t i = 0; i < size_; ++i) items[i] = items_[(first_ + i) & (capacity_ - 1)];
    items_ = std::move(items);
    first_ = 0;
    capacity_ = capacity;
  }

  std::unique_ptr<T[]> items_;
  uint32_t capacity_ = 0;  // a power of two
  uint32_t first_ = 0, size_ = 0;
};

}  // namespace kernbench
