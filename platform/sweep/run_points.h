// Points run one list at a time, for who decides by their results what to run next.
#pragma once

#include <functional>
#include <vector>

#include "kernbench/platform/sweep/point_key.h"
#include "kernbench/platform/sweep/store.h"

namespace kernbench::sweep {

struct PointRunner {
  std::function<int(const Words&)> work;  ///< a command line of kernbench, in a copy of this process
  unsigned jobs = 1;                      ///< points at a time
  double timeout_s = 0;                   ///< of a point; 0: none
  Store* store = nullptr;                 ///< where one is given, what is there is not simulated
  PointKeys* keys = nullptr;              ///< beside it
  std::function<void(size_t ended)> progress;

  /// The results in the points' order. Stopped where a signal comes.
  std::vector<PointResult> run(const std::vector<Words>& points) const;
};

}  // namespace kernbench::sweep
