// SPDX-License-Identifier: Apache-2.0
// A node with the types and shapes that it has in one run, and the table of all known ops (docs/onnx.md).
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

/// The reason why a node cannot be run: one line, without the node's name.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "node 'relu_1' (Relu)", for messages.
std::string described(const Node&);

/// Refusal if it is missing or has another type.
const Attribute& attribute_of(const Node&, const std::string& name, AttributeType);

/// Checks attributes that only kernels read, too late to refuse the graph. Throws Refusal.
void check_attribute_types(const Node&);

/// Element types that an op takes. Numbers: all but booleans. Indices: int32 and int64.
enum class Takes : uint8_t { any, numbers, floats, integers, indices, booleans };
bool takes(Takes, Type);

/// A tensor between nodes.
struct Value {
  std::string name;
  Type type = Type::none;
  Shape shape;
  std::shared_ptr<const TensorData> constant;  ///< set if the value is the same for all inputs
  std::shared_ptr<const TensorData> known;     ///< the value in this run, if something requested it
  const Value* bytes_of = nullptr;             ///< the value that owns these bytes, in another shape; null: this one
  int64_t elements() const { return elements_of(shape); }
  DType dtype() const { return *dtype_of(type); }
};

/// The value that owns the bytes.
inline const Value& stored(const Value& v) {
  return v.bytes_of ? *v.bytes_of : v;
}

class Op;
class Pe;
struct Strides;
using Operands = std::vector<tl::Tensor>;

constexpr int kNewest = 23, kOldest = 1;             // opsets
constexpr const char* kMicrosoft = "com.microsoft";  // the domain of onnxruntime's own ops

/// Refusal if a node has more inputs or other attributes than its op allows (OpRow::form).
void check_form(const Node&, int64_t opset, const std::string& form);

struct OpRow {
  const char* name;
  int since;           ///< first opset to which this row applies
  void (*shape)(Op&);  ///< derives types and shapes of the outputs from the inputs; throws Refusal
  void (*run)(Pe&);    ///< runs on each PE; null: the output is the input's bytes and nothing moves
  const char* how;     ///< how it runs, as shown by --plan and docs/onnx.md
  /// Legal inputs and attributes: the number of inputs, "many", or "5>=10" (one fewer before opset 10), then the
  /// attributes ("axes<13": up to opset 12).
  std::string form = "0";
  bool reads_values = false;  ///< the kernel reads elements, also computed ones (tl.materialize)
  bool takes_empty = false;   ///< the op handles inputs without elements itself
  int until = kNewest;        ///< last opset to which this row applies
  const char* domain = "";
  /// The kernel passes each element of output 0 to Pe::put once, so followers can run in its tiles.
  bool leads = false;
  double (*macs)(const Op&) = nullptr;      ///< multiply-accumulates of its products; null: none, or not counted
  bool (*same_bytes)(const Op&) = nullptr;  ///< whether output 0 is the input's bytes for this op; null: decided by
                                            ///< `run`
  /// Set for elementwise ops: computes output 0 from the inputs' elements at a position, with the view of each input.
  /// Such an op may follow another in its tiles (fusion.h).
  tl::Tensor (*each)(Pe&, const Operands&) = nullptr;
  std::vector<Strides> (*views)(const Op&) = nullptr;
};

/// Null if that domain and opset have no such op; `*known` tells whether another opset has it.
const OpRow* find_row(const std::string& domain, const std::string& name, int64_t opset, bool* known);

/// Adds rows to the table. Each file of ops has one such object at namespace scope.
class RegisterOps {
 public:
  explicit RegisterOps(std::vector<OpRow> rows);
};

class Op {
 public:
  const Node* node = nullptr;
  const OpRow* row = nullptr;
  int64_t opset = 0;
  const Op* stands_for = nullptr;  ///< the graph's op that a pattern's op replaces; null: this op is in the graph
  std::vector<Value*> inputs;      ///< null: left out
  std::vector<Value*> outputs;     ///< null: left out
  /// Computes a value in this run, for shapes that depend on values.
  std::function<std::shared_ptr<const TensorData>(Value&)> evaluate;

  /// Whether output 0 is the input's bytes.
  bool moves_nothing() const { return !row->run || (row->same_bytes && row->same_bytes(*this)); }
  bool has(size_t i) const { return i < inputs.size() && inputs[i]; }
  bool has_output(size_t i) const { return i < outputs.size() && outputs[i]; }
  /// Refusal if it is left out.
  const Value& in(size_t i) const;
  const Shape& shape(size_t i = 0) const { return in(i).shape; }
  /// Refusal if it is left out.
  const Value& out(size_t i = 0) const;
  int64_t rank(size_t i = 0) const { return static_cast<int64_t>(shape(i).size()); }

  bool given(const std::string& attribute) const { return node->attributes.count(attribute) > 0; }
  // Attribute getters: Refusal if the type differs, or if it is missing without a default.
  const Attribute& attribute(const std::string& name, AttributeType type) const {
    return attribute_of(*node, name, type);
  }
  int64_t integer(const std::string& name) const { return attribute(name, AttributeType::integer).i; }
  int64_t integer(const std::string& name, int64_t fallback) const;
  float real(const std::string& name, float fallback) const;
  /// One of the legal words; the Refusal lists them.
  std::string word(const std::string& name, const std::vector<std::string>& legal, const std::string& fallback) const;
  std::vector<int64_t> ints(const std::string& name, std::vector<int64_t> fallback = {}) const;
  /// Normalizes an axis of input 0, or of a given rank, to 0 … rank − 1.
  int64_t axis(int64_t a, int64_t of_rank) const;
  int64_t axis_attribute(const std::string& name, int64_t fallback) const {
    return axis(integer(name, fallback), rank());
  }
  /// Elements of an integer input in this run. The plan is then valid for these values only.
  std::vector<int64_t> values(size_t i) const;
  std::vector<double> reals(size_t i) const;
  /// The value of a one-element input.
  int64_t value(size_t i) const;
  double real_value(size_t i) const;
  /// From an input if it is present, else from an attribute (newer opsets replace some attributes by inputs).
  std::vector<int64_t> values_or_ints(size_t i, const std::string& name, std::vector<int64_t> fallback = {}) const {
    return has(i) ? values(i) : ints(name, std::move(fallback));
  }

  /// Checks the element type of an input. Throws Refusal.
  void require_type(size_t i, Takes) const;
  void require_single(size_t i) const;  ///< one element
  void require_same_types(size_t a, size_t b) const;
  void require_shape(size_t i, const Shape&) const;
  void set_output(size_t i, Type type, Shape shape);
  [[noreturn]] void refuse(const std::string& why) const { throw Refusal(why); }
  /// Checks the values of a size attribute.
  void require_range(const char* attribute, const Shape&, int64_t least, int64_t most) const;
  /// Sizes and offsets of windows must lie within ±2^24, so that arithmetic on them cannot overflow.
  void require_small(const std::vector<Shape>&) const;
  void require(bool holds, const std::string& why) const {
    if (!holds) refuse(why);
  }
};

/// Whether it is one of onnxruntime's own ops.
inline bool is_microsofts(const Op& op) {
  return op.node->domain == kMicrosoft;
}

/// numpy's broadcasting rule. Throws Refusal.
Shape broadcast(const std::vector<Shape>&);

// A shape rule shared by several rows.
void like_first(Op&);  ///< output 0 has the shape and type of input 0

}  // namespace kernbench::onnx
