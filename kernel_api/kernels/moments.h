// SPDX-License-Identifier: Apache-2.0
// Mean and variance of rows for layer norms. In f32, a sum of squares minus the square of the mean loses the digits of
// the differences if the mean is large. Therefore values are centred before they are squared, and the mean is stored as
// two numbers.
#pragma once

#include <vector>

#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// For rows [rows, n] in f32.
struct Moments {
  tl::Tensor of_rows;  ///< [rows, 3]: a number near the mean, the mean's distance from it, Σ(x − mean)²
  tl::Tensor centred;  ///< x − mean
};
Moments moments_of(tl::Context&, const tl::Tensor& x);

/// Combines Moments::of_rows of the parts of rows. The parts have that many columns each.
tl::Tensor joined_moments(tl::Context&, const std::vector<tl::Tensor>& parts, const std::vector<int64_t>& columns);

/// x − mean, for rows with these moments.
tl::Tensor centred(const tl::Tensor& x, const tl::Tensor& moments);

/// 1 / √(variance + eps), [rows, 1], for rows with n elements.
tl::Tensor inverse_deviation(tl::Context&, const tl::Tensor& moments, int64_t n, double eps);

/// For references, in f64, for a row of n elements: its mean (0 unless `centred`) and 1 / √(Σ(x − mean)²/n + eps).
struct RowNorm {
  double mean, scale;
};
RowNorm norm_of_row(const float* row, int64_t n, bool centred, double eps);

}  // namespace kernbench::kernels
