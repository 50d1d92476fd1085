// SPDX-License-Identifier: Apache-2.0
// Memories move complete bursts, counted from their first byte. Plain C++, no SystemC.
#pragma once

#include "kernbench/systemc_models/fabric/access.h"

namespace kernbench::memory {

/// Division by a constant divisor: a shift if it is a power of two.
class Divisor {
 public:
  explicit Divisor(uint64_t n) : n_(n), shift_((n & (n - 1)) == 0 ? __builtin_ctzll(n) : kNone) {}
  uint64_t value() const { return n_; }
  uint64_t quotient(uint64_t x) const { return shift_ == kNone ? x / n_ : x >> shift_; }

 private:
  static constexpr int kNone = -1;
  uint64_t n_;
  int shift_;
};

/// Bytes of the complete bursts that a range touches.
inline uint64_t bytes_of_bursts(uint64_t at, uint64_t bytes, const Divisor& burst) {
  return (burst.quotient(at + bytes + burst.value() - 1) - burst.quotient(at)) * burst.value();
}
/// The same for rows at an offset from the first burst.
inline uint64_t bytes_of_bursts(uint64_t offset, const Rows& rows, const Divisor& burst) {
  uint64_t all = 0;
  for_each_range(offset, rows, [&](uint64_t at, uint64_t bytes) { all += bytes_of_bursts(at, bytes, burst); });
  return all;
}

}  // namespace kernbench::memory
