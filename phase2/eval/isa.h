// SPDX-License-Identifier: Apache-2.0
// Instruction sets of the arithmetic. The portable one runs everywhere; the others are chosen at run time.
//
// Conversions, elementwise math and reductions give the same bits on every set, but for the last ones of transcendental
// functions; a float GEMM has bits of its own on each. The op log records the set (data rules §4).
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
/// Empty where the name is none of these.
std::optional<Isa> parse_isa(std::string_view);
/// Whether this build has the set and this machine runs it.
bool available(Isa);
/// The sets that are available, best last.
std::vector<Isa> available_isas();
/// The best available.
Isa best_isa();

}  // namespace kernbench::phase2
