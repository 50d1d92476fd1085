// SPDX-License-Identifier: Apache-2.0
// Elementwise ops with broadcasting.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "kernbench/phase2/op/math_op.h"
#include "kernbench/platform/onnx/elementwise.h"

namespace kernbench::onnx {

using tl::Tensor;

void for_elements(Pe& pe, const std::vector<Strides>& views, const std::function<Tensor(const Operands&)>& f) {
  const auto work_on = [&](const Tile& tile) {
    Operands operands;
    for (size_t i = 0; i < views.size(); ++i) operands.push_back(pe.op.has(i) ? pe.pick(i, views[i], tile) : Tensor());
    pe.put(tile, f(operands));
  };
  if (const std::optional<Tile> block = pe.block()) {
    const int64_t columns = std::min(block->columns, kPiece),
                  rows = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, columns));
    for (int64_t r = 0; r < block->rows; r += rows) {
      for (int64_t c = 0; c < block->columns; c += columns)
        work_on({block->first + r * block->pitch + c, std::min(rows, block->rows - r),
                 std::min(columns, block->columns - c), block->pitch});
    }
    return;
  }
  int64_t together = pe.uniform_in_followers();
  for (const Strides& v : views) together = v.shape.empty() ? together : std::gcd(together, v.uniform());
  const Range mine = pe.share();
  for (int64_t first = mine.first; first < mine.last;) {
    // Takes as many whole rows of the common view as fit a piece; otherwise a part of one row.
    const int64_t in_row = first % together, left = mine.last - first;
    Tile tile{first, 1, std::min({together - in_row, left, kPiece}), together};
    if (tile.columns == together) tile.rows = std::min(std::max<int64_t>(1, kPiece / together), left / together);
    work_on(tile);
    first += tile.rows * tile.columns;
  }
}

std::vector<Strides> broadcast_views(const Op& op) {
  std::vector<Strides> views;
  for (size_t i = 0; i < op.inputs.size(); ++i)
    views.push_back(op.has(i) ? Strides::broadcast(op.shape(i), op.out().shape) : Strides());
  return views;
}

std::vector<Strides> view_of_first(const Op& op) {
  return {Strides::dense(op.shape())};
}

namespace {

void run_by_position(Pe& pe) {
  for_elements(pe, pe.op.row->views(pe.op), [&](const Operands& o) { return pe.op.row->each(pe, o); });
}

}  // namespace

OpRow by_position(const char* name, int since, void (*shape)(Op&), Tensor (*each)(Pe&, const Operands&),
                  const char* how, const std::string& form, std::vector<Strides> (*views)(const Op&),
                  const char* domain) {
  OpRow row{name, since, shape, run_by_position, how, form};
  row.domain = domain;
  row.leads = true;
  row.each = each;
  row.views = views;
  return row;
}

Strides along_axis(const Shape& vector, const Shape& shape, int64_t axis) {
  Strides s{shape, Shape(shape.size(), 0), 0};
  if (elements_of(vector) > 1) s.strides[static_cast<size_t>(axis)] = 1;
  return s;
}

namespace {

constexpr double kPi = 3.14159265358979323846;

/// c[0] + x · (c[1] + x · (c[2] + …)).
Tensor polynomial(Pe& pe, const Tensor& x, const std::vector<double>& c) {
  Tensor p = pe.tl.fma(x, c[c.size() - 1], c[c.size() - 2]);
  for (size_t i = c.size() - 2; i-- > 0;) p = pe.tl.fma(p, x, c[i]);
  return p;
}

/// Uses `near` if |x| is small: an odd function that a difference of large numbers would cancel.
Tensor small_or(Pe& pe, const Tensor& x, double cubic, const Tensor& far) {
  const Tensor near = x * pe.tl.fma(x * x, cubic, 1.0);
  return pe.tl.where(pe.tl.lt(pe.tl.abs(x), 0.02), near, far);
}

Tensor arcsine(Pe& pe, const Tensor& x) {
  return arctangent(pe, x / pe.tl.sqrt(1.0 - x * x));
}

Tensor signed_like(Pe& pe, const Tensor& magnitude, const Tensor& x) {
  return pe.tl.where(pe.tl.lt(x, 0), -magnitude, magnitude);
}

bool has_no_sign(DType t) {
  return t == DType::u8 || t == DType::u16 || t == DType::u32;
}

Tensor sign_of(Pe& pe, const Tensor& x) {
  const DType t = x.dtype();
  const Tensor up = pe.cast(pe.tl.gt(x, 0), t);
  if (has_no_sign(t)) return up;
  const Tensor sign = up - pe.cast(pe.tl.lt(x, 0), t);
  return is_float(t) ? pe.tl.where(pe.tl.eq(x, x), sign, x) : sign;
}

/// e^x / 2 as a product of two halves, so that sinh and cosh stay finite where e^x overflows.
Tensor half_exp(Pe& pe, const Tensor& x) {
  const Tensor root = pe.tl.exp(x * 0.5);
  return root * (root * 0.5);
}

/// Uses `near` for x up to 1e10. Beyond, the square of x may overflow and the result is log(2x).
Tensor area_function(Pe& pe, const Tensor& x, const Tensor& near) {
  return pe.tl.where(pe.tl.gt(x, 1e10), pe.tl.log(x) + std::log(2.0), near);
}

Tensor area_sine(Pe& pe, const Tensor& x) {
  const Tensor size = pe.tl.abs(x);
  return signed_like(pe, area_function(pe, size, pe.tl.log(size + pe.tl.sqrt(size * size + 1.0))), x);
}

/// IEEE 754's pow: 1 if y is 0 or x is 1; the sign of -0 and -inf is kept for odd y; NaN for other negative x if y is
/// not an integer.
Tensor power_of_floats(Pe& pe, const Tensor& x, const Tensor& y) {
  tl::Context& tl = pe.tl;
  const Tensor log = tl.log2(tl.abs(x));
  const Tensor magnitude = tl.where(tl.eq(log, 0.0), 1.0, tl.exp2(y * log));
  const Tensor whole = tl.eq(tl.floor(y), y), odd = tl.eq(tl.abs(tl.mod(y, 2.0)), 1.0);
  const Tensor broken = tl.where(tl.eq(log * 0.0, 0.0), std::numeric_limits<double>::quiet_NaN(), magnitude);
  const Tensor of_negative = tl.where(whole, tl.where(odd, -magnitude, magnitude), broken);
  const Tensor negative = tl.lt(tl.where(tl.eq(x, 0.0), 1.0 / x, x), 0.0);
  return tl.where(tl.eq(y, 1.0), x, tl.where(tl.eq(y, 0.0), 1.0, tl.where(negative, of_negative, magnitude)));
}

/// By repeated squaring: exact, and wraps as the type does.
Tensor power_of_integers(Pe& pe, const Tensor& x, const Tensor& y) {
  tl::Context& tl = pe.tl;
  int64_t most = std::numeric_limits<int64_t>::max();
  if (pe.op.in(1).constant && pe.op.in(1).elements() > 0) {
    const std::vector<int64_t> e = pe.op.in(1).constant->ints();
    most = *std::max_element(e.begin(), e.end());
    if (*std::min_element(e.begin(), e.end()) < 0) most = std::max<int64_t>(most, 1);  // negative exponent
  }
  const int bits = static_cast<int>(8 * size_of(y.dtype())) - 1;
  Tensor result = tl.full(x.shape(), 1, x.dtype()), base = x, exponent = y;
  for (int b = 0; b < bits && (most >> b) > 0; ++b) {
    result = tl.where(tl.bitwise_and(exponent, 1), result * base, result);
    base = base * base;
    exponent = tl.shift_right(exponent, 1);
  }
  // With a negative exponent all results but those of 1 and −1 are 0.
  const Tensor unit = tl.where(tl.eq(tl.abs(x), 1), result, tl.zeros(x.shape(), x.dtype()));
  return tl.where(tl.lt(y, 0), unit, result);
}

Tensor power(Pe& pe, const Operands& o) {
  const DType type = o[0].dtype();
  if (is_float(type)) return power_of_floats(pe, pe.widened(o[0]), pe.cast(o[1], DType::f32));
  if (!is_float(o[1].dtype())) return power_of_integers(pe, o[0], o[1]);
  // Truncates toward 0, after undoing rounding errors next to an integer.
  const Tensor z = power_of_floats(pe, pe.cast(o[0], DType::f32), pe.cast(o[1], DType::f32)), whole = pe.tl.round(z);
  return pe.tl.where(pe.tl.le(pe.tl.abs(z - whole), pe.tl.abs(whole) * 4e-6), whole, pe.tl.trunc(z));
}

/// Floats: C's fmod. Integers: the divisor's sign unless attribute fmod is set; division by 0 gives 0.
Tensor modulo(Pe& pe, const Operands& o) {
  tl::Context& tl = pe.tl;
  const Tensor r = tl.mod(o[0], o[1]);
  if (is_float(r.dtype())) return r;
  const Tensor rest = tl.where(tl.ne(o[1], 0), r, tl.zeros(r.shape(), r.dtype()));
  if (pe.op.integer("fmod", 0) != 0 || has_no_sign(r.dtype())) return rest;
  const Tensor unlike = tl.ne(tl.lt(rest, 0), tl.lt(o[1], 0));
  return tl.where(tl.bitwise_and(unlike, tl.ne(rest, 0)), rest + o[1], rest);
}

void check_mod(const Op& op) {
  if (op.integer("fmod", 0) == 0) op.require(!takes(Takes::floats, op.in(0).type), "found floats, expected fmod of 1");
}

bool shifts_left(const Op& op) {
  return op.word("direction", {"LEFT", "RIGHT"}, "") == "LEFT";
}

Tensor shifted(Pe& pe, const Operands& o) {
  return shifts_left(pe.op) ? pe.tl.shift_left(o[0], o[1]) : pe.tl.shift_right(o[0], o[1]);
}

Tensor clipped(Pe& pe, const Operands& o) {
  Tensor x = o[0];
  if (pe.op.opset < 11) {
    if (pe.op.given("min")) x = pe.tl.maximum(x, pe.op.real("min", 0));
    return pe.op.given("max") ? pe.tl.minimum(x, pe.op.real("max", 0)) : x;
  }
  if (o.size() > 1 && o[1].valid()) x = pe.tl.maximum(x, o[1]);
  return o.size() > 2 && o[2].valid() ? pe.tl.minimum(x, o[2]) : x;
}

/// In old opsets the bounds are float attributes.
void check_clip(const Op& op) {
  if (op.opset < 11) op.require_type(0, Takes::floats);
}

Tensor is_infinite(Pe& pe, const Operands& o) {
  const double inf = std::numeric_limits<double>::infinity();
  Tensor found = pe.tl.zeros(o[0].shape(), DType::u8);
  if (pe.op.integer("detect_positive", 1) != 0) found = pe.tl.eq(o[0], inf);
  if (pe.op.integer("detect_negative", 1) != 0) found = pe.tl.bitwise_or(found, pe.tl.eq(o[0], -inf));
  return found;
}

Tensor shrunk(Pe& pe, const Operands& o) {
  const float bias = pe.op.real("bias", 0), lambda = pe.op.real("lambd", 0.5f);
  const Tensor x = o[0];
  const Tensor zero = pe.tl.zeros(x.shape(), x.dtype());
  return pe.tl.where(pe.tl.lt(x, -lambda), x + bias, pe.tl.where(pe.tl.gt(x, lambda), x - bias, zero));
}

Tensor folded(Pe& pe, const char* op, const Operands& o) {
  Tensor all = o[0];
  for (size_t i = 1; i < o.size(); ++i) all = pe.tl.op(op, {all, o[i]});
  return all;
}

bool approximates(const Op& op) {
  return op.word("approximate", {"none", "tanh"}, "none") == "tanh";
}

Tensor gelu_by_tanh(Pe& pe, const Tensor& x) {
  const Tensor inner = (x + x * x * x * 0.044715) * std::sqrt(2 / kPi);
  return x * 0.5 * (pe.tl.tanh(inner) + 1.0);
}

Tensor gelu(Pe& pe, const Tensor& x) {
  return approximates(pe.op) ? gelu_by_tanh(pe, x) : pe.tl.gelu(x);
}

/// The bias lies along the last axis, if there is one.
void check_bias(const Op& op) {
  if (op.has(1)) op.require_shape(1, {op.rank() > 0 ? op.shape().back() : 0});
}

Tensor with_bias(const Operands& o) {
  return o.size() > 1 && o[1].valid() ? o[0] + o[1] : o[0];
}

enum class Result : uint8_t { first, boolean };

struct Elementwise {
  const char* name;
  int since;
  Takes takes;  ///< types of its inputs, except a power's exponent
  Result result;
  bool wide;     ///< several steps: floats are computed in f32 and rounded once
  size_t least;  ///< required inputs
  Tensor (*f)(Pe&, const Operands&);
  const char* form = "";               ///< OpRow::form; empty: only the required inputs, no attributes
  void (*check)(const Op&) = nullptr;  ///< further checks
  const char* domain = "";
};

#define KB_STEP(expression)                 \
  [](Pe& pe, const Operands& o) -> Tensor { \
    (void)pe;                               \
    return expression;                      \
  }
#define KB_F(attribute, fallback) pe.op.real(attribute, fallback)

std::vector<Elementwise> rows_of_several_ops() {
  return {
      {"Reciprocal", 1, Takes::floats, Result::first, false, 1, KB_STEP(1.0 / o[0])},
      {"Sign", 9, Takes::numbers, Result::first, false, 1, KB_STEP(sign_of(pe, o[0]))},
      {"Tan", 7, Takes::floats, Result::first, true, 1, KB_STEP(pe.tl.sin(o[0]) / pe.tl.cos(o[0]))},
      {"Asin", 7, Takes::floats, Result::first, true, 1, KB_STEP(arcsine(pe, o[0]))},
      {"Acos", 7, Takes::floats, Result::first, true, 1,
       KB_STEP(2.0 * arctangent(pe, pe.tl.sqrt((1.0 - o[0]) / (1.0 + o[0]))))},
      {"Atan", 7, Takes::floats, Result::first, true, 1, KB_STEP(arctangent(pe, o[0]))},
      {"Sinh", 9, Takes::floats, Result::first, true, 1,
       KB_STEP(small_or(pe, o[0], 1.0 / 6, half_exp(pe, o[0]) - half_exp(pe, -o[0])))},
      {"Cosh", 9, Takes::floats, Result::first, true, 1, KB_STEP(half_exp(pe, o[0]) + half_exp(pe, -o[0]))},
      {"Asinh", 9, Takes::floats, Result::first, true, 1, KB_STEP(small_or(pe, o[0], -1.0 / 6, area_sine(pe, o[0])))},
      {"Acosh", 9, Takes::floats, Result::first, true, 1,
       KB_STEP(area_function(pe, o[0], pe.tl.log1p(o[0] - 1.0 + pe.tl.sqrt(o[0] - 1.0) * pe.tl.sqrt(o[0] + 1.0))))},
      {"Atanh", 9, Takes::floats, Result::first, true, 1,
       KB_STEP(small_or(pe, o[0], 1.0 / 3, pe.tl.log((1.0 + o[0]) / (1.0 - o[0])) * 0.5))},
      {"Softplus", 1, Takes::floats, Result::first, true, 1, KB_STEP(softplus(pe, o[0]))},
      {"Softsign", 1, Takes::floats, Result::first, true, 1, KB_STEP(o[0] / (pe.tl.abs(o[0]) + 1.0))},
      {"Mish", 18, Takes::floats, Result::first, true, 1, KB_STEP(o[0] * pe.tl.tanh(softplus(pe, o[0])))},
      {"Gelu", 20, Takes::floats, Result::first, true, 1, KB_STEP(gelu(pe, o[0])), "1 approximate",
       [](const Op& op) { approximates(op); }},
      {"Gelu", 1, Takes::floats, Result::first, true, 1, KB_STEP(pe.tl.gelu(o[0])), "", nullptr, kMicrosoft},
      {"BiasGelu", 1, Takes::floats, Result::first, true, 2, KB_STEP(pe.tl.gelu(with_bias(o))), "", check_bias,
       kMicrosoft},
      {"FastGelu", 1, Takes::floats, Result::first, true, 1, KB_STEP(gelu_by_tanh(pe, with_bias(o))), "2", check_bias,
       kMicrosoft},
      {"QuickGelu", 1, Takes::floats, Result::first, true, 1,
       KB_STEP(o[0] * pe.tl.sigmoid(o[0] * KB_F("alpha", 1.702f))), "1 alpha", nullptr, kMicrosoft},
      {"Elu", 1, Takes::floats, Result::first, true, 1, KB_STEP(activation(pe, "Elu", o[0], KB_F("alpha", 1), 0)),
       "1 alpha"},
      {"Celu", 12, Takes::floats, Result::first, true, 1,
       KB_STEP(pe.tl.maximum(o[0], 0.0) +
               pe.tl.minimum((pe.tl.exp(o[0] / KB_F("alpha", 1)) - 1.0) * KB_F("alpha", 1), 0.0)),
       "1 alpha"},
      {"Selu", 1, Takes::floats, Result::first, true, 1,
       KB_STEP(activation(pe, "Elu", o[0], KB_F("alpha", 1.67326319217681884765625f), 0) *
               KB_F("gamma", 1.05070102214813232421875f)),
       "1 alpha gamma"},
      {"LeakyRelu", 1, Takes::floats, Result::first, true, 1,
       KB_STEP(activation(pe, "LeakyRelu", o[0], KB_F("alpha", 0.01f), 0)), "1 alpha"},
      {"ThresholdedRelu", 1, Takes::floats, Result::first, true, 1,
       KB_STEP(activation(pe, "ThresholdedRelu", o[0], KB_F("alpha", 1), 0)), "1 alpha"},
      {"HardSigmoid", 1, Takes::floats, Result::first, true, 1,
       KB_STEP(activation(pe, "HardSigmoid", o[0], KB_F("alpha", 0.2f), KB_F("beta", 0.5f))), "1 alpha beta"},
      {"HardSwish", 14, Takes::floats, Result::first, true, 1,
       KB_STEP(o[0] * activation(pe, "HardSigmoid", o[0], 1.0f / 6, 0.5f))},
      {"Shrink", 9, Takes::floats, Result::first, false, 1, KB_STEP(shrunk(pe, o)), "1 bias lambd"},
      {"PRelu", 7, Takes::numbers, Result::first, false, 2, KB_STEP(pe.tl.where(pe.tl.lt(o[0], 0), o[0] * o[1], o[0]))},
      {"Clip", 1, Takes::numbers, Result::first, false, 1, KB_STEP(clipped(pe, o)), "3>=11 max<11 min<11", check_clip},
      {"Pow", 7, Takes::numbers, Result::first, false, 2, KB_STEP(power(pe, o))},
      {"Mod", 10, Takes::numbers, Result::first, false, 2, KB_STEP(modulo(pe, o)), "2 fmod", check_mod},
      {"BitShift", 11, Takes::integers, Result::first, false, 2, KB_STEP(shifted(pe, o)), "2 direction",
       [](const Op& op) { shifts_left(op); }},
      {"Max", 8, Takes::numbers, Result::first, false, 1, KB_STEP(folded(pe, "maximum", o)), "many"},
      {"Min", 8, Takes::numbers, Result::first, false, 1, KB_STEP(folded(pe, "minimum", o)), "many"},
      {"Sum", 8, Takes::floats, Result::first, true, 1, KB_STEP(folded(pe, "add", o)), "many"},
      {"Mean", 8, Takes::floats, Result::first, true, 1, KB_STEP(folded(pe, "add", o) / static_cast<double>(o.size())),
       "many"},
      {"And", 7, Takes::booleans, Result::boolean, false, 2, KB_STEP(o[0] & o[1])},
      {"Or", 7, Takes::booleans, Result::boolean, false, 2, KB_STEP(o[0] | o[1])},
      {"Xor", 7, Takes::booleans, Result::boolean, false, 2, KB_STEP(o[0] ^ o[1])},
      {"Not", 1, Takes::booleans, Result::boolean, false, 1, KB_STEP(pe.tl.eq(o[0], 0))},
      {"IsNaN", 9, Takes::floats, Result::boolean, false, 1, KB_STEP(pe.tl.ne(o[0], o[0]))},
      {"IsInf", 10, Takes::floats, Result::boolean, false, 1, KB_STEP(is_infinite(pe, o)),
       "1 detect_negative detect_positive"},
  };
}

#undef KB_STEP
#undef KB_F

/// An op that is a single op of the engines.
Tensor each_of_engines(Pe& pe, const Operands& o) {
  const auto& all = math_ops();
  const auto is_this = [&](const MathOp& m) { return m.onnx.name && pe.op.node->op == m.onnx.name; };
  const char* name = std::find_if(all.begin(), all.end(), is_this)->name.data();
  return o.size() == 1 ? pe.tl.op(name, {o[0]}) : pe.tl.op(name, {o[0], o[1]});
}

Elementwise row_of(const MathOp& op) {
  const Values values = op.onnx.takes.value_or(op.values());
  const Takes takes = values == Values::floats     ? Takes::floats
                      : values == Values::integers ? Takes::integers
                      : op.onnx.takes              ? Takes::any
                                                   : Takes::numbers;
  return {op.onnx.name,   op.onnx.since,
          takes,          op.result == ResultRule::boolean ? Result::boolean : Result::first,
          false,          static_cast<size_t>(op.arity),
          each_of_engines};
}

const std::vector<Elementwise>& elementwise_table() {
  static const std::vector<Elementwise> rows = [] {
    std::vector<Elementwise> all = rows_of_several_ops();
    for (const MathOp& op : math_ops()) {
      if (op.onnx.name) all.push_back(row_of(op));
    }
    return all;
  }();
  return rows;
}

const Elementwise& elementwise_row(const Op& op) {
  const auto& rows = elementwise_table();
  return *std::find_if(rows.begin(), rows.end(), [&](const Elementwise& e) { return op.node->op == e.name; });
}

Tensor each_of_table(Pe& pe, const Operands& given) {
  const Elementwise& e = elementwise_row(pe.op);
  if (!e.wide) return e.f(pe, given);
  Operands operands;
  for (const Tensor& t : given) operands.push_back(pe.widened(t));
  return e.f(pe, operands);
}

const char* const kByPosition = "MATH on each PE's part; broadcast operands are loaded once a piece, or gathered";

/// Shape from the inputs that are present; only a clip may omit some.
void shape_first(Op& op) {
  std::vector<Shape> shapes;
  const bool alike = op.node->op != "Pow";
  const Elementwise& row = elementwise_row(op);
  if (row.check) row.check(op);
  for (size_t i = 0; i < row.least; ++i) op.in(i);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.has(i)) continue;
    shapes.push_back(op.shape(i));
    op.require_type(i, row.takes);
    if (alike) op.require_same_types(0, i);
  }
  op.set_output(0, op.in(0).type, broadcast(shapes));
}

void shape_boolean(Op& op) {
  shape_first(op);
  op.set_output(0, Type::boolean, op.out().shape);
}

std::vector<OpRow> rows_of_table() {
  std::vector<OpRow> rows;
  for (const Elementwise& e : elementwise_table())
    rows.push_back(by_position(e.name, e.since, e.result == Result::first ? shape_first : shape_boolean, each_of_table,
                               kByPosition, *e.form ? e.form : std::to_string(e.least), broadcast_views, e.domain));
  return rows;
}
const RegisterOps registered_table(rows_of_table());

// ---- Types

void shape_cast(Op& op) {
  op.set_output(0, type_of(op.integer("to")), op.shape());
}

void shape_cast_like(Op& op) {
  op.set_output(0, op.in(1).type, op.shape());
}

Tensor each_cast(Pe& pe, const Operands& o) {
  const bool truth = pe.op.out().type == Type::boolean && pe.op.in(0).type != Type::boolean;
  return truth ? pe.tl.ne(o[0], 0) : pe.converted(o[0]);
}

void shape_where(Op& op) {
  op.require_type(0, Takes::booleans);
  op.require_same_types(1, 2);
  op.set_output(0, op.in(1).type, broadcast({op.shape(0), op.shape(1), op.shape(2)}));
}

OpRow conversion(const char* name, int since, void (*shape)(Op&), const char* form) {
  OpRow row = by_position(name, since, shape, each_cast, "MATH: a conversion", form, view_of_first);
  row.same_bytes = [](const Op& op) { return op.in(0).type == op.out().type; };
  return row;
}

Tensor each_where(Pe& pe, const Operands& o) {
  return pe.tl.where(o[0], o[1], o[2]);
}

void shape_dropout(Op& op) {
  const bool training = op.opset >= 12 ? op.has(2) && op.value(2) != 0 : op.integer("is_test", 1) == 0;
  const double ratio = op.opset >= 12 ? (op.has(1) ? op.real_value(1) : 0.5) : op.real("ratio", 0.5f);
  op.require(!training || ratio == 0, "it draws random numbers, of which ONNX does not say which");
  op.set_output(0, op.in(0).type, op.shape());
  op.set_output(1, op.opset >= 10 ? Type::boolean : op.in(0).type, op.shape());
}

void run_dropout(Pe& pe) {
  for_elements(pe, {Strides::dense(pe.op.shape())}, [&](const Operands& o) { return o[0]; });
  if (!pe.op.has_output(1)) return;
  pe.for_pieces([&](int64_t first, int64_t count) { pe.put(1, first, pe.tl.full({count}, 1, pe.out_type(1))); }, 1);
}

const RegisterOps registered_types{{
    conversion("Cast", 6, shape_cast, "1 saturate to"),
    conversion("CastLike", 15, shape_cast_like, "2 saturate"),
    by_position("Where", 9, shape_where, each_where, kByPosition, "3", broadcast_views),
    {"Dropout", 7, shape_dropout, run_dropout, "DMA: a copy in inference", "3>=12 is_test<7 ratio<12 seed"},
}};

}  // namespace

Tensor arctangent(Pe& pe, const Tensor& x) {
  // Abramowitz and Stegun, 4.4.49: error below 2e-8 for |x| <= 1.
  static const std::vector<double> c = {1,           -.3333314528, .1999355085, -.1420889944, .1065626393, -.0752896400,
                                        .0429096138, -.0161657367, .0028662257};
  tl::Context& tl = pe.tl;
  const Tensor far = tl.gt(tl.abs(x), 1.0), r = tl.where(far, 1.0 / x, x);
  const Tensor of_small = r * polynomial(pe, r * r, c);  // keeps the sign of x, also of zero
  return tl.where(far, tl.where(tl.lt(x, 0), -kPi / 2, tl.full(x.shape(), kPi / 2, x.dtype())) - of_small, of_small);
}

Tensor softplus(Pe& pe, const Tensor& x) {
  return pe.tl.maximum(x, 0.0) + pe.tl.log1p(pe.tl.exp(-pe.tl.abs(x)));
}

namespace {

struct Activation {
  const char* name;
  Tensor (*f)(Pe&, const Tensor& x, float alpha, float beta);
};

const Activation kActivations[] = {
    {"Relu", [](Pe& pe, const Tensor& x, float, float) { return pe.tl.relu(x); }},
    {"Tanh", [](Pe& pe, const Tensor& x, float, float) { return pe.tl.tanh(x); }},
    {"Sigmoid", [](Pe& pe, const Tensor& x, float, float) { return pe.tl.sigmoid(x); }},
    {"Softsign", [](Pe& pe, const Tensor& x, float, float) -> Tensor { return x / (pe.tl.abs(x) + 1.0); }},
    {"Softplus", [](Pe& pe, const Tensor& x, float, float) { return softplus(pe, x); }},
    {"Affine", [](Pe& pe, const Tensor& x, float alpha, float beta) { return pe.tl.fma(x, alpha, beta); }},
    {"ScaledTanh",
     [](Pe& pe, const Tensor& x, float alpha, float beta) -> Tensor { return pe.tl.tanh(x * beta) * alpha; }},
    {"LeakyRelu",
     [](Pe& pe, const Tensor& x, float alpha, float) { return pe.tl.where(pe.tl.lt(x, 0.0), x * alpha, x); }},
    {"ThresholdedRelu",
     [](Pe& pe, const Tensor& x, float alpha, float) { return pe.tl.where(pe.tl.gt(x, alpha), x, 0.0); }},
    {"HardSigmoid",
     [](Pe& pe, const Tensor& x, float alpha, float beta) { return pe.tl.clamp(pe.tl.fma(x, alpha, beta), 0.0, 1.0); }},
    {"Elu", [](Pe& pe, const Tensor& x, float alpha,
               float) { return pe.tl.where(pe.tl.lt(x, 0.0), (pe.tl.exp(x) - 1.0) * alpha, x); }},
};

}  // namespace

std::vector<std::string> activation_names() {
  std::vector<std::string> names;
  for (const Activation& a : kActivations) names.emplace_back(a.name);
  return names;
}

Tensor activation(Pe& pe, const std::string& name, const Tensor& x, float alpha, float beta) {
  for (const Activation& a : kActivations) {
    if (name == a.name) return a.f(pe, x, alpha, beta);
  }
  throw Refusal("its activation " + name + " is not known");
}

}  // namespace kernbench::onnx
