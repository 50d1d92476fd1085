// SPDX-License-Identifier: Apache-2.0
// What gathers, scatters and atomics do beyond their operands (access rules §16, §17): ranges of a memory, and where
// the bytes of each stand in the value that is moved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/phase2/op/space.h"

namespace kernbench::phase2 {

/// `offset`: of its bytes in the result; of a scatter or an atomic in the value (whose offsets are the result's).
struct MovedRange {
  uint64_t addr = 0, nbytes = 0, offset = 0;
};

struct RangedOp {
  Space space{};  ///< that the ranges lie in
  /// Physical, in index order. Neighbours that go on in memory and in the value are one; those that go on in memory
  /// alone, as a mask leaves out what stands between them, are one to the DMA.
  std::vector<MovedRange> ranges;
  /// The same as virtual addresses where they were reached through such; of a command as a whole, not of its records.
  std::vector<MovedRange> asked;
  /// Stretches of the result that a mask leaves out, which are `other` (of an atomic 0). `addr` means nothing.
  std::vector<MovedRange> left_out;
  double other = 0;

  // Of an atomic.
  bool returns_old = false;
  std::string sem;       ///< relaxed, acquire, release or acq_rel
  double effect_ns = 0;  ///< of a record
  uint64_t number = 0;   ///< of a record: its place among effects of that instant that are no PE's submissions

  uint64_t nbytes() const;
  bool acquires() const { return sem == "acquire" || sem == "acq_rel"; }
  bool releases() const { return sem == "release" || sem == "acq_rel"; }
  /// Adds a range: to the last one where it goes on there.
  void add(const MovedRange&);
};

}  // namespace kernbench::phase2
