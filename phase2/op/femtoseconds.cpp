// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/femtoseconds.h"

#include <fmt/format.h>

namespace kernbench::phase2 {

std::string TimeBeyondRange::text(double ns) {
  return fmt::format("{:.4g} ns is beyond 2^64 fs (5.1 simulated hours)", ns);
}

uint64_t late_femtoseconds(double ns) {
  if (!is_time(ns)) throw TimeBeyondRange(ns);
  return static_cast<uint64_t>(rounded_fs(ns));
}

}  // namespace kernbench::phase2
