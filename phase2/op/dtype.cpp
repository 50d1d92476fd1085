// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/dtype.h"

#include <limits>

namespace kernbench::phase2 {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  size_t bytes;
  bool floating;
  double largest;
  bool packed = false;
};

template <class T>
constexpr double kLargest = static_cast<double>(std::numeric_limits<T>::max());

constexpr Entry kTypes[] = {
    {DType::f32, "f32", 4, true, kLargest<float>},
    {DType::f16, "f16", 2, true, 65504},
    {DType::bf16, "bf16", 2, true, 0x1.fep127},
    {DType::i8, "i8", 1, false, kLargest<int8_t>},
    {DType::i16, "i16", 2, false, kLargest<int16_t>},
    {DType::i32, "i32", 4, false, kLargest<int32_t>},
    {DType::u8, "u8", 1, false, kLargest<uint8_t>},
    {DType::f8e4m3, "f8e4m3", 1, true, 448},
    {DType::f8e5m2, "f8e5m2", 1, true, 57344},
    {DType::u16, "u16", 2, false, kLargest<uint16_t>},
    {DType::u32, "u32", 4, false, kLargest<uint32_t>},
    {DType::i64, "i64", 8, false, kLargest<int64_t>},
    {DType::i4, "i4", 1, false, 7, true},
    {DType::e2m1, "e2m1", 1, true, 6, true},
};

const Entry& entry(DType t) {
  return kTypes[static_cast<size_t>(t)];
}

}  // namespace

size_t size_of(DType t) {
  return entry(t).bytes;
}
std::string_view name_of(DType t) {
  return entry(t).name;
}
bool is_float(DType t) {
  return entry(t).floating;
}
bool is_packed(DType t) {
  return entry(t).packed;
}
int values_in(DType t) {
  return is_packed(t) ? 2 : 1;
}
double largest_of(DType t) {
  return entry(t).largest;
}
bool is_wide_integer(DType t) {
  return t == DType::u32 || t == DType::i64;
}
DType unpacked(DType t) {
  return t == DType::i4 ? DType::i8 : t == DType::e2m1 ? DType::f32 : t;
}
DType accumulator_of(DType t) {
  return is_float(t) ? DType::f32 : DType::i32;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Entry& e : kTypes) {
    if (e.name == name) return e.dtype;
  }
  return std::nullopt;
}

}  // namespace kernbench::phase2
