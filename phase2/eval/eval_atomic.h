// SPDX-License-Identifier: Apache-2.0
// Atomics whose values are worked out in Phase 2. Internal to phase2/eval.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/phase2/eval/eval.h"

namespace kernbench::phase2 {

/// Of inputs_of(): the old elements, the operand's, and of a cas what is expected. `out` is OpDesc::value_bytes(): the
/// old elements as each found them, then the new ones. An element that stands twice is done twice, in index order.
std::unique_ptr<Evaluation> make_atomic(const OpDesc&, const std::vector<EvalInput>& inputs, uint8_t* out);

}  // namespace kernbench::phase2
