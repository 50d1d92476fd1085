// SPDX-License-Identifier: Apache-2.0
// Parts of tensor-parallel layers, as functions over a program's context (collectives rules §13.7). In each rank, the
// rows of an output are split over its cubes, then over their PEs. With one rank there are no messages.
#pragma once

#include <string>

#include "kernbench/platform/host/context.h"

namespace kernbench::host {

/// Rows split over the cubes and PEs of each rank; all ranks have the same.
inline Layout rows_of_pes() {
  return rank_replicate().cube(shard(0)).pe(shard(0));
}
/// Columns split over the ranks, rows over the cubes and PEs of each.
inline Layout columns_of_ranks() {
  return rank_shard(1).cube(shard(0)).pe(shard(0));
}

/// Stream 0 of these ranks, as in Layout::on(); none: all ranks.
On streams_of(const Context&, const std::vector<uint32_t>& ranks);

// `algorithm` is that of the collective between the ranks: auto, best, or a name.

// Linear layers: y = activation(x · w). Activations: none, relu, gelu, silu.

/// w [k, n] split by columns over the ranks, x on all of them → y as columns_of_ranks(). gather_output: rows_of_pes(),
/// by an all_gather between the ranks.
void column_parallel_linear(Context&, const Tensor& x, const Tensor& w, const Tensor& y,
                            const std::string& activation = "none", bool gather_output = false,
                            const std::string& algorithm = "auto", KERNBENCH_TL_HERE);
/// w [k, n] split by rows over the ranks, x by columns → y as rows_of_pes(): an all_reduce sums the ranks' products.
void row_parallel_linear(Context&, const Tensor& x, const Tensor& w, const Tensor& y,
                         const std::string& algorithm = "auto", KERNBENCH_TL_HERE);
/// y[i] = table[idx[i]], the table split by rows over the ranks: each contributes its rows; an all_reduce sums them.
void vocabulary_parallel_embedding(Context&, const Tensor& idx, const Tensor& table, const Tensor& y,
                                   const std::string& algorithm = "auto", KERNBENCH_TL_HERE);

/// A sum over the ranks that a launch computes beside its own work: of `part`, which is partial, into `sum`. It is
/// share number `turn` of `turns`. Without a part: none.
struct SumBeside {
  Tensor part, sum;
  int64_t turn = 0, turns = 1;
};

/// A matrix of weights, optionally in its own type with scales [⌈k/group⌉, n]; group 0: one scale per column. Without
/// scale: only w.
struct Weights {
  Tensor w, scale;
  int64_t group = 0;
  Weights() = default;
  Weights(const Tensor& values) : w(values) {}  // NOLINT: most matrices have no scales
  Weights(const Tensor& values, const Tensor& by, int64_t rows) : w(values), scale(by), group(rows) {}
};
/// Rows that weights multiply, optionally as integers with one scale per row (kernel quantize_rows).
struct Rows {
  Tensor x, step;
  Rows() = default;
  Rows(const Tensor& values) : x(values) {}  // NOLINT: most rows are not quantized
  Rows(const Tensor& values, const Tensor& by) : x(values), step(by) {}
};
/// Adds the parameters of a kernel with such a matrix: its type, beside the computation type, and its group.
void add_weights(KernelParams*, DType, const Weights&);

/// y = residual + activation(norm(x) · w + bias) [· (norm(x) · up)] by decode_linear, with these parameters; tensors by
/// decode_linear's names, with its layouts.
void linear_of_few_rows(Context&, const On&, std::map<std::string, Tensor>, const Weights& w, KernelParams = {},
                        const Weights& up = {}, KERNBENCH_TL_HERE);

/// Cooperation of the ranks during a product, by gemm_2d's `split`: sum their products and add `residual`, or gather
/// the columns of x. Empty: none.
struct OverRanks {
  std::string split;
  Tensor residual = {};
};

/// y = activation(x · w) by gemm_2d, in each rank's grid of cubes. Over ranks x, w and y need gemm_2d's layouts. x and
/// w are redistributed if their layouts below the ranks differ; y may have any. Runs on the ranks of x.
void linear_2d(Context&, const Rows& x, const Weights& w, const Tensor& y, const std::string& activation = "none",
               const SumBeside& = {}, const OverRanks& = {}, KERNBENCH_TL_HERE);

// Regions, in which a tensor changes its layout over ranks.

/// Equal on all ranks → the same: nothing to do.
inline Tensor copy_region(Context&, const Tensor& x) {
  return x;
}
/// A partial x → y, the sum on all ranks.
void reduce_region(Context&, const Tensor& x, const Tensor& y, const std::string& algorithm = "auto",
                   KERNBENCH_TL_HERE);
/// x, equal on all ranks → y, whose layout splits it: each PE keeps its part.
void scatter_region(Context&, const Tensor& x, const Tensor& y, KERNBENCH_TL_HERE);
/// x [rows, n], columns_of_ranks() → y, rows_of_pes(). If the ranks do not divide n, zeros pad the last parts.
void gather_region(Context&, const Tensor& x, const Tensor& y, const std::string& algorithm = "auto",
                   KERNBENCH_TL_HERE);

}  // namespace kernbench::host
