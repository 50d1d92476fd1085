// SPDX-License-Identifier: Apache-2.0
// The recorded part of a simulation: --trace-from and --trace-to, and the same for other recordings.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/femtoseconds.h"

namespace kernbench::observe {

/// [from, to), ns of simulated time.
struct TimeWindow {
  double from_ns = 0, to_ns = std::numeric_limits<double>::infinity();

  bool overlaps(double from, double to) const { return from < to_ns && (to > from_ns || from >= from_ns); }
  bool holds(double t) const { return t >= from_ns && t < to_ns; }
  /// InputError, naming --OPTION-from and --OPTION-to, for an invalid window.
  void check(std::string_view option) const {
    const bool times = is_time(from_ns) && (!std::isfinite(to_ns) || is_time(to_ns));
    if (times && from_ns >= 0 && from_ns < to_ns) return;
    throw InputError(fmt::format("--{0}-from, --{0}-to: found {1} and {2} ns, expected 0 <= from < to, below 2^64 fs",
                                 option, from_ns, to_ns));
  }
};

}  // namespace kernbench::observe
