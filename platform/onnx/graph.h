// SPDX-License-Identifier: Apache-2.0
// An ONNX graph as the rest of this folder knows it: plain data, as the file has it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/phase2/op/op.h"

namespace kernbench::onnx {

using Shape = std::vector<int64_t>;

/// Product of all dimensions; 1 of none. InputError where one is negative or the product is above kMostElements.
int64_t elements_of(const Shape&);
constexpr int64_t kMostElements = int64_t{1} << 34;
/// "[2, 3]".
std::string to_string(const Shape&);
/// Of row-major elements.
Shape row_major_strides(const Shape&);

/// Element types by ONNX's numbers.
enum class Type : int64_t {
  not_a_tensor = -1,  ///< sequences, maps, optionals
  none = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22
};
/// One that ONNX does not have is told by its number.
inline Type type_of(int64_t number) {
  return static_cast<Type>(number);
}
/// As arrays have it: none is of booleans.
Type type_of(DType);
/// "float16"; "type 99" of a number that ONNX does not have.
std::string name_of(Type);
/// What Phase 2 computes with: booleans are u8, 0 or 1. None of types that it lacks.
std::optional<DType> dtype_of(Type);

struct TensorData {
  Type type = Type::none;
  Shape shape;
  Bytes bytes;  ///< row-major
  DType dtype() const { return *dtype_of(type); }
  int64_t elements() const { return elements_of(shape); }
  /// Of integer types and booleans.
  std::vector<int64_t> ints() const;
  std::vector<double> reals() const;
  static TensorData of_ints(const std::vector<int64_t>& values, const Shape& shape, Type = Type::int64);
};

struct Graph;

/// By ONNX's numbers; none: of old files, which do not say it.
enum class AttributeType : int32_t {
  none = 0,
  real = 1,
  integer = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  strings = 8
};
std::string name_of(AttributeType);

struct Attribute {
  AttributeType type = AttributeType::none;
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::shared_ptr<const TensorData> t;
  std::shared_ptr<const Graph> g;
};

struct Node {
  std::string name;  ///< as the file has it, else "OP_N" by its place
  std::string op, domain;
  std::vector<std::string> inputs, outputs;  ///< empty: left out
  std::map<std::string, Attribute> attributes;
};

/// A named input or output of a graph. Dimensions of −1 have a name, or nothing at all.
struct Port {
  std::string name;
  Type type = Type::none;
  bool has_shape = false;
  Shape shape;
  std::vector<std::string> dim_names;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Port> inputs, outputs;
  std::vector<Port> declared;  ///< values between nodes, of which the file says type or shape
  std::map<std::string, std::shared_ptr<const TensorData>> constants;  ///< initializers
};

struct Model {
  std::string file;
  Graph graph;
  std::map<std::string, int64_t> opsets;  ///< by domain; "" is ONNX's own
};

}  // namespace kernbench::onnx
