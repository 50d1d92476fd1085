// Parts of tensor-parallel layers, as functions over a program's context (collectives contract §13.7). In each rank the
// rows of an output go over its cubes, then over their PEs. With one rank no message is sent.
#pragma once

#include <string>

#include "kernbench/platform/host/context.h"

namespace kernbench::host {

/// Rows over the cubes and PEs of each rank, the same on all ranks.
inline Layout rows_of_pes() {
  return rank_replicate().cube(shard(0)).pe(shard(0));
}
/// Columns over the ranks, rows over the cubes and PEs of each.
inline Layout columns_of_ranks() {
  return rank_shard(1).cube(shard(0)).pe(shard(0));
}

/// Stream 0 of these ranks, as Layout::on() has them; none: of all.
On streams_of(const Context&, const std::vector<uint32_t>& ranks);

// Where ranks exchange something `algorithm` is that of the collective: auto, best, or a name that it has.

// Linear layers: y = activation(x · w). Activations: none, relu, gelu, silu.

/// w [k, n] by columns over the ranks, x on all of them → y, columns_of_ranks(); gather_output: rows_of_pes(), by an
/// all_gather between the ranks.
void column_parallel_linear(Context&, const Tensor& x, const Tensor& w, const Tensor& y,
                            const std::string& activation = "none", bool gather_output = false,
                            const std::string& algorithm = "auto", KERNBENCH_TL_HERE);
/// w [k, n] by rows over the ranks, x by columns → y, rows_of_pes(): the ranks' products, summed up by an all_reduce.
void row_parallel_linear(Context&, const Tensor& x, const Tensor& w, const Tensor& y,
                         const std::string& algorithm = "auto", KERNBENCH_TL_HERE);
/// y[i] = table[idx[i]], the table by rows over the ranks: each gives the rows that it has, an all_reduce the sum.
void vocabulary_parallel_embedding(Context&, const Tensor& idx, const Tensor& table, const Tensor& y,
                                   const std::string& algorithm = "auto", KERNBENCH_TL_HERE);

/// A sum over the ranks that a launch does beside its own work, on its ranks: `part`, which is partial, into `sum`, of
/// it the share `turn` of `turns`. Without a part: none.
struct SumBeside {
  Tensor part, sum;
  int64_t turn = 0, turns = 1;
};

/// A matrix of weights, perhaps in a type of its own, with scales [⌈k/group⌉, n]; group 0: one a column. No scale: w
/// alone.
struct Weights {
  Tensor w, scale;
  int64_t group = 0;
  Weights() = default;
  Weights(const Tensor& values) : w(values) {}  // NOLINT: most matrices are no more
  Weights(const Tensor& values, const Tensor& by, int64_t rows) : w(values), scale(by), group(rows) {}
};
/// Rows that are multiplied with weights, perhaps integers with a step for each row (kernel quantize_rows).
struct Rows {
  Tensor x, step;
  Rows() = default;
  Rows(const Tensor& values) : x(values) {}  // NOLINT: most rows are no more
  Rows(const Tensor& values, const Tensor& by) : x(values), step(by) {}
};
/// Of kernels that have such a matrix: its type beside that of what is computed, and its group.
void add_weights(KernelParams*, DType, const Weights&);

/// y = residual + activation(norm(x) · w + bias) [· (norm(x) · up)] by decode_linear, with these of its parameters; x,
/// y and what there is beside them by decode_linear's names, and as it takes them.
void linear_of_few_rows(Context&, const On&, std::map<std::string, Tensor>, const Weights& w, KernelParams = {},
                        const Weights& up = {}, KERNBENCH_TL_HERE);

/// What the ranks do together beside a product, by gemm_2d's `split`: add up their products, to which `residual` comes,
/// or gather the columns of x. Empty: nothing.
struct OverRanks {
  std::string split;
  Tensor residual = {};
};

/// y = activation(x · w) by gemm_2d, in each rank's grid of cubes; over ranks x, w and y lie as gemm_2d takes them. x
/// and w are redistributed where they lie in other ways below the ranks; y may lie as it likes. On the ranks that x is
/// on.
void linear_2d(Context&, const Rows& x, const Weights& w, const Tensor& y, const std::string& activation = "none",
               const SumBeside& = {}, const OverRanks& = {}, KERNBENCH_TL_HERE);

// Regions, where a tensor goes from one layout over ranks into another.

/// Same on all ranks → the same: nothing to do.
inline Tensor copy_region(Context&, const Tensor& x) {
  return x;
}
/// A partial x → y, the sum on all ranks.
void reduce_region(Context&, const Tensor& x, const Tensor& y, const std::string& algorithm = "auto",
                   KERNBENCH_TL_HERE);
/// x, the same on all ranks → y, a layout that splits it: each PE keeps what is its own.
void scatter_region(Context&, const Tensor& x, const Tensor& y, KERNBENCH_TL_HERE);
/// x [rows, n], columns_of_ranks() → y, rows_of_pes(). Where the ranks do not divide n, zeros travel for what the last
/// ones lack.
void gather_region(Context&, const Tensor& x, const Tensor& y, const std::string& algorithm = "auto",
                   KERNBENCH_TL_HERE);

}  // namespace kernbench::host
