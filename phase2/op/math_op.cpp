#include "kernbench/phase2/op/math_op.h"

#include <utility>

namespace kernbench {
namespace {

using K = MathKind;
using R = ResultRule;

std::vector<MathOp> make_ops() {
  std::vector<MathOp> ops;
  for (const char* name : {"copy", "abs", "neg", "relu", "floor"}) ops.push_back({name, K::elementwise, 1, R::promote});
  for (const char* name : {"exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "erf", "gelu", "silu"}) {
    ops.push_back({name, K::elementwise, 1, R::promote_float, true});
  }
  ops.push_back({"cast", K::elementwise, 1, R::chosen});
  for (const char* name : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
    ops.push_back({name, K::elementwise, 2, R::promote});
  }
  for (const char* name : {"lt", "le", "gt", "ge", "eq", "ne"}) ops.push_back({name, K::elementwise, 2, R::boolean});
  ops.push_back({"where", K::elementwise, 3, R::promote, false, true});
  ops.push_back({"fma", K::elementwise, 3, R::promote});
  ops.push_back({"clamp", K::elementwise, 3, R::promote});
  for (const char* name : {"sum", "max", "min"}) ops.push_back({name, K::reduction, 1, R::promote});
  ops.push_back({"argmax", K::reduction, 1, R::index});
  ops.push_back({"softmax", K::softmax, 1, R::promote_float, true});
  ops.push_back({"full", K::create, 1, R::chosen});
  ops.push_back({"arange", K::create, 2, R::chosen});
  return ops;
}

}  // namespace

const std::vector<MathOp>& math_ops() {
  static const std::vector<MathOp> ops = make_ops();
  return ops;
}

const MathOp* find_math_op(std::string_view name) {
  for (const MathOp& op : math_ops()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) || is_float(b)) {
    if (!is_float(b)) return a;
    if (!is_float(a)) return b;
    return DType::f32;
  }
  if (size_of(a) < size_of(b)) std::swap(a, b);
  return size_of(a) == size_of(b) ? DType::i16 : a;  // equal sizes: i8 with u8
}

DType result_dtype(const MathOp& op, const std::vector<DType>& operands) {
  if (op.result == R::boolean) return DType::u8;
  if (op.result == R::index) return DType::i32;
  const size_t first = op.first_is_condition ? 1 : 0;
  DType t = operands.size() > first ? operands[first] : DType::f32;
  if (op.result == R::chosen) return t;
  for (size_t i = first; i < operands.size(); ++i) t = promote(t, operands[i]);
  return op.result == R::promote_float && !is_float(t) ? DType::f32 : t;
}

}  // namespace kernbench
