// Position-by-position application of a math op to blocks of broadcast operands: shared by math ops and epilogues.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernbench/phase2/eval/arithmetic.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench {

/// What a block is computed in.
enum class Compute : uint8_t { f32, i32 };

/// The function of an elementwise op; EvalError for names that are none.
Fn fn_of(const std::string& op);

/// Integers where every tensor operand is one, the op has an integer form and no immediate has a fraction.
Compute compute_type(const MathOp&, const std::vector<EvalInput>& inputs);

/// Strides of `in` walked over `shape` (numpy's broadcasting); EvalError where it does not fit.
Dims broadcast_strides(const EvalInput& in, const Dims& shape, const std::string& op);

/// Elements of a block that is converted.
constexpr size_t kBlock = 1024;

/// Whether `data` of this dtype are elements of T (f32 or i32) as they lie.
template <class T>
bool is_itself(DType t, const uint8_t* data) {
  return t == (std::is_same_v<T, float> ? DType::f32 : DType::i32) &&
         reinterpret_cast<uintptr_t>(data) % alignof(T) == 0;
}

/// n elements, `stride` apart, as f32 or i32: a pointer to the operand itself where that will do, else `buffer`
/// filled, and n at most kBlock. `condition`: 0 or 1 for whether the element is not zero.
template <class T>
const T* fetch_block(const Arithmetic&, const EvalInput&, int64_t offset, int64_t stride, size_t n, bool condition,
                     T* buffer);

}  // namespace kernbench
