// SPDX-License-Identifier: Apache-2.0
// Advice for a run whose kernel is far from its roofline while an alternative is known (docs/programs.md).
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
  uint64_t operand_bytes = 0, read_bytes = 0;  ///< bytes of its inputs; bytes that its PEs read. 0: unknown
};

/// One line on the launch with the largest possible gain. It took more than three times its roofline's time (if that is
/// at least 5 us), and more than twice the alternative's time. Empty: none.
std::string advice_of(const std::vector<TimedLaunch>&);

}  // namespace kernbench
