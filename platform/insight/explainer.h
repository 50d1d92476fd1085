// Watches a run to say what held it back (insight.h).
#pragma once

#include <memory>

#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/insight/run_graph_recorder.h"
#include "kernbench/platform/insight/usage.h"

namespace kernbench::insight {

/// Watches a platform for one run.
class Explainer {
 public:
  /// Before the run.
  /// `details`: more than the verdict needs: the path step by step, slower_ns, and whether orders would change.
  explicit Explainer(Platform& platform, bool details = false)
      : platform_(platform), recorder_(platform, details), usage_(platform), details_(details) {}
  /// When it is over.
  std::shared_ptr<const Insight> explain(const RunFigures&);

 private:
  Platform& platform_;
  RunGraphRecorder recorder_;
  Usage usage_;
  bool details_;
};

}  // namespace kernbench::insight
