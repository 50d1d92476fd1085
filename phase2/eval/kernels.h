// The arithmetic that is compiled once per instruction set (isa.h): plain loops over contiguous blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

/// Elementwise functions that have a block kernel; order of the tables in Kernels.
enum class Fn : uint8_t {
  copy,
  exp,
  log,
  sqrt,
  rsqrt,
  sigmoid,
  tanh,
  erf,
  abs,
  neg,
  relu,
  gelu,
  silu,
  floor,
  add,
  sub,
  mul,
  div,
  maximum,
  minimum,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  where,
  fma,
  clamp,
  count
};
constexpr int kFns = static_cast<int>(Fn::count);

/// A GEMM operand as the kernels see it: element (i, j) at data + i * row_stride + j * col_stride elements.
struct GemmOperand {
  const uint8_t* data = nullptr;
  DType dtype = DType::f32;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
};

/// `count` rows of `bytes` each, `stride` bytes apart.
struct GemmRows {
  const uint8_t* data = nullptr;
  int64_t bytes = 0, count = 0, stride = 0;
};

/// What the caller will read next: fetched into the cache beside the arithmetic.
struct GemmNext {
  GemmRows rows[2];
};

/// How a product is put into C. Nothing here changes bits.
struct GemmMode {
  bool accumulate = false;         ///< add to what C holds
  bool past_cache = false;         ///< C will not be read soon
  const GemmNext* next = nullptr;  ///< may be null
};

struct Kernels {
  /// o[i] = f(a[i], b[i], c[i]); unused operands are null; o may be any of the operands.
  using F32 = void (*)(float* o, const float* a, const float* b, const float* c, size_t n);
  using I32 = void (*)(int32_t* o, const int32_t* a, const int32_t* b, const int32_t* c, size_t n);
  F32 f32[kFns];
  I32 i32[kFns];  ///< null where the function has no integer form

  /// n elements of the dtype to f32 or i32 and back (convert.h's rules; floats to i32 saturate).
  void (*to_f32)(const void* in, DType, float* out, size_t n);
  void (*from_f32)(const float* in, DType, void* out, size_t n);
  void (*to_i32)(const void* in, DType, int32_t* out, size_t n);
  void (*from_i32)(const int32_t* in, DType, void* out, size_t n);

  /// Copies nbytes, a multiple of 64, to an address that is one, without bringing it into the cache.
  void (*store_past_cache)(void* to, const void* from, size_t nbytes);

  /// Reductions of a contiguous row. Sum: 16 interleaved partial sums of each 1,024 elements, added as a tree; the
  /// blocks' sums in order. max and min give NaN if any element is NaN.
  float (*sum)(const float* a, size_t n);
  float (*max)(const float* a, size_t n);
  float (*min)(const float* a, size_t n);

  /// C[m, n] (+)= A[m, k] · B[k, n], rows of C `ldc` elements apart: floats in f32, integers in i32 modulo 2^32. The
  /// products of blocks of 256 along k are added to C in order; within a block an element is one chain of
  /// multiply-adds in ascending k, from 0. So the bits depend on k and the values alone. `work` holds gemm_work_bytes,
  /// aligned to 64.
  void (*gemm_f32)(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b, float* c, int64_t ldc,
                   const GemmMode&, void* work);
  void (*gemm_i32)(int64_t m, int64_t n, int64_t k, const GemmOperand& a, const GemmOperand& b, int32_t* c, int64_t ldc,
                   const GemmMode&, void* work);
  size_t gemm_work_bytes;
};

/// The table of an available path; std::invalid_argument otherwise.
const Kernels& kernels_of(Isa);

namespace detail {
/// Null where this build has no such path.
const Kernels* kernels_portable();
const Kernels* kernels_avx2();
const Kernels* kernels_avx512();
}  // namespace detail

}  // namespace kernbench
