// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a simulation and its replay on stderr, if that is a terminal.
#pragma once

#include "kernbench/phase2/tool/progress_line.h"

namespace kernbench::core {
class Timeline;
}

namespace kernbench {

namespace cli {

class Progress : public ProgressLine {
 public:
  /// Shows simulated time and events per second, after the first second. The timeline must not be used after this
  /// object's simulation.
  void watch(Timeline&);
};

}  // namespace cli
}  // namespace kernbench
