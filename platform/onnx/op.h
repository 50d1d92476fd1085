// SPDX-License-Identifier: Apache-2.0
// A node with the types and shapes that it has in one run, and the table of what is known of each op (docs/onnx.md).
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/graph.h"

namespace kernbench::tl {
class Tensor;
}

namespace kernbench::onnx {

/// Why a node cannot be run: one line, without its name.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "node 'relu_1' (Relu)", for messages.
std::string described(const Node&);

/// Refusal where there is none, or one of another type.
const Attribute& attribute_of(const Node&, const std::string& name, AttributeType);

/// Of attributes that kernels alone read, and read too late to refuse the graph. Refusal.
void check_attribute_types(const Node&);

/// Which elements an op takes: numbers are all but booleans, indices int32 and int64.
enum class Takes : uint8_t { any, numbers, floats, integers, indices, booleans };
bool takes(Takes, Type);

/// A tensor between nodes.
struct Value {
  std::string name;
  Type type = Type::none;
  Shape shape;
  std::shared_ptr<const TensorData> constant;  ///< the same whatever the inputs are
  std::shared_ptr<const TensorData> known;     ///< what it is in this run, where somebody has asked
  const Value* bytes_of = nullptr;             ///< the value whose bytes these are, in another shape; null: its own
  int64_t elements() const { return elements_of(shape); }
  DType dtype() const { return *dtype_of(type); }
};

/// The value whose bytes these are.
inline const Value& stored(const Value& v) {
  return v.bytes_of ? *v.bytes_of : v;
}

class Op;
class Pe;
struct Strides;
using Operands = std::vector<tl::Tensor>;

constexpr int kNewest = 23, kOldest = 1;             // opsets
constexpr const char* kMicrosoft = "com.microsoft";  // the domain of onnxruntime's own ops

/// Refusal of a node with more inputs or other attributes than its op has (OpRow::form).
void check_form(const Node&, int64_t opset, const std::string& form);

struct OpRow {
  const char* name;
  int since;           ///< the first opset in which it means what this row does
  void (*shape)(Op&);  ///< types and shapes of the outputs, from the inputs. Refusal
  void (*run)(Pe&);    ///< on each PE; null: the output is the input's bytes, and nothing moves
  const char* how;     ///< how it runs, for --plan and docs/onnx.md
  /// What a node may have: the number of inputs, "many", or "5>=10" (one before opset 10), then its attributes
  /// ("axes<13": up to opset 12).
  std::string form = "0";
  bool reads_values = false;  ///< the kernel reads elements, also computed ones (tl.materialize)
  bool takes_empty = false;   ///< inputs without elements are its business
  int until = kNewest;        ///< the last opset
  const char* domain = "";
  /// Its kernel gives each element of output 0 to Pe::put once: others may follow in its tiles.
  bool leads = false;
  double (*macs)(const Op&) = nullptr;      ///< multiplications of its products; null: it has none, or does not say
  bool (*same_bytes)(const Op&) = nullptr;  ///< whether output 0 is the input's bytes here; null: as `run` says
  /// Position by position: output 0 of the inputs' elements at a position, and how each input is seen there. Such an op
  /// may follow another in its tiles (fusion.h).
  tl::Tensor (*each)(Pe&, const Operands&) = nullptr;
  std::vector<Strides> (*views)(const Op&) = nullptr;
};

/// Null where there is none of that domain and name in that opset; `*known` says whether another opset has it.
const OpRow* find_row(const std::string& domain, const std::string& name, int64_t opset, bool* known);

/// Adds rows to the table: one object a file of ops, at namespace scope.
class RegisterOps {
 public:
  explicit RegisterOps(std::vector<OpRow> rows);
};

class Op {
 public:
  const Node* node = nullptr;
  const OpRow* row = nullptr;
  int64_t opset = 0;
  const Op* stands_for = nullptr;  ///< of the graph, where this is a pattern's; null: it is of the graph itself
  std::vector<Value*> inputs;      ///< null: left out
  std::vector<Value*> outputs;     ///< null: left out
  /// What a value is in this run, for shapes that depend on values.
  std::function<std::shared_ptr<const TensorData>(Value&)> evaluate;

  /// Output 0 is the input's bytes.
  bool moves_nothing() const { return !row->run || (row->same_bytes && row->same_bytes(*this)); }
  bool has(size_t i) const { return i < inputs.size() && inputs[i]; }
  bool has_output(size_t i) const { return i < outputs.size() && outputs[i]; }
  /// Refusal where it is left out.
  const Value& in(size_t i) const;
  const Shape& shape(size_t i = 0) const { return in(i).shape; }
  /// Refusal where it is left out.
  const Value& out(size_t i = 0) const;
  int64_t rank(size_t i = 0) const { return static_cast<int64_t>(shape(i).size()); }

  bool given(const std::string& attribute) const { return node->attributes.count(attribute) > 0; }
  // Attributes: Refusal where one is of another type, or is missing and nothing stands for it.
  const Attribute& attribute(const std::string& name, AttributeType type) const {
    return attribute_of(*node, name, type);
  }
  int64_t integer(const std::string& name) const { return attribute(name, AttributeType::integer).i; }
  int64_t integer(const std::string& name, int64_t fallback) const;
  float real(const std::string& name, float fallback) const;
  /// One of the legal words; Refusal with what was meant.
  std::string word(const std::string& name, const std::vector<std::string>& legal, const std::string& fallback) const;
  std::vector<int64_t> ints(const std::string& name, std::vector<int64_t> fallback = {}) const;
  /// An axis of input 0, or of that rank, as 0 … rank − 1.
  int64_t axis(int64_t a, int64_t of_rank) const;
  int64_t axis_attribute(const std::string& name, int64_t fallback) const {
    return axis(integer(name, fallback), rank());
  }
  /// The elements of an integer input in this run. It is then planned for these.
  std::vector<int64_t> values(size_t i) const;
  std::vector<double> reals(size_t i) const;
  /// Of an input of one element.
  int64_t value(size_t i) const;
  double real_value(size_t i) const;
  /// An input of these, else an attribute (in newer opsets an input says what an attribute said).
  std::vector<int64_t> values_or_ints(size_t i, const std::string& name, std::vector<int64_t> fallback = {}) const {
    return has(i) ? values(i) : ints(name, std::move(fallback));
  }

  /// Of an input's elements. Refusal.
  void require_type(size_t i, Takes) const;
  void require_single(size_t i) const;  ///< one element
  void require_same_types(size_t a, size_t b) const;
  void require_shape(size_t i, const Shape&) const;
  void set_output(size_t i, Type type, Shape shape);
  [[noreturn]] void refuse(const std::string& why) const { throw Refusal(why); }
  /// Of an attribute of sizes.
  void require_range(const char* attribute, const Shape&, int64_t least, int64_t most) const;
  /// Sizes and offsets of windows lie within ±2^24, so that what is computed of them does not overflow.
  void require_small(const std::vector<Shape>&) const;
  void require(bool holds, const std::string& why) const {
    if (!holds) refuse(why);
  }
};

/// One of onnxruntime's own.
inline bool is_microsofts(const Op& op) {
  return op.node->domain == kMicrosoft;
}

/// numpy's rule. Refusal.
Shape broadcast(const std::vector<Shape>&);

// A shape rule that several rows share.
void like_first(Op&);  ///< output 0 is as input 0

}  // namespace kernbench::onnx
