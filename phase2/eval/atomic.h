// What an atomic does with an element (access contract §17), in Phase 1 and Phase 2 and for foreign initiators.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

/// Whether there is such an atomic of that type. `op`: add, max, min, and, or, xor, xchg or cas.
bool atomic_exists(std::string_view op, DType);
/// What an element becomes: of its bytes, an operand's, and of a cas what it is expected to be. The atomic exists.
/// f16 and bf16 add in f32 and round once; integers wrap.
void do_atomic(std::string_view op, DType, const uint8_t* operand, const uint8_t* expected, uint8_t* element);

}  // namespace kernbench
