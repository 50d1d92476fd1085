// What a phase must compute and move, whoever runs it: for MFU, shares of bandwidth and the report.
#pragma once

#include "kernbench/platform/models/phase.h"

namespace kernbench::models {

/// Of one step. Products count causal attention by the keys that are seen, and no padding; bytes each once: weights,
/// the cache's keys and values that are seen, and those that are added.
struct Work {
  double macs = 0, bytes = 0;
};
Work layer_work(const ModelSpec&, const Plan&, const Phase&);
/// Embedding and head.
Work ends_work(const ModelSpec&, const Plan&, const Phase&);

}  // namespace kernbench::models
