// Position-by-position application of a math op to blocks of broadcast operands: shared by math ops and epilogues.
#pragma once

#include <cstdint>
#include <vector>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/eval/kernels.h"
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

/// Blocks are at most this many elements.
constexpr size_t kBlock = 1024;

/// n elements, `stride` apart, as f32 or i32: a pointer to the operand itself where that will do, else `buffer`
/// filled. `condition`: 0 or 1 for whether the element is not zero.
template <class T>
const T* fetch_block(const Kernels&, const EvalInput&, int64_t offset, int64_t stride, size_t n, bool condition,
                     T* buffer);

}  // namespace kernbench
