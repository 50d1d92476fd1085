// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/dtype.h"

namespace kernbench::phase2 {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  size_t bytes;
  bool floating;
  bool packed = false;
};

constexpr Entry kTypes[] = {
    {DType::f32, "f32", 4, true},      {DType::f16, "f16", 2, true},         {DType::bf16, "bf16", 2, true},
    {DType::i8, "i8", 1, false},       {DType::i16, "i16", 2, false},        {DType::i32, "i32", 4, false},
    {DType::u8, "u8", 1, false},       {DType::f8e4m3, "f8e4m3", 1, true},   {DType::f8e5m2, "f8e5m2", 1, true},
    {DType::u16, "u16", 2, false},     {DType::u32, "u32", 4, false},        {DType::i64, "i64", 8, false},
    {DType::i4, "i4", 1, false, true}, {DType::e2m1, "e2m1", 1, true, true},
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
