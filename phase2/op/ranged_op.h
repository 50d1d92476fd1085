// SPDX-License-Identifier: Apache-2.0
// Additional data of gathers, scatters and atomics (access rules §16, §17): ranges of a memory, and the positions of
// their bytes in the moved value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/op/space.h"

namespace kernbench::phase2 {

/// `offset`: position of its bytes in the result. For a scatter or an atomic: in the value, whose offsets equal the
/// result's.
struct MovedRange {
  uint64_t addr = 0, nbytes = 0, offset = 0;
};

struct RangedOp {
  Space space{};  ///< space of the ranges
  /// Physical, in index order. Neighbours that are contiguous in memory and in the value are merged. Neighbours that
  /// are contiguous only in memory, because a mask skips elements between them, are one range for the DMA.
  std::vector<MovedRange> ranges;
  /// The same ranges as virtual addresses, if they were given so. Only for a complete command, not for its records.
  std::vector<MovedRange> asked;
  /// Parts of the result that the mask skips. They get the value `other` (0 for an atomic). `addr` has no meaning.
  std::vector<MovedRange> left_out;
  double other = 0;

  // For an atomic.
  bool returns_old = false;
  std::string sem;       ///< relaxed, acquire, release or acq_rel
  double effect_ns = 0;  ///< for a record
  uint64_t number = 0;   ///< for a record: its order among the effects of that instant that no PE submitted

  uint64_t nbytes() const;
  bool acquires() const { return sem == "acquire" || sem == "acq_rel"; }
  bool releases() const { return sem == "release" || sem == "acq_rel"; }
  /// Adds a range. If it continues the last one, both are merged.
  void add(const MovedRange&);
};

}  // namespace kernbench::phase2
