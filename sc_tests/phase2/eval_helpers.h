// SPDX-License-Identifier: Apache-2.0
// Tensors and ops in one line, for tests of evaluation.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/io/random.h"

namespace kernbench {

struct Tensor {
  DType dtype;
  Dims shape;
  Bytes bytes;
  EvalInput input() const { return EvalInput::tensor(bytes.data(), dtype, shape); }
  double at(size_t i) const { return load_scalar(&bytes[i * size_of(dtype)], dtype); }
};

inline Tensor random(DType t, const Dims& shape, uint64_t seed, double scale = 1) {
  return {t, shape, random_tensor(t, shape, seed, scale)};
}

template <class T>
inline Tensor of(DType t, const std::vector<T>& v) {
  Tensor r{t, {static_cast<int64_t>(v.size())}, Bytes(v.size() * sizeof(T))};
  std::memcpy(r.bytes.data(), v.data(), r.bytes.size());
  return r;
}
inline Tensor f32s(const std::vector<float>& v) {
  return of(DType::f32, v);
}
inline Tensor i32s(const std::vector<int32_t>& v) {
  return of(DType::i32, v);
}

inline OpDesc math(const std::string& op, size_t operands, DType out, const Dims& shape) {
  OpDesc d;
  d.type = CommandType::math;
  d.name = d.op = op;
  d.operands.resize(operands);
  d.output.dtype = out;
  d.output.shape = shape;
  d.output.strides = TensorRef::row_major(shape);
  return d;
}

inline Tensor run(const OpDesc& d, const std::vector<EvalInput>& in, Isa isa = best_isa()) {
  return {d.output.dtype, d.output.shape, evaluate(d, in, isa)};
}

inline std::vector<float> floats(const Tensor& t) {
  std::vector<float> v;
  for (int64_t i = 0; i < t.shape.elements(); ++i) v.push_back(static_cast<float>(t.at(static_cast<size_t>(i))));
  return v;
}

inline OpDesc gemm(int64_t m, int64_t n, int64_t k, DType out) {
  OpDesc d = math("gemm", 2, out, {m, n});
  d.type = CommandType::gemm;
  d.kind = OpKind::gemm;
  d.m = m;
  d.n = n;
  d.k = k;
  return d;
}

/// Σ a b and Σ|a||b| / √K in f64; element (i, p) of A by `a`, (p, j) of B by `b`.
template <class A, class B>
ReferenceValues gemm_reference(int64_t m, int64_t n, int64_t k, A a, B b) {
  ReferenceValues r;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, scale = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += a(i, p) * b(p, j);
        scale += std::abs(a(i, p) * b(p, j));
      }
      r.values.push_back(sum);
      r.scale.push_back(k ? scale / std::sqrt(static_cast<double>(k)) : 0);
    }
  }
  return r;
}

}  // namespace kernbench
