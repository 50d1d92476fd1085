// SPDX-License-Identifier: Apache-2.0
// The grain of time: times are kept as exact doubles in ns, and compared as ⌊ns·10⁶ + 0.38⌋ fs (timing contract,
// Units): real times fall on halves of a fs (odd bytes over 128 GB/s), where the noise of doubles would break ties.
// What 64 bits do not hold is no time, and is found here.
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
/// femtoseconds() of what is from 2^63 fs on, or no time.
uint64_t late_femtoseconds(double ns);

inline double rounded_fs(double ns) {
  return ns * 1e6 + 0.38;
}

/// Neither negative, nor beyond 2^64 fs, nor no number at all.
inline bool is_time(double ns) {
  const double fs = rounded_fs(ns);
  return fs >= 0 && fs < 0x1p64;
}

/// TimeBeyondRange for what is no time.
inline uint64_t femtoseconds(double ns) {
  const double fs = rounded_fs(ns);
  // One instruction, and nearly always: 2^63 fs are 2.6 hours.
  return fs >= 0 && fs < 0x1p63 ? static_cast<uint64_t>(static_cast<int64_t>(fs)) : late_femtoseconds(ns);
}

}  // namespace kernbench::phase2
