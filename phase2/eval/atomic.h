// SPDX-License-Identifier: Apache-2.0
// The effect of an atomic on an element (access rules §17). Phase 1, Phase 2 and foreign initiators use it.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench::phase2 {

/// Computes an element's new bytes from its old bytes, the operand's bytes and, for a cas, the expected bytes. f16 and
/// bf16 add in f32 and round once; integers wrap.
using AtomicFn = void (*)(const uint8_t* operand, const uint8_t* expected, uint8_t* element);
/// Null if there is no such atomic for that type. `op`: add, max, min, and, or, xor, xchg or cas.
AtomicFn atomic_of(std::string_view op, DType);
/// Whether nodes can combine the messages of such reds (multicast rules §20).
bool reduces_on_the_way(std::string_view op);

}  // namespace kernbench::phase2
