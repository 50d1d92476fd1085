// SPDX-License-Identifier: Apache-2.0
// A point made smaller: fewer PEs, and as much less of what is split over them. What `kernbench tune` tries first.
#pragma once

#include <cstdint>
#include <string>

#include "kernbench/platform/study/sweep/axis.h"

namespace kernbench::sweep {

/// How the points of one machine and kernel may be made smaller.
struct Shrinking {
  Words pes;              ///< ids of all PEs of the machine, in compiled order; none: they may not
  std::string param;      ///< ParamSpec::split_over_pes
  int64_t otherwise = 0;  ///< its default

  std::string to_json() const;
  /// JsonFault.
  static Shrinking from_json(const std::string&);
};

/// The point without its parameters: points that are equal so far shrink alike.
Words without_params(const Words& point);

/// The point on the machine's first `pes` PEs, which have as much to do each as the busiest PE had. As it is where the
/// parameter is no whole number above 0: the run will tell.
Words smaller(const Words& point, const Shrinking&, size_t pes);

}  // namespace kernbench::sweep
