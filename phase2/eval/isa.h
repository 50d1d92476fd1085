// SPDX-License-Identifier: Apache-2.0
// Instruction sets of the arithmetic. The portable one runs everywhere; the others are selected at run time.
//
// Conversions, elementwise math and reductions give the same bits on every set, except for the last bits of
// transcendental functions. A float GEMM gives other bits on each set. The op log records the set (data rules §4).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

enum class Isa : uint8_t { portable, avx2, avx512 };

/// "portable", "avx2", "avx512".
std::string_view name_of(Isa);
/// Empty for any other name.
std::optional<Isa> parse_isa(std::string_view);
/// Whether this build has the set and this machine can run it.
bool available(Isa);
/// The available sets, best last.
std::vector<Isa> available_isas();
Isa best_isa();

}  // namespace kernbench::phase2
