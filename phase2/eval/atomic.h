// What an atomic does with elements (access contract §17), in Phase 1 and Phase 2 and for foreign initiators.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kernbench/phase2/eval/eval.h"

namespace kernbench {

/// Whether there is such an atomic of that type. `op`: add, max, min, and, or, xor, xchg or cas.
bool atomic_exists(std::string_view op, DType);
/// What an element becomes: of its bytes, an operand's, and of a cas what it is expected to be. The atomic exists.
/// f16 and bf16 add in f32 and round once; integers wrap.
void do_atomic(std::string_view op, DType, const uint8_t* operand, const uint8_t* expected, uint8_t* element);

/// Of inputs_of(): the old elements, the operand's, and of a cas what is expected. `out` is OpDesc::value_bytes(): the
/// old elements as each found them, then the new ones. An element that stands twice is done twice, in index order.
std::unique_ptr<Evaluation> make_atomic(const OpDesc&, const std::vector<EvalInput>& inputs, uint8_t* out);

}  // namespace kernbench
