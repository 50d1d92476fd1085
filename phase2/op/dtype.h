// Element types of tensors (data contract §4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernbench {

/// Of the packed types, i4 and e2m1, an element is a byte that holds two values, the low nibble first: shapes count
/// bytes.
enum class DType : uint8_t { f32, f16, bf16, i8, i16, i32, u8, f8e4m3, f8e5m2, u16, u32, i64, i4, e2m1 };

/// Bytes of one element.
size_t size_of(DType);
/// "f32", "f16", "bf16", "i8", "i16", "i32", "u8", "f8e4m3", "f8e5m2", "u16", "u32", "i64", "i4", "e2m1".
std::string_view name_of(DType);
std::optional<DType> parse_dtype(std::string_view);
bool is_float(DType);
/// Whether an element is a byte of two values (storage and operands of GEMM only).
bool is_packed(DType);
/// Values in an element: 2 of packed types, else 1.
int values_in(DType);
/// Integers whose values an i32 does not hold: u32, i64. They are computed in i64.
bool is_wide_integer(DType);
/// The type of single values: i8 of i4, f32 of e2m1, else the type itself; what .npy files hold of packed types.
DType unpacked(DType);
/// The type a GEMM over elements of this type accumulates in: f32 for floats, i32 for integers.
DType accumulator_of(DType);

}  // namespace kernbench
