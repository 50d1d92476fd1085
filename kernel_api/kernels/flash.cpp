// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/flash.h"

#include <cmath>
#include <limits>
#include <utility>

#include "kernbench/kernel_api/kernels/activations.h"

namespace kernbench::kernels {
void FlashAttention::mask_unseen(tl::Tensor& scores, int64_t first_key) const {
  const int64_t cols = scores.dim(1);
  if (!causal_ || first_key + cols - 1 <= queries_.first) return;
  const tl::Tensor row =
      tl_.arange(static_cast<double>(queries_.first), static_cast<double>(queries_.first + queries_.rows));
  const tl::Tensor col = tl_.arange(static_cast<double>(first_key), static_cast<double>(first_key + cols));
  scores = tl_.where(row.expand_dims(1) >= col.expand_dims(0), scores, kMaskedScore);
}

void FlashAttention::add(const tl::Tensor& keys, const tl::Tensor& values, int64_t first_key, double scale) {
  scale /= std::sqrt(static_cast<double>(keys.dim(1)));
  // Two statements, so that the product's TCM is freed before the softmax.
  tl::Tensor scores = tl_.dot(queries_.q, keys.transpose()) * scale;
  scores = soft_capped(tl_, scores, softcap_);
  add_scores(std::move(scores), values, first_key);
}

void FlashAttention::add_scores(tl::Tensor s, const tl::Tensor& values, int64_t first_key) {
  mask_unseen(s, first_key);
  tl::Tensor part_top = tl_.max(s, 1, true);
  if (infinite_) part_top = tl_.maximum(part_top, static_cast<double>(std::numeric_limits<float>::lowest()));
  const tl::Tensor new_top = any_ ? tl_.maximum(top_, part_top) : part_top;
  const tl::Tensor p = tl_.exp(s - new_top);
  const tl::Tensor part_sum = tl_.sum(p, 1, true);
  // The GEMM engine takes operands of one type, or one operand with 8 bits. Weights are therefore rounded to v's type,
  // or q's.
  const DType type = size_of(values.dtype()) > 1 ? values.dtype() : queries_.q.dtype();
  const tl::Tensor part = tl_.dot(type == DType::f32 ? p : tl_.cast(p, type), values);
  if (any_) {
    const tl::Tensor shrink = tl_.exp(top_ - new_top);
    sum_ = tl_.fma(sum_, shrink, part_sum);
    acc_ = tl_.fma(acc_, shrink, part);
  } else {
    sum_ = part_sum;
    acc_ = part;
  }
  any_ = true;
  top_ = new_top;
}

}  // namespace kernbench::kernels
