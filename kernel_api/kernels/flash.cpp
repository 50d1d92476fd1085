#include "kernbench/kernel_api/kernels/flash.h"

#include <cmath>

namespace kernbench::kernels {
/// The scores of keys that a query does not see, masked.
tl::Tensor FlashAttention::seen(const tl::Tensor& s, int64_t first_key) const {
  const int64_t cols = s.dim(1);
  if (!causal_ || first_key + cols - 1 <= queries_.first) return s;
  const tl::Tensor row =
      tl_.arange(static_cast<double>(queries_.first), static_cast<double>(queries_.first + queries_.rows));
  const tl::Tensor col = tl_.arange(static_cast<double>(first_key), static_cast<double>(first_key + cols));
  return tl_.where(row.expand_dims(1) >= col.expand_dims(0), s, kMaskedScore);
}

void FlashAttention::add(const tl::Tensor& keys, const tl::Tensor& values, int64_t first_key) {
  const double scale = 1 / std::sqrt(static_cast<double>(keys.dim(1)));
  add_scores(tl_.dot(queries_.q, keys.transpose()) * scale, values, first_key);
}

void FlashAttention::add_scores(const tl::Tensor& scores, const tl::Tensor& values, int64_t first_key) {
  const tl::Tensor s = seen(scores, first_key);
  const tl::Tensor part_top = tl_.max(s, 1, true);
  const tl::Tensor new_top = any_ ? tl_.maximum(top_, part_top) : part_top;
  const tl::Tensor p = tl_.exp(s - new_top);
  const tl::Tensor part_sum = tl_.sum(p, 1, true);
  // The matrix engine takes operands of one type: weights are rounded to that of v.
  const tl::Tensor part = tl_.dot(values.dtype() == DType::f32 ? p : tl_.cast(p, values.dtype()), values);
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
