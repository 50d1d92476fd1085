// Conversions of elements between dtypes (data contract §4; docs/phase2.md has the table).
//
// float to float: round to nearest even, IEEE infinities, NaN and subnormals (f8e4m3 has no infinity: overflow is NaN).
// float to integer: toward zero, saturating; NaN is 0. integer to integer: wraps. integer to float: rounded once. An
// element of a packed type is its byte, as a u8: what it holds is read by GEMM and unpack().
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

float f16_to_f32(uint16_t);
uint16_t f32_to_f16(float);
float bf16_to_f32(uint16_t);
uint16_t f32_to_bf16(float);
float f8e4m3_to_f32(uint8_t);
uint8_t f32_to_f8e4m3(float);
float f8e5m2_to_f32(uint8_t);
uint8_t f32_to_f8e5m2(float);

/// n elements of any dtype to any other; `in` and `out` do not overlap and need no alignment. Uses the widest
/// instruction set of this machine; the bits are those of the scalar functions above.
void convert(const void* in, DType from, void* out, DType to, size_t n);

/// One element as a double (exact, but for an i64 beyond 2^53: rounded) and back (rounded as above; integers wrap).
double load_scalar(const void* element, DType);
void store_scalar(double value, DType, void* element);
/// One element of integers, exact.
int64_t load_integer(const void* element, DType);

/// The 2 n values of n packed elements, each of unpacked(t): i8 of i4, f32 of e2m1.
void unpack(const void* in, DType t, void* out, size_t n);
/// n elements of 2 n values of unpacked(t): to the nearest value that there is, ties to even, saturating; NaN is 0.
void pack(const void* in, DType t, void* out, size_t n);

/// An immediate as an i32: its fraction dropped, modulo 2^32; 0 for NaN and infinities.
int32_t wrap_i32(double value);
/// The same modulo 2^64.
int64_t wrap_i64(double value);

/// out[i] = 1 where element i is not zero (NaN is not), else 0.
void nonzero(const void* in, DType, uint8_t* out, size_t n);

}  // namespace kernbench
