// SPDX-License-Identifier: Apache-2.0
// The operations and bytes that a phase needs on any machine. MFU, bandwidth shares and the report use them.
#pragma once

#include "kernbench/platform/models/phase.h"

namespace kernbench::models {

/// Work of one step. Products count causal attention by visible keys, without padding. Bytes count once: weights,
/// visible keys and values of the cache, and added ones.
struct Work {
  double macs = 0, bytes = 0;
};
/// `chosen`: how many experts of the layer the rows chose. A token's products are those of its own experts.
Work layer_work(const ModelSpec&, const Plan&, const Phase&, int64_t layer, double chosen);
/// Work of embedding and head.
Work ends_work(const ModelSpec&, const Plan&, const Phase&);

}  // namespace kernbench::models
