// SPDX-License-Identifier: Apache-2.0
// What a phase must compute and move, whoever runs it: for MFU, shares of bandwidth and the report.
#pragma once

#include "kernbench/platform/models/phase.h"

namespace kernbench::models {

/// Of one step. Products count causal attention by the keys that are seen, and no padding; bytes each once: weights,
/// the cache's keys and values that are seen, and those that are added.
struct Work {
  double macs = 0, bytes = 0;
};
/// `chosen`: how many experts of the layer the rows have chosen; a token's products are those of its own.
Work layer_work(const ModelSpec&, const Plan&, const Phase&, int64_t layer, double chosen);
/// Embedding and head.
Work ends_work(const ModelSpec&, const Plan&, const Phase&);

}  // namespace kernbench::models
