// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/composites.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernbench/phase2/text/text.h"

namespace kernbench::onnx {
namespace {

using Attributes = std::map<std::string, Attribute>;

Attribute of_integer(int64_t i) {
  Attribute a;
  a.type = AttributeType::integer;
  a.i = i;
  return a;
}
Attribute of_real(double f) {
  Attribute a;
  a.type = AttributeType::real;
  a.f = static_cast<float>(f);
  return a;
}

/// Builds the replacement nodes of one composite node and names them after it.
class Composite {
 public:
  Composite(const Node& n, int64_t opset, const Unrolling& u) : n_(n), opset_(opset), u_(u) {}

  const Node& node() const { return n_; }
  int64_t opset() const { return opset_; }
  bool has(size_t i) const { return i < n_.inputs.size() && !n_.inputs[i].empty(); }
  bool has_output(size_t i) const { return i < n_.outputs.size() && !n_.outputs[i].empty(); }
  /// Returns the input's name; empty if it is left out.
  std::string in(size_t i) const { return has(i) ? n_.inputs[i] : ""; }
  std::string out(size_t i = 0) const { return has_output(i) ? n_.outputs[i] : ""; }
  const Value& value(size_t i) const {
    require(has(i), "input " + std::to_string(i) + " is missing");
    return u_.value(n_.inputs[i]);
  }
  /// Returns the shape of an already planned value; the empty shape if it was refused.
  Shape shape_of(const std::string& name) const { return u_.is_refused(name) ? Shape{} : u_.value(name).shape; }
  void require(bool holds, const std::string& why) const {
    if (!holds) throw Refusal(why);
  }
  bool given(const char* name) const { return n_.attributes.count(name) > 0; }
  int64_t integer(const char* name, int64_t fallback) const {
    return given(name) ? attribute_of(n_, name, AttributeType::integer).i : fallback;
  }
  float real(const char* name, float fallback) const {
    return given(name) ? attribute_of(n_, name, AttributeType::real).f : fallback;
  }
  /// Returns the listed attributes that this node has.
  Attributes own(const std::vector<std::string>& names) const {
    Attributes some;
    for (const std::string& name : names) {
      const auto it = n_.attributes.find(name);
      if (it != n_.attributes.end()) some.insert(*it);
    }
    return some;
  }

  /// Appends a node and returns the name of its first output. If no name is given, one is generated.
  std::string emit(const char* op, std::vector<std::string> inputs, Attributes attributes = {}, std::string to = "",
                   const char* domain = "", std::vector<std::string> more = {}) {
    Node made;
    made.name = n_.name + "/" + op;
    made.op = op;
    made.domain = domain;
    made.inputs = std::move(inputs);
    made.outputs = {to.empty() ? tensor(op) : std::move(to)};
    made.outputs.insert(made.outputs.end(), more.begin(), more.end());
    made.attributes = std::move(attributes);
    std::string name = made.outputs[0];
    u_.emit(std::move(made));
    return name;
  }
  std::string ints(const std::vector<int64_t>& values) {
    return constant(TensorData::of_ints(values, {static_cast<int64_t>(values.size())}));
  }
  std::string reshaped(const std::string& x, const Shape& shape, std::string to = "") {
    return emit("Reshape", {x, ints(shape)}, {}, std::move(to));
  }
  std::string slice(const std::string& x, int64_t first, int64_t last, int64_t axis) {
    return emit("Slice", {x, ints({first}), ints({last}), ints({axis})});
  }

  /// A tensor name derived from output 0, because nodes may share a name.
  std::string tensor(const std::string& what) { return out() + "/" + what + "_" + std::to_string(made_++); }
  std::string constant(TensorData t) {
    std::string name = tensor("constant");
    u_.constant(name, std::make_shared<const TensorData>(std::move(t)));
    return name;
  }

 private:
  const Node& n_;
  int64_t opset_;
  const Unrolling& u_;
  size_t made_ = 0;
};

// ---- Products of quantized operands

/// An integer product's sum as floats: multiplied by both scales (one scale may be per column), plus an optional bias.
void scale_sum(Composite& c, const std::string& sum, const std::string& a_scale, const std::string& b_scale,
               const std::string& bias) {
  const std::string real = c.emit("Cast", {sum}, {{"to", of_integer(1)}});
  const std::string scale = c.emit("Mul", {a_scale, b_scale});
  const std::string y = c.emit("Mul", {real, scale}, {}, bias.empty() ? c.out() : "");
  if (!bias.empty()) c.emit("Add", {y, bias}, {}, c.out());
}

void dynamic_quantize_matmul(Composite& c) {  // A, B, B's scale, its zero point, a bias
  const std::string scale = c.tensor("scale"), zero = c.tensor("zero");
  const std::string a = c.emit("DynamicQuantizeLinear", {c.in(0)}, {}, "", "", {scale, zero});
  const std::string sum = c.emit("MatMulInteger", {a, c.in(1), zero, c.in(3)});
  scale_sum(c, sum, scale, c.in(2), c.in(4));
}

void matmul_integer_to_float(Composite& c) {  // A, B, scales, zero points, a bias
  scale_sum(c, c.emit("MatMulInteger", {c.in(0), c.in(1), c.in(4), c.in(5)}), c.in(2), c.in(3), c.in(6));
}

// ---- A product or convolution and what follows it

/// The activation named by attribute `activation`. Its parameters are in a list or in separate attributes.
void activate(Composite& c, const std::string& x) {
  const std::string name = attribute_of(c.node(), "activation", AttributeType::string).s;
  std::vector<float> numbers;
  if (c.given("activation_params")) numbers = attribute_of(c.node(), "activation_params", AttributeType::reals).floats;
  const auto number = [&](size_t i, const char* own) {
    return of_real(i < numbers.size() ? numbers[i] : c.real(own, 0));
  };
  Attributes a;
  if (name == "LeakyRelu") a = {{"alpha", number(0, "activation_alpha")}};
  if (name == "HardSigmoid") a = {{"alpha", number(0, "activation_alpha")}, {"beta", number(1, "activation_beta")}};
  if (name == "Clip") {
    c.require(numbers.size() == 2, "found " + std::to_string(numbers.size()) + " activation_params of Clip");
    if (c.opset() < 11) {  // from opset 11 on: inputs
      c.emit("Clip", {x}, {{"min", of_real(numbers[0])}, {"max", of_real(numbers[1])}}, c.out());
      return;
    }
    TensorData least{Type::float32, {}, Bytes(sizeof(float))}, most = least;
    std::copy_n(reinterpret_cast<const uint8_t*>(&numbers[0]), sizeof(float), least.bytes.data());
    std::copy_n(reinterpret_cast<const uint8_t*>(&numbers[1]), sizeof(float), most.bytes.data());
    c.emit("Clip", {x, c.constant(std::move(least)), c.constant(std::move(most))}, {}, c.out());
    return;
  }
  static const std::vector<std::string> kLegal = {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid"};
  c.require(std::find(kLegal.begin(), kLegal.end(), name) != kLegal.end(),
            "its activation " + in_quotes(name) + " is not known");
  c.emit(name.c_str(), {x}, std::move(a), c.out());
}

void fused_conv(Composite& c) {  // X, W, bias, addend
  std::string y = c.emit("Conv", {c.in(0), c.in(1), c.in(2)},
                         c.own({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}),
                         c.has(3) || c.given("activation") ? "" : c.out());
  if (c.has(3)) y = c.emit("Add", {y, c.in(3)}, {}, c.given("activation") ? "" : c.out());
  if (c.given("activation")) activate(c, y);
}

void fused_gemm(Composite& c) {
  const std::string y = c.emit("Gemm", {c.in(0), c.in(1), c.in(2)}, c.own({"alpha", "beta", "transA", "transB"}),
                               c.given("activation") ? "" : c.out());
  if (c.given("activation")) activate(c, y);
}

// ---- Attention with its projections

void projected_attention(Composite& c) {  // x, weights, biases, mask, past, addend of the scores
  const Shape &x = c.value(0).shape, &w = c.value(1).shape;
  c.require(x.size() == 3 && w.size() == 2 && x[2] == w[0], "found " + to_string(x) + " times " + to_string(w));
  c.require(!c.has(6) && c.integer("past_present_share_buffer", 0) == 0, "its cache is shared, which is not run");
  c.require(c.integer("do_rotary", 0) == 0, "it has a rotary embedding, which is not run");
  std::vector<int64_t> sizes(3, w[1] / 3);
  if (c.given("qkv_hidden_sizes")) sizes = attribute_of(c.node(), "qkv_hidden_sizes", AttributeType::integers).ints;
  c.require(sizes.size() == 3 &&
                std::all_of(sizes.begin(), sizes.end(), [&](int64_t n) { return n > 0 && n <= w[1]; }) &&
                sizes[0] + sizes[1] + sizes[2] == w[1],
            "found weights of " + to_string(w) + " for queries, keys and values of " + to_string(sizes));
  std::string all = c.emit("MatMul", {c.in(0), c.in(1)});
  if (c.has(2)) all = c.emit("Add", {all, c.in(2)});
  std::vector<std::string> inputs;
  int64_t first = 0;
  for (const int64_t n : sizes) {
    inputs.push_back(c.slice(all, first, first + n, 2));
    first += n;
  }
  std::string past[2];
  if (c.has(4)) {  // [2, batch, heads, rows, columns]
    const Shape& s = c.value(4).shape;
    c.require(s.size() == 5 && s[0] == 2, "found a past of " + to_string(s));
    for (const int64_t i : {0, 1}) past[i] = c.reshaped(c.slice(c.in(4), i, i + 1, 0), {s[1], s[2], s[3], s[4]});
  }
  inputs.insert(inputs.end(), {"", c.in(3), c.in(5), past[0], past[1]});
  std::vector<std::string> more;
  if (c.has_output(1)) more = {c.tensor("keys"), c.tensor("values")};
  c.require(!c.has_output(2), "its scores are an output, which is not run");
  c.emit("MultiHeadAttention", std::move(inputs), c.own({"num_heads", "unidirectional", "mask_filter_value", "scale"}),
         c.out(), kMicrosoft, more);
  if (more.empty()) return;
  std::vector<std::string> parts;
  for (const std::string& part : more) {
    Shape s = c.shape_of(part);
    s.insert(s.begin(), 1);
    parts.push_back(c.reshaped(part, s));
  }
  c.emit("Concat", parts, {{"axis", of_integer(0)}}, c.out(1));
}

// ---- A sum of embeddings, normed

void embed_layer_norm(Composite& c) {
  // ids, segment ids, word table, position table, segment table, scale, shift, mask, position ids
  const Shape ids = c.value(0).shape;
  c.require(ids.size() == 2, "found input_ids of " + to_string(ids));
  const std::string words = c.emit("Gather", {c.in(2), c.in(0)});
  const std::string places = c.has(8) ? c.emit("Gather", {c.in(3), c.in(8)}) : c.slice(c.in(3), 0, ids[1], 0);
  std::string sum = c.emit("Add", {words, places});
  if (c.has(1)) sum = c.emit("Add", {sum, c.emit("Gather", {c.in(4), c.in(1)})});
  if (c.has_output(2)) c.emit("Identity", {sum}, {}, c.out(2));
  c.emit("LayerNormalization", {sum, c.in(5), c.in(6)}, {{"epsilon", of_real(c.real("epsilon", 1e-12f))}}, c.out());
  if (!c.has_output(1)) return;
  // The number of words; 0 if no input gives it.
  Attributes along{{"keepdims", of_integer(0)}};
  std::vector<std::string> counted{c.has(7) ? c.in(7) : c.emit("Sub", {c.in(0), c.in(0)})};
  if (c.opset() >= 13) {
    counted.push_back(c.ints({1}));
  } else {
    along["axes"].type = AttributeType::integers;
    along["axes"].ints = {1};
  }
  c.emit("ReduceSum", counted, std::move(along), c.out(1));
}

// ---- Steps of quantized values

/// Quantizes y as output 0, with the type of the given input; zero point 0 if none is given.
void quantize(Composite& c, const std::string& y, const std::string& scale, std::string zero, size_t like = 0) {
  if (zero.empty()) zero = c.constant({c.value(like).type, {}, Bytes(1)});
  c.emit("QuantizeLinear", {y, scale, zero}, {}, c.out());
}

std::string dequantized(Composite& c, size_t first) {
  return c.emit("DequantizeLinear", {c.in(first), c.in(first + 1), c.in(first + 2)});
}

/// Applies an op to A and B, each with scale and zero point, and requantizes as C.
template <const char* const& op>
void of_two(Composite& c) {
  const std::string a = dequantized(c, 0), b = dequantized(c, 3);
  quantize(c, c.emit(op, {a, b}), c.in(6), c.in(7));
}

/// Applies an op to X and requantizes with Y's scale and zero point.
template <const char* const& op>
void of_one(Composite& c) {
  quantize(c, c.emit(op, {dequantized(c, 0)}, c.own({"alpha"})), c.in(3), c.in(4));
}

void quantized_softmax(Composite& c) {
  const int64_t of = attribute_of(c.node(), "opset", AttributeType::integer).i;
  c.require((of >= 13) == (c.opset() >= 13), "its softmax is of another opset than the model");
  quantize(c, c.emit("Softmax", {dequantized(c, 0)}, c.own({"axis"})), c.in(3), c.in(4));
}

void quantized_pool(Composite& c) {
  const bool global = c.node().op == "QLinearGlobalAveragePool";
  c.require(c.integer("channels_last", 0) == 0, "its channels are last, which is not run");
  const std::string x = dequantized(c, 0);
  const std::string y =
      global ? c.emit("GlobalAveragePool", {x})
             : c.emit("AveragePool", {x},
                      c.own({"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}));
  quantize(c, y, c.in(3), c.in(4));
}

void quantized_concat(Composite& c) {  // Y's scale and zero point, then a scale and zero point after each part
  const size_t parts = c.node().inputs.size() / 3;
  c.require(c.node().inputs.size() % 3 == 2 && parts > 0, "found inputs that are no triples");
  std::vector<std::string> all;
  for (size_t p = 0; p < parts; ++p) all.push_back(dequantized(c, 2 + 3 * p));
  quantize(c, c.emit("Concat", all, c.own({"axis"})), c.in(0), c.in(1), 2);
}

constexpr const char* kAdd = "Add";
constexpr const char* kMul = "Mul";
constexpr const char* kSigmoid = "Sigmoid";
constexpr const char* kLeakyRelu = "LeakyRelu";

struct Row {
  const char* name;
  void (*write)(Composite&);
  const char* form;
};
const Row kRows[] = {
    {"Attention", projected_attention,
     "7 do_rotary mask_filter_value num_heads past_present_share_buffer qkv_hidden_sizes scale unidirectional"},
    {"DynamicQuantizeMatMul", dynamic_quantize_matmul, "5"},
    {"EmbedLayerNormalization", embed_layer_norm, "9 epsilon"},
    {"FusedConv", fused_conv, "4 activation activation_params auto_pad dilations group kernel_shape pads strides"},
    {"FusedGemm", fused_gemm, "3 activation activation_alpha activation_beta alpha beta transA transB"},
    {"MatMulIntegerToFloat", matmul_integer_to_float, "7"},
    {"QLinearAdd", of_two<kAdd>, "8"},
    {"QLinearAveragePool", quantized_pool,
     "5 auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides"},
    {"QLinearConcat", quantized_concat, "many axis"},
    {"QLinearGlobalAveragePool", quantized_pool, "5 channels_last"},
    {"QLinearLeakyRelu", of_one<kLeakyRelu>, "5 alpha"},
    {"QLinearMul", of_two<kMul>, "8"},
    {"QLinearSigmoid", of_one<kSigmoid>, "5"},
    {"QLinearSoftmax", quantized_softmax, "5 axis opset"},
};

const Row* row_of_composite(const Node& n) {
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return n.op == r.name; });
  return n.domain != kMicrosoft || row == std::end(kRows) ? nullptr : row;
}

}  // namespace

bool is_composite(const Node& n) {
  return row_of_composite(n) != nullptr;
}

void write_out_composite(const Node& n, int64_t opset, const Unrolling& u) {
  if (n.outputs.empty() || n.outputs[0].empty()) throw Refusal("output 0 is left out");
  check_form(n, opset, row_of_composite(n)->form);
  Composite c(n, opset, u);
  row_of_composite(n)->write(c);
}

}  // namespace kernbench::onnx
