// Element types of tensors (data contract §4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernbench {

enum class DType : uint8_t { f32, f16, bf16, i8, i16, i32, u8, f8e4m3, f8e5m2 };

/// Bytes of one element.
size_t size_of(DType);
/// "f32", "f16", "bf16", "i8", "i16", "i32", "u8", "f8e4m3", "f8e5m2".
std::string_view name_of(DType);
std::optional<DType> parse_dtype(std::string_view);
bool is_float(DType);
/// The type a GEMM over elements of this type accumulates in: f32 for floats, i32 for integers.
DType accumulator_of(DType);

}  // namespace kernbench
