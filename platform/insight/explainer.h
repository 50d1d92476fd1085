// SPDX-License-Identifier: Apache-2.0
// Watches a run to find its bottlenecks (insight.h).
#pragma once

#include <memory>

#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/insight/run_graph_recorder.h"
#include "kernbench/platform/insight/usage.h"

namespace kernbench {

class Platform;

namespace insight {

/// Watches a platform for one run.
class Explainer {
 public:
  /// Construct it before the run. `details`: more than the verdict needs: the path's steps, slower_ns, and whether
  /// orders would change. `predict`: machines to predict, as in --predict; InputError for invalid ones.
  explicit Explainer(Platform&, bool details = false, const std::vector<std::string>& predict = {});
  /// Call it after the run.
  std::shared_ptr<const Insight> explain(const RunFigures&);
  /// Call it after explain(): packed_joins() of the run.
  std::string causes(size_t most) const;

 private:
  Platform& platform_;
  RunGraphRecorder recorder_;
  Usage usage_;
  bool details_;
  std::vector<std::vector<std::pair<Resource, double>>> predict_;
  Moment end_ = 0;  ///< end of the run
};

}  // namespace insight
}  // namespace kernbench
