// SPDX-License-Identifier: Apache-2.0
// What an atomic does with an element (access rules §17), in Phase 1 and Phase 2 and for foreign initiators.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench::phase2 {

/// What an element becomes: of its bytes, an operand's, and of a cas what it is expected to be. f16 and bf16 add in f32
/// and round once; integers wrap.
using AtomicFn = void (*)(const uint8_t* operand, const uint8_t* expected, uint8_t* element);
/// Null where there is no such atomic of that type. `op`: add, max, min, and, or, xor, xchg or cas.
AtomicFn atomic_of(std::string_view op, DType);

}  // namespace kernbench::phase2
