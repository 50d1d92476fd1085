// SPDX-License-Identifier: Apache-2.0
// A smaller version of a point: fewer PEs, and proportionally less of the size that is split over them. `kernbench
// tune` tries it first.
#pragma once

#include <cstdint>
#include <string>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

/// How the points of one machine and kernel can be made smaller.
struct Shrinking {
  Words pes;              ///< ids of all PEs of the machine, in compiled order; empty: impossible
  std::string param;      ///< ParamSpec::split_over_pes
  int64_t otherwise = 0;  ///< its default

  std::string to_json() const;
  /// JsonFault.
  static Shrinking from_json(const std::string&);
};

/// The point without its parameters. Points that are equal without them shrink alike.
Words without_params(const Words& point);

/// The point on the machine's first `pes` PEs, each with the work of the busiest PE. Unchanged if the parameter is no
/// positive integer; the run reports that error.
Words smaller(const Words& point, const Shrinking&, size_t pes);

}  // namespace kernbench::sweep
