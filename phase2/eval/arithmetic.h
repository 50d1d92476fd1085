// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one instruction set over contiguous blocks. It is Eigen's, compiled once for each set (isa.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/op/dtype.h"
#include "kernbench/phase2/op/fn.h"

namespace kernbench::phase2 {

/// A GEMM operand: element (i, j) at data + i * row_stride + j * col_stride elements, of any alignment.
struct GemmOperand {
  const uint8_t* data = nullptr;
  DType dtype = DType::f32;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
};

/// Size of the largest product that one call computes.
constexpr int64_t kProductRows = 512, kProductCols = 512;

struct Arithmetic {
  /// o[i] = f(a[i], b[i], c[i]); unused operands are null; o may be a.
  using F32 = void (*)(float* o, const float* a, const float* b, const float* c, size_t n);
  using I32 = void (*)(int32_t* o, const int32_t* a, const int32_t* b, const int32_t* c, size_t n);
  using I64 = void (*)(int64_t* o, const int64_t* a, const int64_t* b, const int64_t* c, size_t n);
  F32 f32[kFns];  ///< null if the function takes only integers
  I32 i32[kFns];  ///< null where the function has no integer form
  I64 i64[kFns];  ///< like i32

  /// Converts n elements of the dtype, of any alignment, to f32, i32 or i64 and back. The rules are those of convert.h:
  /// floats to integers saturate; a packed element is its byte.
  void (*to_f32)(const void* in, DType, float* out, size_t n);
  void (*from_f32)(const float* in, DType, void* out, size_t n);
  void (*to_i32)(const void* in, DType, int32_t* out, size_t n);
  void (*from_i32)(const int32_t* in, DType, void* out, size_t n);
  void (*to_i64)(const void* in, DType, int64_t* out, size_t n);
  void (*from_i64)(const int64_t* in, DType, void* out, size_t n);

  /// scale * random_unit(seed, first + i) (random.h).
  void (*random_f32)(uint64_t seed, uint64_t first, double scale, float* out, size_t n);

  /// Reductions of a contiguous row. A sum has 16 interleaved partial sums in each block of 1,024 elements, added as a
  /// tree; the blocks' sums are added in order. max and min need at least one element and give NaN if any element is
  /// NaN.
  float (*sum)(const float* a, size_t n);
  float (*max)(const float* a, size_t n);
  float (*min)(const float* a, size_t n);
  float (*maxnum)(const float* a, size_t n);
  float (*minnum)(const float* a, size_t n);

  /// C[m, n] = A[m, k] · B[k, n], or C += A · B, with at most kProductRows x kProductCols elements. Rows of C are `ldc`
  /// elements apart. Floats are computed in f32, integers in i32 modulo 2^32. The result's bits depend only on m, n, k
  /// and the values. `work` holds product_work_bytes, aligned to 64.
  void (*product_f32)(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b, float* c,
                      int64_t ldc, bool accumulate, void* work);
  void (*product_i32)(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b, int32_t* c,
                      int64_t ldc, bool accumulate, void* work);
  size_t product_work_bytes;

  const char* eigen_version;  ///< version of the Eigen that it was built with, such as "3.4.0"
};

/// The arithmetic of an available set; std::invalid_argument otherwise.
const Arithmetic& arithmetic_of(Isa);

namespace detail {
/// Null if this build lacks the set.
const Arithmetic* arithmetic_portable();
const Arithmetic* arithmetic_avx2();
const Arithmetic* arithmetic_avx512();
}  // namespace detail

}  // namespace kernbench::phase2
