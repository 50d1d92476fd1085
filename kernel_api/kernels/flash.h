// SPDX-License-Identifier: Apache-2.0
// Attention of a block of queries, flash style: keys and values are met block by block, with a running maximum and sum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

constexpr int64_t kFlashElements = 8192;  // of a block of queries, keys or values
constexpr double kMaskedScore = -1e30;    // that exp() makes 0, whatever the maximum

/// Rows of a block of queries, keys or values of dim elements each.
inline int64_t flash_rows(int64_t dim) {
  return std::clamp<int64_t>(kFlashElements / dim, 1, 64);
}

/// The queries of one block, and where they stand in their head.
struct Queries {
  tl::Tensor q;       // [rows, dim], element type
  int64_t first = 0;  // position in the sequence
  int64_t rows = 0;
};

class FlashAttention {
 public:
  /// infinite: scores may be −inf; a query that has no others gets NaN. softcap: of scores that it makes itself.
  FlashAttention(tl::Context& tl, const Queries& queries, bool causal, bool infinite = false, double softcap = 0)
      : tl_(tl), queries_(queries), causal_(causal), infinite_(infinite), softcap_(softcap) {}
  /// Keys and values [cols, dim] from that position of the sequence on; causal: not beyond the last query. Keys may be
  /// of another type, and are then times `scale`.
  void add(const tl::Tensor& keys, const tl::Tensor& values, int64_t first_key, double scale = 1);
  /// The same of scores [rows, cols], in f32, that the caller has made.
  void add_scores(tl::Tensor scores, const tl::Tensor& values, int64_t first_key);
  /// softmax(q kᵀ / √dim) v over all that was added, in f32.
  tl::Tensor result() const { return acc_ / sum_; }
  /// What it is made of, to go on elsewhere: the greatest score [rows, 1], Σ exp(score − that) [rows, 1] and
  /// Σ exp(score − that) · v [rows, dim], in f32. Nothing was added: not valid.
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
