// SPDX-License-Identifier: Apache-2.0
// What a run is told where a kernel stays far under its roofline and another way is known (docs/programs.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/launch_costs.h"

namespace kernbench {

struct TimedLaunch {
  std::string name;  ///< "gemm", "tp_linear at my_layer.cpp:12"
  LaunchNotes notes;
  double took_ns = 0;
  uint64_t operand_bytes = 0, read_bytes = 0;  ///< of its inputs; what its PEs have read. 0: not known
};

/// One line on the launch that would gain most: of those that took more than three times what their roofline allows,
/// that being 5 us or more, and more than twice what the other way would; empty: there is none.
std::string advice_of(const std::vector<TimedLaunch>&);

}  // namespace kernbench
