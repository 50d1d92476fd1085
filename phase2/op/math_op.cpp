// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/op/math_op.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "kernbench/phase2/op/chain.h"

namespace kernbench::phase2 {
namespace {

using K = MathKind;
using R = ResultRule;

using E = EnergyClass;
using V = Values;

OpCycles as(std::string_view op) {
  OpCycles c(1);
  c.as = op;
  return c;
}

MathOp row(std::string_view name, K kind, int arity, R result, Values values, const OpCycles& cycles, E energy,
           std::string_view help) {
  MathOp op{name, kind, arity, result};
  op.float_only = values == Values::floats;
  op.integer_only = values == Values::integers;
  op.steps = kind == K::scan ? Steps::scan : kind == K::sort ? Steps::sort : Steps::one;
  op.cycles = cycles.each;
  op.cycles_as = cycles.as;
  op.energy = energy;
  op.help = help;
  return op;
}

MathOp elementwise(MathOp op, Fn fn, decltype(MathOp::f64) f64, decltype(MathOp::i64) i64, std::string_view triton,
                   std::string_view library, const Onnx& onnx) {
  op.first_is_condition = fn == Fn::where;
  op.fn = fn;
  op.f64 = f64;
  op.i64 = i64;
  op.triton = triton;
  op.library = library;
  op.onnx = onnx;
  return op;
}

// ---- What the rows' meanings are written with.

// Of two zeros the second is returned. The result is NaN if an operand is NaN. In `_number`, a NaN counts as missing.
double greater(double a, double b) {
  return a > b || std::isnan(a) ? a : b;
}
double less(double a, double b) {
  return a < b || std::isnan(a) ? a : b;
}
double greater_number(double a, double b) {
  return a > b || std::isnan(b) ? a : b;
}
double less_number(double a, double b) {
  return a < b || std::isnan(b) ? a : b;
}

/// The low `bits` bits of an integer, as a signed integer.
int64_t cut(uint64_t v, int bits) {
  return bits == 64 ? static_cast<int64_t>(v) : static_cast<int32_t>(static_cast<uint32_t>(v));
}

bool inside(int64_t shift, int bits) {
  return shift >= 0 && shift < bits;
}

int64_t high_half(uint64_t a, uint64_t b, int bits) {
  if (bits == 32) return cut((a & 0xffffffff) * (b & 0xffffffff) >> 32, bits);
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64));
}

#define KERNBENCH_F64(expression) \
  [](double a, double b, double c) -> double { return (void)a, (void)b, (void)c, (expression); }
#define KERNBENCH_I64(expression)                                                                           \
  [](int64_t a, int64_t b, int64_t c, int bits) -> int64_t {                                                \
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b), uc = static_cast<uint64_t>(c); \
    return (void)ua, (void)ub, (void)uc, (void)bits, (expression);                                          \
  }
#define KERNBENCH_MEANING_any(f64, i64) KERNBENCH_F64(f64), KERNBENCH_I64(i64)
#define KERNBENCH_MEANING_floats(f64, i64) KERNBENCH_F64(f64), nullptr
#define KERNBENCH_MEANING_integers(f64, i64) nullptr, KERNBENCH_I64(i64)

std::vector<MathOp> make_ops() {
  std::vector<MathOp> ops{
#define KERNBENCH_ELEMENTWISE(name, operands, result, values, cycles, energy, f64, i64, triton, library, onnx, help) \
  elementwise(row(#name, K::elementwise, operands, R::result, V::values, cycles, E::energy, help), Fn::name,         \
              KERNBENCH_MEANING_##values(f64, i64), triton, library, onnx),
#include "kernbench/phase2/op/elementwise_ops.inc"
#undef KERNBENCH_ELEMENTWISE
  };
  MathOp cast = ops[static_cast<size_t>(Fn::copy)];
  cast.name = "cast";
  cast.result = R::chosen;
  cast.help = "to another type: nearest even; to integers toward 0, saturating";
  const MathOp others[] = {
      cast,
      row("sum", K::reduction, 1, R::wide, V::any, 1, E::simple, "sum along an axis"),
      row("prod", K::reduction, 1, R::wide, V::any, 1, E::multiply, "product along an axis"),
      row("max", K::reduction, 1, R::promote, V::any, 1, E::simple, "maximum along an axis"),
      row("min", K::reduction, 1, R::promote, V::any, 1, E::simple, "minimum along an axis"),
      row("xor_sum", K::reduction, 1, R::promote, V::integers, 1, E::simple, "xor along an axis"),
      row("argmax", K::reduction, 1, R::index, V::any, 2, E::simple, "index of the maximum along an axis"),
      row("argmin", K::reduction, 1, R::index, V::any, 2, E::simple, "index of the minimum along an axis"),
      row("reduce", K::reduction, 1, R::promote, V::any, 1, E::simple, "reduction by elementwise ops along an axis"),
      row("softmax", K::softmax, 1, R::promote_float, V::floats, 11, E::multiply, "softmax along an axis"),
      row("cumsum", K::scan, 2, R::wide, V::any, 1, E::simple, "running sum along an axis"),
      row("cumprod", K::scan, 2, R::wide, V::any, 1, E::multiply, "running product along an axis"),
      row("associative_scan", K::scan, 2, R::promote, V::any, 1, E::simple, "scan by elementwise ops along an axis"),
      row("sort", K::sort, 2, R::promote, V::any, 1, E::simple, "sort along an axis"),
      row("argsort", K::sort, 2, R::index, V::any, 2, E::simple, "argsort along an axis"),
      row("topk", K::sort, 2, R::promote, V::any, 1, E::simple, "largest k along an axis, sorted"),
      row("cat", K::arrange, kAnyNumber, R::promote, V::any, 1, E::simple, "concatenation along an axis"),
      row("flip", K::arrange, 1, R::promote, V::any, 1, E::simple, "reversal along an axis"),
      row("gather", K::arrange, 2, R::promote, V::any, 1, E::simple, "gather by index along an axis"),
      row("dequantize", K::dequantize, 2, R::chosen, V::any, 1, E::multiply, "narrow or packed values times a scale"),
      row("histogram", K::histogram, 2, R::index, V::integers, 1, E::simple,
          "histogram: number of elements of each value"),
      // Ten rounds of two products each, a conversion to float, then a logarithm, a square root and a cosine.
      row("randint", K::random, 4, R::bits, V::integers, 20, E::multiply, "random words (Philox)"),
      row("rand", K::random, 4, R::single, V::integers, 21, E::multiply, "uniform random numbers from 0 to 1 (Philox)"),
      row("randn", K::random, 4, R::single, V::integers, 35, E::multiply, "normal random numbers (Philox)"),
      row("full", K::create, 1, R::chosen, V::any, 1, E::simple, "one value"),
      row("arange", K::create, 2, R::chosen, V::any, 1, E::simple, "ramp from start and step"),
      row("device_print", K::report, 1, R::boolean, V::any, 1, E::simple, "print values in the report"),
      row("device_assert", K::report, 1, R::boolean, V::any, 1, E::simple, "assert a condition in the report"),
  };
  ops.insert(ops.end(), std::begin(others), std::end(others));
  for (MathOp& op : ops) {
    const auto like = std::find_if(ops.begin(), ops.end(), [&](const MathOp& o) { return o.name == op.cycles_as; });
    if (like != ops.end()) op.cycles = like->cycles;
  }
  return ops;
}

int64_t ceil_log2(int64_t n) {
  int64_t steps = 0;
  while (int64_t{1} << steps < n) ++steps;
  return steps;
}

}  // namespace

std::string_view name_of(EnergyClass c) {
  return c == E::simple ? "simple" : "multiply";
}

const std::vector<MathOp>& math_ops() {
  static const std::vector<MathOp> ops = make_ops();
  return ops;
}

const MathOp* find_math_op(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const MathOp*> all;
    for (const MathOp& op : math_ops()) all.emplace(op.name, &op);
    static const MathOp chain{Chain::kName, K::chain, kAnyNumber, R::chosen};
    all.emplace(chain.name, &chain);
    return all;
  }();
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

int64_t steps_of(const MathOp& op, int64_t n) {
  const int64_t log = std::max<int64_t>(1, ceil_log2(n));
  return op.steps == Steps::one ? 1 : op.steps == Steps::scan ? log : log * (log + 1) / 2;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) || is_float(b)) {
    if (!is_float(b)) return a;
    if (!is_float(a)) return b;
    return DType::f32;
  }
  if (size_of(a) < size_of(b)) std::swap(a, b);
  const auto is_signed = [](DType t) {
    return t == DType::i8 || t == DType::i16 || t == DType::i32 || t == DType::i64;
  };
  if (is_signed(a) && (is_signed(b) || size_of(b) < size_of(a))) return a;
  if (!is_signed(a) && !is_signed(b)) return a;
  return size_of(a) == 1 ? DType::i16 : size_of(a) == 2 ? DType::i32 : DType::i64;
}

DType result_dtype(const MathOp& op, const std::vector<DType>& operands) {
  if (op.result == R::boolean) return DType::u8;
  if (op.result == R::index) return DType::i32;
  if (op.result == R::bits) return DType::u32;
  if (op.result == R::single) return DType::f32;
  const size_t first = op.first_is_condition ? 1 : 0;
  DType t = operands.size() > first ? operands[first] : DType::f32;
  if (op.result == R::chosen) return t;
  for (size_t i = first; i < operands.size(); ++i) t = promote(t, operands[i]);
  if (op.result == R::wide && !is_float(t) && size_of(t) < 4) return DType::i32;
  return op.result == R::promote_float && !is_float(t) ? DType::f32 : t;
}

}  // namespace kernbench::phase2
