// SPDX-License-Identifier: Apache-2.0
// Applies an elementwise math op to blocks of broadcast operands. Math ops and epilogues share it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernbench/phase2/eval/arithmetic.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::phase2 {

/// The type in which a block is computed.
enum class Compute : uint8_t { f32, i32, i64 };

/// The function of an elementwise op. EvalError for any other name.
Fn fn_of(const std::string& op);

/// Integers are used if every tensor operand is an integer, the op has an integer form and no immediate has a fraction.
/// The type is i64 if an operand is i64 or u32, except for the high half of a u32 product, whose bits equal i32's.
/// EvalError for floats if the op takes only integers.
Compute compute_type(const MathOp&, const std::vector<EvalInput>& inputs);

/// Strides of `in` broadcast to `shape` (numpy's rule). EvalError if it does not fit.
Dims broadcast_strides(const EvalInput& in, const Dims& shape, const std::string& op);

/// Positions of an output in row-major order, with the matching positions of its operands.
class Walk {
 public:
  /// `strides`: those of each operand, broadcast to the shape.
  Walk(const Dims& shape, const std::vector<Dims>& strides);
  /// The number of positions from `at` on in which every operand has a constant stride, at most `most`.
  int64_t run(int64_t at, int64_t most) const;
  int64_t stride(size_t operand) const { return strides_[operand][shape_.rank() - 1]; }
  /// Offset of the operand's element for position `at` from the operand's first element.
  int64_t offset(size_t operand, int64_t at) const;

 private:
  Dims shape_;  ///< adjacent dimensions are merged if every operand walks them as one
  std::vector<Dims> strides_;
};

/// Elements per converted block.
constexpr size_t kBlock = 1024;

/// The dtype of T: float, int32_t or int64_t.
template <class T>
constexpr DType kDTypeOf = std::is_same_v<T, float>     ? DType::f32
                           : std::is_same_v<T, int32_t> ? DType::i32
                                                        : DType::i64;

/// Whether `data` of this dtype can be read as elements of T in place.
template <class T>
bool is_itself(DType t, const uint8_t* data) {
  return t == kDTypeOf<T> && reinterpret_cast<uintptr_t>(data) % alignof(T) == 0;
}

/// An arithmetic's conversions and functions, selected by the computed type.
inline void widen(const Arithmetic& x, const void* in, DType t, float* out, size_t n) {
  x.to_f32(in, t, out, n);
}
inline void widen(const Arithmetic& x, const void* in, DType t, int32_t* out, size_t n) {
  x.to_i32(in, t, out, n);
}
inline void widen(const Arithmetic& x, const void* in, DType t, int64_t* out, size_t n) {
  x.to_i64(in, t, out, n);
}
inline void narrow(const Arithmetic& x, const float* in, DType t, void* out, size_t n) {
  x.from_f32(in, t, out, n);
}
inline void narrow(const Arithmetic& x, const int32_t* in, DType t, void* out, size_t n) {
  x.from_i32(in, t, out, n);
}
inline void narrow(const Arithmetic& x, const int64_t* in, DType t, void* out, size_t n) {
  x.from_i64(in, t, out, n);
}
template <class T>
using Function = void (*)(T* o, const T* a, const T* b, const T* c, size_t n);
template <class T>
Function<T> function(const Arithmetic& x, Fn fn) {
  const auto i = static_cast<size_t>(fn);
  if constexpr (std::is_same_v<T, float>) {
    return x.f32[i];
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return x.i32[i];
  } else {
    return x.i64[i];
  }
}

/// Calls f(T{}) with the type in which it is computed.
template <class F>
auto in_type(Compute c, F f) {
  return c == Compute::f32 ? f(float{}) : c == Compute::i32 ? f(int32_t{}) : f(int64_t{});
}

/// n elements, `stride` apart, as T. Returns a pointer to the operand itself if it has this form already, else to the
/// filled `buffer` (then n is at most kBlock). `condition`: each element becomes 1 if it is nonzero, else 0.
template <class T>
const T* fetch_block(const Arithmetic&, const EvalInput&, int64_t offset, int64_t stride, size_t n, bool condition,
                     T* buffer);

}  // namespace kernbench::phase2
