// The table of math ops: what a kernel may call, what an epilogue may hold and what Phase 2 evaluates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

enum class MathKind : uint8_t {
  elementwise,  ///< position by position, operands broadcast to the output's shape
  reduction,    ///< sum, max, min, argmax along one axis
  softmax,      ///< along one axis, shape kept
  create,       ///< full(value), arange(start, step): scalars in, a tensor out
};

/// The dtype that a result has unless the call says otherwise.
enum class ResultRule : uint8_t {
  promote,        ///< promote() of the operands that carry the values
  promote_float,  ///< promote(), f32 where that is an integer (exp, sqrt, …)
  boolean,        ///< u8, 0 or 1
  index,          ///< i32
  chosen,         ///< the caller says (cast, full, arange)
};

struct MathOp {
  std::string_view name;
  MathKind kind;
  int arity;  ///< operands, immediates included
  ResultRule result;
  bool float_only = false;  ///< integer operands are computed in f32
  bool first_is_condition = false;
  bool is_reduction() const { return kind == MathKind::reduction; }
  /// Whether it may stand in a composite (head or epilogue).
  bool is_elementwise() const { return kind == MathKind::elementwise; }
};

/// Null where there is no op of that name.
const MathOp* find_math_op(std::string_view name);
const std::vector<MathOp>& math_ops();

/// The common type of two operands: the same type stays; integers widen to the smallest type that holds both
/// (u8 with i8: i16); an integer with a float gives the float; different floats give f32.
DType promote(DType, DType);

/// The result's dtype by the op's rule from its tensor operands in order (immediates take part only where there is no
/// tensor: they are f32). `chosen` returns the first operand's.
DType result_dtype(const MathOp&, const std::vector<DType>& tensor_operands);

}  // namespace kernbench
