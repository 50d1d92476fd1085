// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: one PE per direction, step by step. The gates' products run on pe_gemm.
#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/onnx/elementwise.h"

namespace kernbench::onnx {
namespace {

using tl::Tensor;

struct Recurrence {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1, gates = 1;
  bool batch_first = false;
  bool coupled = false;          ///< an LSTM's forget gate is 1 minus its input gate
  std::vector<int64_t> lengths;  ///< sequence lengths; empty: all have `steps`
  std::vector<std::string> activations;
  std::vector<float> alphas, betas;
  double clip = 0;
};

std::vector<float> coefficients(const Op& op, const char* name, const Recurrence& r) {
  std::vector<float> all;
  const std::vector<float> given =
      op.given(name) ? op.attribute(name, AttributeType::reals).floats : std::vector<float>();
  size_t next = 0;
  for (const std::string& a : r.activations) {
    const bool alpha = std::string(name) == "activation_alpha";
    const bool takes = a == "LeakyRelu" || a == "Elu" || a == "ThresholdedRelu" || a == "HardSigmoid" ||
                       a == "ScaledTanh" || a == "Affine";
    const float fallback = a == "LeakyRelu" ? 0.01f : a == "HardSigmoid" ? (alpha ? 0.2f : 0.5f) : alpha ? 1.0f : 0.0f;
    all.push_back(takes && next < given.size() ? given[next++] : fallback);
  }
  return all;
}

std::string direction_of(const Op& op) {
  return op.word("direction", {"forward", "reverse", "bidirectional"}, "forward");
}

/// Activations of each direction, concatenated.
std::vector<std::string> activations_of(const Op& op, const std::vector<std::string>& usual, int64_t directions) {
  std::vector<std::string> all;
  for (int64_t d = 0; d < directions; ++d) all.insert(all.end(), usual.begin(), usual.end());
  if (!op.given("activations")) return all;
  const std::vector<std::string>& given = op.attribute("activations", AttributeType::strings).strings;
  op.require(given.size() == all.size(),
             "found " + std::to_string(given.size()) + " activations, expected " + std::to_string(all.size()));
  const std::vector<std::string> legal = activation_names();
  for (const std::string& name : given)
    op.require(std::find(legal.begin(), legal.end(), name) != legal.end(),
               "found activation " + in_quotes(name) + did_you_mean(name, legal) + " legal: " + joined(legal));
  return given;
}

Recurrence recurrence_of(const Op& op) {
  Recurrence r;
  const std::string& name = op.node->op;
  r.gates = name == "LSTM" ? 4 : name == "GRU" ? 3 : 1;
  op.require(op.rank(0) == 3 && op.rank(1) == 3 && op.rank(2) == 3, "found X, W or R of another rank than 3");
  r.batch_first = op.integer("layout", 0) != 0;
  r.steps = op.shape()[r.batch_first];
  r.batch = op.shape()[!r.batch_first];
  r.inputs = op.shape()[2];
  r.hidden = op.shape(2)[2];
  r.directions = op.shape(1)[0];
  const Shape w{r.directions, r.gates * r.hidden, r.inputs}, weights{r.directions, r.gates * r.hidden, r.hidden};
  const std::string direction = direction_of(op);
  op.require(r.directions == (direction == "bidirectional" ? 2 : 1) && op.shape(1) == w && op.shape(2) == weights &&
                 op.integer("hidden_size", r.hidden) == r.hidden,
             "found W " + to_string(op.shape(1)) + " and R " + to_string(op.shape(2)));
  op.require(r.hidden <= 4096 && r.inputs <= 4096 && r.batch <= 1024, "its gates do not fit a TCM");
  const Shape state = r.batch_first ? Shape{r.batch, r.directions, r.hidden} : Shape{r.directions, r.batch, r.hidden};
  if (op.has(3)) op.require(op.shape(3) == Shape{r.directions, 2 * r.gates * r.hidden}, "found B of another shape");
  if (op.has(4)) {
    r.lengths = op.values(4);
    op.require(
        static_cast<int64_t>(r.lengths.size()) == r.batch &&
            std::all_of(r.lengths.begin(), r.lengths.end(), [&](int64_t n) { return n >= 0 && n <= r.steps; }),
        "found lengths of sequences that are not " + std::to_string(r.batch) + " from 0 to " + std::to_string(r.steps));
  }
  for (const size_t i : {size_t{5}, size_t{6}})
    if (op.has(i)) op.require(op.shape(i) == state, "found an initial state of shape " + to_string(op.shape(i)));
  if (op.has(7)) op.require(op.shape(7) == Shape{r.directions, 3 * r.hidden}, "found P of another shape");
  r.coupled = op.integer("input_forget", 0) != 0;
  const std::vector<std::string> usual = name == "LSTM"  ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                                         : name == "GRU" ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                         : std::vector<std::string>{"Tanh"};
  r.activations = activations_of(op, usual, r.directions);
  r.alphas = coefficients(op, "activation_alpha", r);
  r.betas = coefficients(op, "activation_beta", r);
  r.clip = op.real("clip", 0);
  return r;
}

void shape_recurrent(Op& op) {
  const Recurrence r = recurrence_of(op);
  op.require(op.in(0).type == Type::float32, "found " + name_of(op.in(0).type) + ", expected float");
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    if (op.has(i) && i != 4) op.require_same_types(0, i);
  }
  op.set_output(0, op.in(0).type,
                r.batch_first ? Shape{r.batch, r.steps, r.directions, r.hidden}
                              : Shape{r.steps, r.directions, r.batch, r.hidden});
  const Shape state = r.batch_first ? Shape{r.batch, r.directions, r.hidden} : Shape{r.directions, r.batch, r.hidden};
  op.set_output(1, op.in(0).type, state);
  op.set_output(2, op.in(0).type, state);
}

/// Runs one direction on one PE.
class Direction {
 public:
  Direction(Pe& pe, const Recurrence& r, int64_t d)
      : pe_(pe), r_(r), d_(d), backward_(direction_of(pe.op) == "reverse" || d == 1) {
    const int64_t h = r.hidden, g = r.gates * h;
    w_ = pe.tl.load(pe.in(1) + d * g * r.inputs, {g, r.inputs});
    recurrent_ = pe.tl.load(pe.in(2) + d * g * h, {g, h});
    if (pe.op.has(3)) bias_ = pe.tl.load(pe.in(3) + d * 2 * g, {1, 2 * g});
    if (pe.op.has(7)) peepholes_ = pe.tl.load(pe.in(7) + d * 3 * h, {1, 3 * h});
    state_ = initial(5);
    cell_ = initial(6);
  }

  void run() {
    for (int64_t s = 0; s < r_.steps; ++s) {
      const Tensor x = pe_.pick(0, rows(s), {r_.batch, r_.inputs}), state = state_, cell = cell_;
      if (r_.gates == 4) lstm(x);
      if (r_.gates == 3) gru(x);
      if (r_.gates == 1) state_ = activated(0, sum(x, 0) + recurred(state_, 0));
      const Tensor y = r_.lengths.empty() ? state_ : ended(s, state, cell);
      if (pe_.op.has_output(0)) pe_.put(0, step_places(s), y);
    }
    if (pe_.op.has_output(1)) pe_.put(1, state_places(), state_);
    if (pe_.op.has_output(2)) pe_.put(2, state_places(), cell_);
  }

 private:
  int64_t length(int64_t b) const { return r_.lengths.empty() ? r_.steps : r_.lengths[static_cast<size_t>(b)]; }
  /// The time index of a sequence's step s. Steps after its end take the remaining indices in order.
  int64_t time(int64_t s, int64_t b) const { return backward_ && s < length(b) ? length(b) - 1 - s : s; }
  /// Writes a step's output. Sequences that have ended output 0 and keep their states.
  Tensor ended(int64_t s, const Tensor& state, const Tensor& cell) {
    std::vector<uint8_t> goes_on;
    for (int64_t b = 0; b < r_.batch; ++b) goes_on.insert(goes_on.end(), static_cast<size_t>(r_.hidden), s < length(b));
    const Tensor mask = pe_.tl.tensor(goes_on, {r_.batch, r_.hidden}, DType::u8);
    const Tensor y = pe_.tl.where(mask, state_, pe_.tl.zeros({r_.batch, r_.hidden}, DType::f32));
    state_ = pe_.tl.where(mask, state_, state);
    if (r_.gates == 4) cell_ = pe_.tl.where(mask, cell_, cell);
    return y;
  }
  /// Positions of step s's [batch, inputs] in X.
  std::vector<int64_t> rows(int64_t s) const {
    std::vector<int64_t> places;
    for (int64_t b = 0; b < r_.batch; ++b) {
      const int64_t t = time(s, b), row = r_.batch_first ? b * r_.steps + t : t * r_.batch + b;
      for (int64_t i = 0; i < r_.inputs; ++i) places.push_back(row * r_.inputs + i);
    }
    return places;
  }
  std::vector<int64_t> step_places(int64_t s) const {
    std::vector<int64_t> places;
    for (int64_t b = 0; b < r_.batch; ++b) {
      const int64_t t = time(s, b);
      const int64_t row =
          r_.batch_first ? (b * r_.steps + t) * r_.directions + d_ : (t * r_.directions + d_) * r_.batch + b;
      for (int64_t i = 0; i < r_.hidden; ++i) places.push_back(row * r_.hidden + i);
    }
    return places;
  }
  std::vector<int64_t> state_places() const {
    std::vector<int64_t> places;
    for (int64_t b = 0; b < r_.batch; ++b) {
      const int64_t row = r_.batch_first ? b * r_.directions + d_ : d_ * r_.batch + b;
      for (int64_t i = 0; i < r_.hidden; ++i) places.push_back(row * r_.hidden + i);
    }
    return places;
  }
  Tensor initial(size_t input) {
    if (pe_.op.has(input)) return pe_.pick(input, state_places(), {r_.batch, r_.hidden});
    return pe_.tl.zeros({r_.batch, r_.hidden}, DType::f32);
  }
  Tensor part(const Tensor& all, int axis, int64_t gate) const { return all.slice(axis, gate * r_.hidden, r_.hidden); }
  Tensor recurred(const Tensor& h, int64_t gate) { return pe_.tl.dot(h, part(recurrent_, 0, gate).transpose()); }
  Tensor bias(int64_t gate) const { return part(bias_, 1, gate); }
  /// x · W plus both biases of a gate.
  Tensor sum(const Tensor& x, int64_t gate, bool recurrent_bias = true) {
    Tensor s = pe_.tl.dot(x, part(w_, 0, gate).transpose());
    if (!bias_.valid()) return s;
    s = s + bias(gate);
    return recurrent_bias ? s + bias(r_.gates + gate) : s;
  }
  Tensor peeped(const Tensor& s, const Tensor& cell, int64_t which) const {
    return peepholes_.valid() ? s + cell * part(peepholes_, 1, which) : s;
  }
  Tensor activated(size_t which, Tensor x) {
    const size_t i = which + static_cast<size_t>(d_) * r_.activations.size() / static_cast<size_t>(r_.directions);
    if (r_.clip > 0) x = pe_.tl.clamp(x, -r_.clip, r_.clip);
    return activation(pe_, r_.activations[i], x, r_.alphas[i], r_.betas[i]);
  }
  void lstm(const Tensor& x) {  // gates: input, output, forget, cell
    const auto raw = [&](int64_t gate) { return sum(x, gate) + recurred(state_, gate); };
    const Tensor in = activated(0, peeped(raw(0), cell_, 0));
    const Tensor forget = r_.coupled ? 1.0 - in : activated(0, peeped(raw(2), cell_, 2));
    const Tensor cell = forget * cell_ + in * activated(1, raw(3));
    const Tensor out = activated(0, peeped(raw(1), cell, 1));
    cell_ = cell;
    state_ = out * activated(2, cell);
  }
  void gru(const Tensor& x) {  // gates: update, reset, hidden
    const Tensor update = activated(0, sum(x, 0) + recurred(state_, 0));
    const Tensor reset = activated(0, sum(x, 1) + recurred(state_, 1));
    Tensor h;
    if (pe_.op.integer("linear_before_reset", 0) != 0) {
      Tensor linear = recurred(state_, 2);
      if (bias_.valid()) linear = linear + bias(5);
      h = activated(1, sum(x, 2, false) + reset * linear);
    } else {
      h = activated(1, sum(x, 2) + recurred(reset * state_, 2));
    }
    state_ = (1.0 - update) * h + update * state_;
  }

  Pe& pe_;
  const Recurrence& r_;
  int64_t d_;
  bool backward_;
  Tensor w_, recurrent_, bias_, peepholes_, state_, cell_;
};

void run_recurrent(Pe& pe) {
  const Recurrence r = recurrence_of(pe.op);
  for (int64_t d = pe.tl.index(); d < r.directions; d += pe.tl.size()) Direction(pe, r, d).run();
}

#define KB_RECURRENT " activation_alpha activation_beta activations clip direction hidden_size layout"
const char* const kRecurrent = "GEMM and MATH: one PE a direction, step by step";
const RegisterOps registered_recurrent{{
    {"RNN", 7, shape_recurrent, run_recurrent, kRecurrent, "6" KB_RECURRENT},
    {"GRU", 7, shape_recurrent, run_recurrent, kRecurrent, "6" KB_RECURRENT " linear_before_reset"},
    {"LSTM", 7, shape_recurrent, run_recurrent, kRecurrent, "8" KB_RECURRENT " input_forget"},
}};

}  // namespace
}  // namespace kernbench::onnx
