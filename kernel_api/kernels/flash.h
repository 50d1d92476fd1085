// SPDX-License-Identifier: Apache-2.0
// Attention of a block of queries, flash style: processes keys and values block by block, with a running maximum and
// sum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

constexpr int64_t kFlashElements = 8192;  // per block of queries, keys or values
constexpr double kMaskedScore = -1e30;    // exp() of it is 0 for any maximum

/// Rows per block of queries, keys or values with dim elements each.
inline int64_t flash_rows(int64_t dim) {
  return std::clamp<int64_t>(kFlashElements / dim, 1, 64);
}

/// The queries of a block and their position in the head.
struct Queries {
  tl::Tensor q;       // [rows, dim], element type
  int64_t first = 0;  // position in the sequence
  int64_t rows = 0;
};

class FlashAttention {
 public:
  /// `infinite`: scores may be −inf, and a query that has only these gets NaN. `softcap`: for scores that this class
  /// computes.
  FlashAttention(tl::Context& tl, const Queries& queries, bool causal, bool infinite = false, double softcap = 0)
      : tl_(tl), queries_(queries), causal_(causal), infinite_(infinite), softcap_(softcap) {}
  /// Adds keys and values [cols, dim] from that position of the sequence on. causal: each query sees keys up to its own
  /// position. Keys of another type are multiplied by `scale`.
  void add(const tl::Tensor& keys, const tl::Tensor& values, int64_t first_key, double scale = 1);
  /// The same with scores [rows, cols] in f32 from the caller.
  void add_scores(tl::Tensor scores, const tl::Tensor& values, int64_t first_key);
  /// softmax(q kᵀ / √dim) v over all added keys, in f32.
  tl::Tensor result() const { return acc_ / sum_; }
  /// The state, for a later combination: the greatest score [rows, 1], Σ exp(score − greatest) [rows, 1] and Σ
  /// exp(score − greatest) · v [rows, dim], in f32. Invalid if nothing was added.
  const tl::Tensor& top() const { return top_; }
  const tl::Tensor& sum() const { return sum_; }
  const tl::Tensor& weighted() const { return acc_; }

 private:
  void mask_unseen(tl::Tensor& scores, int64_t first_key) const;

  tl::Context& tl_;
  const Queries& queries_;
  const bool causal_, infinite_;
  const double softcap_;
  bool any_ = false;
  tl::Tensor top_;  // running maximum of a query's scores, [rows, 1]
  tl::Tensor sum_;  // of exp(score - top), [rows, 1]
  tl::Tensor acc_;  // Σ exp(score - top) · v, [rows, dim]
};

}  // namespace kernbench::kernels
