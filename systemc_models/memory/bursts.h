// SPDX-License-Identifier: Apache-2.0
// Memories move whole bursts, counted from their first byte. Plain C++: no SystemC here.
#pragma once

#include "kernbench/systemc_models/fabric/access.h"

namespace kernbench::memory {

/// Divides by a number that stays as it is: by a shift where that is a power of two.
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

/// Bytes of the whole bursts that a range touches.
inline uint64_t bytes_of_bursts(uint64_t at, uint64_t bytes, const Divisor& burst) {
  return (burst.quotient(at + bytes + burst.value() - 1) - burst.quotient(at)) * burst.value();
}
/// Of those that rows at an offset from the first burst touch.
inline uint64_t bytes_of_bursts(uint64_t offset, const Rows& rows, const Divisor& burst) {
  uint64_t all = 0;
  for_each_range(offset, rows, [&](uint64_t at, uint64_t bytes) { all += bytes_of_bursts(at, bytes, burst); });
  return all;
}

}  // namespace kernbench::memory
