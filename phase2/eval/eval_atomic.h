// SPDX-License-Identifier: Apache-2.0
// Atomics whose values are computed in Phase 2. Internal to phase2/eval.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/phase2/eval/eval.h"

namespace kernbench::phase2 {

/// Inputs, as in inputs_of(): the old elements, the operand's elements and, for a cas, the expected ones. `out` has
/// OpDesc::value_bytes(): the old elements that each access found, then the new ones. An element that occurs twice is
/// updated twice, in index order.
std::unique_ptr<Evaluation> make_atomic(const OpDesc&, const std::vector<EvalInput>& inputs, uint8_t* out);

}  // namespace kernbench::phase2
