// SPDX-License-Identifier: Apache-2.0
// The address range that encloses several ranges of a memory.
#pragma once

#include <algorithm>
#include <vector>

#include "kernbench/phase2/op/ranged_op.h"

namespace kernbench::phase2 {

/// From the first byte of the ranges to the last; empty if there are none.
struct Stretch {
  uint64_t begin = ~uint64_t{0}, end = 0;
  explicit Stretch(const std::vector<MovedRange>& ranges) {
    for (const MovedRange& r : ranges) {
      begin = std::min(begin, r.addr);
      end = std::max(end, r.addr + r.nbytes);
    }
  }
  bool empty() const { return begin >= end; }
  uint64_t nbytes() const { return empty() ? 0 : end - begin; }
};

}  // namespace kernbench::phase2
