// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/moments.h"

#include <cmath>

namespace kernbench::kernels {

Moments moments_of(tl::Context& tl, const tl::Tensor& x) {
  const double each = 1.0 / static_cast<double>(x.shape()[1]);
  const tl::Tensor near = tl.sum(x, 1, true) * each, away = x - near;
  const tl::Tensor rest = tl.sum(away, 1, true) * each, centred = away - rest;
  return {tl.cat({near, rest, tl.sum(centred * centred, 1, true)}, 1), centred};
}

tl::Tensor joined_moments(tl::Context& tl, const std::vector<tl::Tensor>& parts, const std::vector<int64_t>& columns) {
  if (parts.size() == 1) return parts.front();
  const auto n = static_cast<int64_t>(parts.size());
  int64_t whole = 0;
  for (const int64_t c : columns) whole += c;
  std::vector<float> counts, shares;
  for (const int64_t c : columns) {
    counts.push_back(static_cast<float>(c));
    shares.push_back(static_cast<float>(static_cast<double>(c) / static_cast<double>(whole)));
  }
  const int64_t rows = parts.front().shape()[0];
  const tl::Tensor all = tl.cat(parts, 1).reshape({rows, n, 3});
  const tl::Tensor near = all.slice(2, 0, 1), first = near.slice(1, 0, 1);
  const tl::Tensor mean = near - first + all.slice(2, 1, 1);  // of each part, relative to `near` of the first part
  const tl::Tensor rest = tl.sum(mean * tl.tensor(shares, {n, 1}, DType::f32), 1, true), between = mean - rest;
  const tl::Tensor squares =
      tl.sum(tl.fma(between * between, tl.tensor(counts, {n, 1}, DType::f32), all.slice(2, 2, 1)), 1, true);
  return tl.cat({first, rest, squares}, 2).reshape({rows, 3});
}

tl::Tensor centred(const tl::Tensor& x, const tl::Tensor& moments) {
  return x - moments.slice(1, 0, 1) - moments.slice(1, 1, 1);
}

tl::Tensor inverse_deviation(tl::Context& tl, const tl::Tensor& moments, int64_t n, double eps) {
  return tl.rsqrt(tl.fma(moments.slice(1, 2, 1), 1.0 / static_cast<double>(n), eps));
}

RowNorm norm_of_row(const float* row, int64_t n, bool centred, double eps) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n && centred; ++i) sum += double{row[i]};
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(n) + eps)};
}

}  // namespace kernbench::kernels
