#include "kernbench/phase2/op/math_op.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kernbench/phase2/op/chain.h"

namespace kernbench {
namespace {

using K = MathKind;
using R = ResultRule;

MathOp elementwise(std::string_view name, int arity, R result, Values values, Fn fn) {
  MathOp op{name, K::elementwise, arity, result};
  op.float_only = values == Values::floats;
  op.integer_only = values == Values::integers;
  op.first_is_condition = fn == Fn::where;
  op.fn = fn;
  return op;
}

MathOp with_steps(MathOp op, Steps steps) {
  op.steps = steps;
  return op;
}

MathOp of_integers(MathOp op) {
  op.integer_only = true;
  return op;
}

std::vector<MathOp> make_ops() {
  std::vector<MathOp> ops{
#define KB_ELEMENTWISE(name, operands, result, values) \
  elementwise(#name, operands, R::result, Values::values, Fn::name),
#include "kernbench/phase2/op/elementwise_ops.inc"
#undef KB_ELEMENTWISE
      elementwise("cast", 1, R::chosen, Values::any, Fn::copy),
      {"sum", K::reduction, 1, R::wide},
      {"prod", K::reduction, 1, R::wide},
      {"max", K::reduction, 1, R::promote},
      {"min", K::reduction, 1, R::promote},
      of_integers({"xor_sum", K::reduction, 1, R::promote}),
      {"argmax", K::reduction, 1, R::index},
      {"argmin", K::reduction, 1, R::index},
      {"reduce", K::reduction, 1, R::promote},
      {"softmax", K::softmax, 1, R::promote_float, true},
      with_steps({"cumsum", K::scan, 2, R::wide}, Steps::scan),
      with_steps({"cumprod", K::scan, 2, R::wide}, Steps::scan),
      with_steps({"associative_scan", K::scan, 2, R::promote}, Steps::scan),
      with_steps({"sort", K::sort, 2, R::promote}, Steps::sort),
      with_steps({"argsort", K::sort, 2, R::index}, Steps::sort),
      with_steps({"topk", K::sort, 2, R::promote}, Steps::sort),
      {"cat", K::arrange, kAnyNumber, R::promote},
      {"flip", K::arrange, 1, R::promote},
      {"gather", K::arrange, 2, R::promote},
      {"dequantize", K::dequantize, 2, R::chosen},
      of_integers({"histogram", K::histogram, 2, R::index}),
      of_integers({"randint", K::random, 4, R::bits}),
      of_integers({"rand", K::random, 4, R::single}),
      of_integers({"randn", K::random, 4, R::single}),
      {"full", K::create, 1, R::chosen},
      {"arange", K::create, 2, R::chosen},
      {"device_print", K::report, 1, R::boolean},
      {"device_assert", K::report, 1, R::boolean},
  };
  return ops;
}

int64_t ceil_log2(int64_t n) {
  int64_t steps = 0;
  while (int64_t{1} << steps < n) ++steps;
  return steps;
}

}  // namespace

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

}  // namespace kernbench
