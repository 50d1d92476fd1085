// SPDX-License-Identifier: Apache-2.0
// Seeded inputs with the same bits on every machine and compiler.
//
// Element i of a stream depends only on (seed, i). The 64-bit state seed + (i + 1) * 0x9e3779b97f4a7c15 is mixed like
// splitmix64 (shifts 30, 27, 31; multipliers 0xbf58476d1ce4e5b9, 0x94d049bb133111eb). Its top 24 bits are an integer u
// in [0, 2^24). The value (2 u + 1 - 2^24) / 2^24 is uniform in (-1, 1), symmetric and never 0.
//
// Integers are uniform in [-8, 7] (u8: [0, 15]). They are so small that i32 sums stay exact and i8 outputs rarely wrap.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

/// The i-th 64-bit word of a stream.
uint64_t random_word(uint64_t seed, uint64_t i);
/// The seed of a named tensor's stream. Different names give unrelated streams of one seed.
uint64_t seed_for(uint64_t seed, std::string_view name);
/// Uniform in (-1, 1).
double random_unit(uint64_t seed, uint64_t i);
/// Row-major elements; floats are scale * uniform(-1, 1) rounded to the dtype (weights: scale = 1/sqrt(K)); integers
/// ignore the scale.
Bytes random_tensor(DType, const Dims& shape, uint64_t seed, double scale = 1.0);
/// `count` of these elements, from `first` on.
void random_elements(DType, uint64_t seed, double scale, uint64_t first, size_t count, uint8_t* out);

}  // namespace kernbench::phase2
