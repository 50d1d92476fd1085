// SPDX-License-Identifier: Apache-2.0
// What a simulation and its replay have come to, on stderr, where that is a terminal.
#pragma once

#include "kernbench/phase2/tool/progress_line.h"

namespace kernbench::core {
class Timeline;
}

namespace kernbench {

namespace cli {

class Progress : public ProgressLine {
 public:
  /// Shows simulated time and events per second, from the second second on. The timeline must not outlive this object's
  /// simulation.
  void watch(Timeline&);
};

}  // namespace cli
}  // namespace kernbench
