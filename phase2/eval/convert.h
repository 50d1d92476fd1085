// Conversions of elements between dtypes (data contract §4; docs/phase2.md has the table).
//
// float to float: round to nearest even, IEEE infinities, NaN and subnormals (f8e4m3 has no infinity: overflow is NaN).
// float to integer: toward zero, saturating; NaN is 0. integer to integer: wraps. integer to float: rounded once.
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

/// One element as a double (exact) and back (rounded as above; integers wrap).
double load_scalar(const void* element, DType);
void store_scalar(double value, DType, void* element);

/// An immediate as an i32: its fraction dropped, modulo 2^32; 0 for NaN and infinities.
int32_t wrap_i32(double value);

/// out[i] = 1 where element i is not zero (NaN is not), else 0.
void nonzero(const void* in, DType, uint8_t* out, size_t n);

}  // namespace kernbench
