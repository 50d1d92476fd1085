// SPDX-License-Identifier: Apache-2.0
// Triton's IR (TTIR) as data: the reader's output and the interpreter's input. Plain C++ without SystemC or MLIR.
//
// Functions contain regions, regions contain blocks, blocks contain operations in order. Each value has a type and a
// number within its function. Custom and generic assembly give equal operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/op/op.h"

namespace kernbench::triton {

enum class Element : uint8_t { unknown, i1, i8, i16, i32, i64, index, f8e4m3, f8e5m2, bf16, f16, f32, f64 };
/// "i32", "f8E5M2".
const char* name_of(Element);
bool is_float(Element);
/// Width of an integer; index counts as 64.
int bits_of(Element);
/// The type in TCM that holds the element; std::out_of_range for index and f64, which TCM cannot hold.
DType dtype_of(Element);
bool fits_memory(Element);

/// A tensor's dimensions, any number. If tl supports fewer, the interpreter sees the tensor as one line of its elements
/// in row-major order.
class Shape {
 public:
  static constexpr int kMostDims = 62;  ///< more are impossible for a countable tensor, apart from dimensions of size 1
  Shape() = default;
  Shape(const Dims& dims) : dims_(dims) {}  // NOLINT: implicit
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}

  bool is_deep() const { return deep_ != nullptr; }
  int rank() const { return deep_ ? static_cast<int>(deep_->size()) : dims_.rank(); }
  int64_t operator[](int i) const { return begin()[i]; }
  const int64_t* begin() const { return deep_ ? deep_->data() : dims_.begin(); }
  const int64_t* end() const { return begin() + rank(); }
  int64_t elements() const { return dims_.elements(); }
  void push_back(int64_t n);
  operator const Dims&() const { return dims_; }  // NOLINT: implicit
  const Dims& dims() const { return dims_; }
  bool operator==(const Shape& o) const {
    return dims_ == o.dims_ && rank() == o.rank() && std::equal(begin(), end(), o.begin());
  }
  bool operator!=(const Shape& o) const { return !(*this == o); }

 private:
  Dims dims_;
  std::shared_ptr<const std::vector<int64_t>> deep_;  ///< more than kMaxRank
};

struct Type {
  enum class Kind : uint8_t {
    unknown,        ///< result of an unknown operation; matches every type
    number,         ///< a number or a tensor of numbers
    pointer,        ///< a pointer to an element, or a tensor of pointers
    block_pointer,  ///< !tt.ptr<tensor<...>>: one tile of a tensor in memory
    descriptor,     ///< !tt.tensordesc<...>: a tensor in memory that is read in tiles
  };
  Kind kind = Kind::unknown;
  Element element = Element::unknown;
  bool tensor = false;
  Shape shape = {};

  bool known() const { return kind != Kind::unknown; }
  bool is(Kind k, bool is_tensor) const { return kind == k && tensor == is_tensor; }
  bool operator==(const Type& o) const {
    return kind == o.kind && element == o.element && tensor == o.tensor && shape == o.shape;
  }
  bool operator!=(const Type& o) const { return !(*this == o); }
  /// The same shape with another element.
  Type with(Kind k, Element e) const {
    Type t = *this;
    t.kind = k;
    t.element = e;
    return t;
  }
  /// "tensor<64x!tt.ptr<f16>>".
  std::string to_string() const;
};

/// A place in the Python source.
struct Location {
  std::string file;  ///< empty: unknown
  int line = 0;
  std::string name;  ///< of a variable
};

struct Attribute {
  enum class Kind : uint8_t { unit, integer, real, text, integers, dense } kind = Kind::unit;
  int64_t integer = 0;
  double real = 0;
  std::string text;               ///< a string, a symbol, a keyword
  std::vector<int64_t> integers;  ///< array<i32: 1, 0>; elements of a dense integer constant, or one if all are equal
  std::vector<double> reals;      ///< the same for floats
  Type type = {};
};

using ValueId = uint32_t;

struct OpInfo;
struct Operation;

struct Block {
  std::vector<ValueId> arguments;
  std::vector<Operation> operations;
};

struct Region {
  std::vector<Block> blocks;
};

/// A branch's target block and the values of that block's arguments.
struct Successor {
  uint32_t block = 0;
  std::vector<ValueId> operands;
};

struct Operation {
  std::string name;
  const OpInfo* info = nullptr;  ///< null: unknown (op_table.h)
  int line = 0;                  ///< in the text
  uint32_t location = 0;         ///< in the module's table of locations
  std::vector<ValueId> operands, results;
  std::map<std::string, Attribute> attributes;
  std::vector<Region> regions;
  std::vector<Successor> successors;

  const Attribute* attribute(const std::string& key) const {
    const auto it = attributes.find(key);
    return it == attributes.end() ? nullptr : &it->second;
  }
};

struct Argument {
  std::string name;  ///< from its location, else arg0, arg1, ...
  ValueId value = 0;
  int64_t divisibility = 1;  ///< of the number or address, as the compiler's caller promises
};

struct Function {
  std::string name;
  int line = 0;
  bool is_public = true;
  std::vector<Argument> arguments;
  std::vector<Type> results;
  Region body;              ///< no blocks: declaration only
  std::vector<Type> types;  ///< by ValueId
};

/// An operation that cannot be read or run, with the reason.
struct Refusal {
  int line = 0;
  std::string op, why;
};

struct Module {
  std::string file;
  std::vector<Function> functions;
  std::vector<Location> locations;  ///< entry 0: unknown
  std::vector<Refusal> unknown;     ///< operations and types that the reader does not know

  const Function* function(const std::string& name) const;
};

}  // namespace kernbench::triton
