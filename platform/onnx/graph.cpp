// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/graph.h"

#include <cstring>
#include <iterator>

#include "kernbench/kernel_api/host_tensor.h"
#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/op/errors.h"

namespace kernbench::onnx {
namespace {

struct TypeRow {
  Type type;
  const char* name;
  std::optional<DType> dtype;
};

constexpr TypeRow kTypes[] = {
    {Type::float32, "float", DType::f32},
    {Type::uint8, "uint8", DType::u8},
    {Type::int8, "int8", DType::i8},
    {Type::uint16, "uint16", DType::u16},
    {Type::int16, "int16", DType::i16},
    {Type::int32, "int32", DType::i32},
    {Type::int64, "int64", DType::i64},
    {Type::string, "string", std::nullopt},
    {Type::boolean, "bool", DType::u8},
    {Type::float16, "float16", DType::f16},
    {Type::float64, "double", std::nullopt},
    {Type::uint32, "uint32", DType::u32},
    {Type::uint64, "uint64", std::nullopt},
    {Type::complex64, "complex64", std::nullopt},
    {Type::complex128, "complex128", std::nullopt},
    {Type::bfloat16, "bfloat16", DType::bf16},
    {Type::float8e4m3fn, "float8e4m3fn", DType::f8e4m3},
    {Type::float8e4m3fnuz, "float8e4m3fnuz", std::nullopt},
    {Type::float8e5m2, "float8e5m2", DType::f8e5m2},
    {Type::float8e5m2fnuz, "float8e5m2fnuz", std::nullopt},
    {Type::uint4, "uint4", std::nullopt},
    {Type::int4, "int4", std::nullopt},
    {Type::not_a_tensor, "no tensor (a sequence, map or optional)", std::nullopt},
    {Type::none, "no type", std::nullopt},
};

const TypeRow* row_of(Type t) {
  for (const TypeRow& r : kTypes) {
    if (r.type == t) return &r;
  }
  return nullptr;
}

}  // namespace

int64_t elements_of(const Shape& s) {
  int64_t n = 1;
  for (const int64_t d : s) {
    if (d == 0) return 0;
    if (d < 0 || n > kMostElements / d)
      throw InputError("found shape " + to_string(s) + ", expected at most 2^34 elements");
    n *= d;
  }
  return n;
}

std::string to_string(const Shape& s) {
  std::string text = "[";
  for (const int64_t d : s) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

Shape row_major_strides(const Shape& s) {
  Shape strides(s.size(), 1);
  for (size_t i = s.size(); i-- > 1;) strides[i - 1] = strides[i] * s[i];
  return strides;
}

Type type_of(DType t) {
  for (const TypeRow& r : kTypes) {
    if (r.dtype == t && r.type != Type::boolean) return r.type;
  }
  return Type::none;
}

std::string name_of(AttributeType t) {
  static const char* const kNames[] = {"nothing",          "a float", "an integer",       "a string",
                                       "a tensor",         "a graph", "a list of floats", "a list of integers",
                                       "a list of strings"};
  const auto i = static_cast<size_t>(t);
  return i < std::size(kNames) ? kNames[i] : "of type " + std::to_string(static_cast<int>(t));
}

std::string name_of(Type t) {
  const TypeRow* r = row_of(t);
  return r ? r->name : "type " + std::to_string(static_cast<int64_t>(t));
}

std::optional<DType> dtype_of(Type t) {
  const TypeRow* r = row_of(t);
  return r ? r->dtype : std::nullopt;
}

std::vector<double> TensorData::reals() const {
  return values_of(dtype(), bytes.data(), static_cast<size_t>(elements()));
}

std::vector<int64_t> TensorData::ints() const {
  if (dtype() == DType::i64) {
    std::vector<int64_t> v(static_cast<size_t>(elements()));
    if (!v.empty()) std::memcpy(v.data(), bytes.data(), bytes.size());
    return v;
  }
  const std::vector<double> v = reals();
  return std::vector<int64_t>(v.begin(), v.end());
}

TensorData TensorData::of_ints(const std::vector<int64_t>& values, const Shape& shape, Type type) {
  TensorData t{type, shape, {}};
  const size_t size = size_of(t.dtype());
  t.bytes.resize(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(t.bytes.data() + i * size, &values[i], size);  // little endian
  return t;
}

}  // namespace kernbench::onnx
