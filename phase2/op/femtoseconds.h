// SPDX-License-Identifier: Apache-2.0
// Resolution of time. Times are stored as exact doubles in ns and compared as ⌊ns·10⁶ + 0.38⌋ fs (timing contract,
// Units). Real times fall on halves of a fs (odd bytes over 128 GB/s), where rounding errors of doubles would break
// ties. A time that 64 bits cannot hold is an error, which is detected here.
#pragma once

#include <cstdint>
#include <string>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::phase2 {

/// A time beyond 2^64 fs, 5.1 simulated hours.
class TimeBeyondRange : public RunError {
 public:
  explicit TimeBeyondRange(double ns) : RunError(text(ns)) {}
  /// "1e+20 ns is beyond 2^64 fs (5.1 simulated hours)".
  static std::string text(double ns);
};
/// femtoseconds() for the rare cases: 2^63 fs or more, or an invalid time.
uint64_t late_femtoseconds(double ns);

inline double rounded_fs(double ns) {
  return ns * 1e6 + 0.38;
}

/// Whether the number is a valid time: not negative, not beyond 2^64 fs, not NaN.
inline bool is_time(double ns) {
  const double fs = rounded_fs(ns);
  return fs >= 0 && fs < 0x1p64;
}

/// TimeBeyondRange for an invalid time.
inline uint64_t femtoseconds(double ns) {
  const double fs = rounded_fs(ns);
  // This case takes one instruction and is by far the most frequent: 2^63 fs are 2.6 hours.
  return fs >= 0 && fs < 0x1p63 ? static_cast<uint64_t>(static_cast<int64_t>(fs)) : late_femtoseconds(ns);
}

}  // namespace kernbench::phase2
