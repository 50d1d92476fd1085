// SPDX-License-Identifier: Apache-2.0
// Element types of tensors (data rules §4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// An element of a packed type (i4, e2m1) is a byte that holds two values, low nibble first. Shapes count bytes.
enum class DType : uint8_t { f32, f16, bf16, i8, i16, i32, u8, f8e4m3, f8e5m2, u16, u32, i64, i4, e2m1 };

/// Bytes of one element.
size_t size_of(DType);
/// "f32", "f16", "bf16", "i8", "i16", "i32", "u8", "f8e4m3", "f8e5m2", "u16", "u32", "i64", "i4", "e2m1".
std::string_view name_of(DType);
std::optional<DType> parse_dtype(std::string_view);
bool is_float(DType);
/// Whether an element is a byte with two values (for storage and GEMM operands only).
bool is_packed(DType);
/// Values in an element: 2 for packed types, else 1.
int values_in(DType);
/// The largest finite value: 65504 for f16, 127 for i8, 7 for i4. That of i64 is rounded to 2^63.
double largest_of(DType);
/// Integers beyond the range of i32: u32, i64. They are computed in i64.
bool is_wide_integer(DType);
/// The type of single values: i8 for i4, f32 for e2m1, else the type itself. .npy files use it for packed types.
DType unpacked(DType);
/// The accumulator type of a GEMM with elements of this type: f32 for floats, i32 for integers.
DType accumulator_of(DType);

}  // namespace kernbench::phase2
