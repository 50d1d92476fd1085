// SPDX-License-Identifier: Apache-2.0
// Mean and variance of rows, as layer norms want them: in f32 a sum of squares less a square of the mean loses the
// digits that rows with a large mean have of their differences, so values are centred before they are squared, and a
// mean is kept as two numbers.
#pragma once

#include <vector>

#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// Of rows [rows, n] in f32.
struct Moments {
  tl::Tensor of_rows;  ///< [rows, 3]: a number near the mean, how far the mean is from it, Σ(x − mean)²
  tl::Tensor centred;  ///< x − mean
};
Moments moments_of(tl::Context&, const tl::Tensor& x);

/// Moments::of_rows of whole rows, whose parts have so many columns each.
tl::Tensor joined_moments(tl::Context&, const std::vector<tl::Tensor>& parts, const std::vector<int64_t>& columns);

/// x − mean, of rows with these moments.
tl::Tensor centred(const tl::Tensor& x, const tl::Tensor& moments);

/// 1 / √(variance + eps), [rows, 1], of rows of n elements.
tl::Tensor inverse_deviation(tl::Context&, const tl::Tensor& moments, int64_t n, double eps);

/// For references, of a row of n, in f64: its mean, 0 where it is not `centred`, and 1 / √(Σ(x − mean)²/n + eps).
struct RowNorm {
  double mean, scale;
};
RowNorm norm_of_row(const float* row, int64_t n, bool centred, double eps);

}  // namespace kernbench::kernels
