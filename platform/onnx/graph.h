// SPDX-License-Identifier: Apache-2.0
// An ONNX graph as plain data, exactly as the file has it. The rest of this folder uses it instead of protobuf
// messages.
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

/// Product of all dimensions; 1 for a scalar. InputError if a dimension is negative or the product exceeds
/// kMostElements.
int64_t elements_of(const Shape&);
constexpr int64_t kMostElements = int64_t{1} << 34;
/// "[2, 3]".
std::string to_string(const Shape&);
/// Row-major strides in elements.
Shape row_major_strides(const Shape&);

/// Element types, numbered as in ONNX.
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
/// A number that ONNX does not define is reported as it is.
inline Type type_of(int64_t number) {
  return static_cast<Type>(number);
}
/// The tensor type of an array's dtype; no array is boolean.
Type type_of(DType);
/// "float16"; "type 99" for a number that ONNX does not define.
std::string name_of(Type);
/// The dtype that Phase 2 computes with; booleans are u8, 0 or 1. None if Phase 2 lacks the type.
std::optional<DType> dtype_of(Type);

struct TensorData {
  Type type = Type::none;
  Shape shape;
  Bytes bytes;  ///< row-major
  DType dtype() const { return *dtype_of(type); }
  int64_t elements() const { return elements_of(shape); }
  /// Elements of integer and boolean tensors.
  std::vector<int64_t> ints() const;
  std::vector<double> reals() const;
  static TensorData of_ints(const std::vector<int64_t>& values, const Shape& shape, Type = Type::int64);
};

struct Graph;

/// Numbered as in ONNX. `none`: old files do not give the type.
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
  std::string name;  ///< from the file, else "OP_N" with its position
  std::string op, domain;
  std::vector<std::string> inputs, outputs;  ///< empty name: left out
  std::map<std::string, Attribute> attributes;
};

/// A named input or output of a graph. A dimension of −1 is symbolic or unknown.
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
  std::vector<Port> declared;  ///< intermediate values whose type or shape the file declares
  std::map<std::string, std::shared_ptr<const TensorData>> constants;  ///< initializers
};

struct Model {
  std::string file;
  Graph graph;
  std::map<std::string, int64_t> opsets;  ///< by domain; "" is ONNX's own domain
};

}  // namespace kernbench::onnx
