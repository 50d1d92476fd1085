// SPDX-License-Identifier: Apache-2.0
// Conversions of elements between dtypes (data rules §4; docs/phase2.md has the table).
//
// float to float: round to nearest even, with IEEE infinities, NaN and subnormals. f8e4m3 has no infinity: overflow
// becomes NaN.
// float to integer: toward zero, saturating; NaN becomes 0.
// integer to integer: wraps. integer to float: rounded once.
// An element of a packed type is its byte, like a u8. GEMM and unpack() read the values in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench::phase2 {

float f16_to_f32(uint16_t);
uint16_t f32_to_f16(float);
float bf16_to_f32(uint16_t);
uint16_t f32_to_bf16(float);
float f8e4m3_to_f32(uint8_t);
uint8_t f32_to_f8e4m3(float);
float f8e5m2_to_f32(uint8_t);
uint8_t f32_to_f8e5m2(float);

/// Converts n elements between any dtypes. `in` and `out` do not overlap and need no alignment. Uses the widest
/// instruction set of this machine; the result has the bits of the scalar functions above.
void convert(const void* in, DType from, void* out, DType to, size_t n);

/// Reads one element as a double (exact, except that an i64 beyond 2^53 is rounded) and writes one (rounded as above;
/// integers wrap).
double load_scalar(const void* element, DType);
void store_scalar(double value, DType, void* element);
/// One integer element, exact.
int64_t load_integer(const void* element, DType);

/// The 2 n values of n packed elements, of type unpacked(t): i8 for i4, f32 for e2m1.
void unpack(const void* in, DType t, void* out, size_t n);
/// Makes n packed elements from 2 n values of type unpacked(t). Rounds to the nearest value, ties to even, and
/// saturates; NaN becomes 0.
void pack(const void* in, DType t, void* out, size_t n);

/// An immediate as an i32: truncated, modulo 2^32. NaN and infinities become 0.
int32_t wrap_i32(double value);
/// The same modulo 2^64.
int64_t wrap_i64(double value);

/// out[i] = 1 where element i is nonzero (NaN counts as nonzero), else 0.
void nonzero(const void* in, DType, uint8_t* out, size_t n);

}  // namespace kernbench::phase2
