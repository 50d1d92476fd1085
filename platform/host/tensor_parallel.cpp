// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/host/tensor_parallel.h"

namespace kernbench::host {
namespace {

// Short panels give enough steps to overlap a sum with, and products start before many rows have arrived.
constexpr int64_t kPanelBesideSum = 256;
// The same if blocks of a product are summed while the next are computed.
constexpr int64_t kPanelBesideBlocks = 512;

/// Calls make() with its output: y if there is one rank, else a partial tensor that is then summed into y.
template <class Make>
void summed(Context& h, const Tensor& y, const std::string& algorithm, const char* file, int line, const Make& make) {
  if (h.num_ranks() == 1) return make(y);
  const Tensor partial = h.partial_like(y, y.name() + "_partial", file, line);
  make(partial);
  reduce_region(h, partial, y, algorithm, file, line);
}

}  // namespace

On streams_of(const Context& h, const std::vector<uint32_t>& ranks) {
  if (ranks.empty()) return h.ranks();
  std::vector<Stream> streams;
  for (const uint32_t r : ranks) streams.push_back({r, 0});
  return streams;
}

void column_parallel_linear(Context& h, const Tensor& x, const Tensor& w, const Tensor& y,
                            const std::string& activation, bool gather_output, const std::string& algorithm,
                            const char* file, int line) {
  const bool gather = gather_output && h.num_ranks() > 1;
  const Tensor to = gather ? h.tensor(y.dtype(), y.shape(), columns_of_ranks(), y.name() + "_columns", file, line) : y;
  h.launch(h.ranks(), "tp_linear", {{"activation", activation}}, {{"x", x}, {"w", w}, {"y", to}}, "all", file, line);
  if (gather) gather_region(h, to, y, algorithm, file, line);
}

void row_parallel_linear(Context& h, const Tensor& x, const Tensor& w, const Tensor& y, const std::string& algorithm,
                         const char* file, int line) {
  summed(h, y, algorithm, file, line, [&](const Tensor& to) {
    h.launch(h.ranks(), "tp_linear", {{"activation", "none"}}, {{"x", x}, {"w", w}, {"y", to}}, "all", file, line);
  });
}

void vocabulary_parallel_embedding(Context& h, const Tensor& idx, const Tensor& table, const Tensor& y,
                                   const std::string& algorithm, const char* file, int line) {
  summed(h, y, algorithm, file, line, [&](const Tensor& to) {
    h.launch(h.ranks(), "embedding", {}, {{"idx", idx}, {"table", table}, {"y", to}}, "all", file, line);
  });
}

void add_weights(KernelParams* params, DType dtype, const Weights& w) {
  if (w.w.dtype() != dtype) params->emplace_back("weights", std::string(name_of(w.w.dtype())));
  if (w.group > 0) params->emplace_back("group", w.group);
}

void linear_of_few_rows(Context& h, const On& on, std::map<std::string, Tensor> tensors, const Weights& w,
                        KernelParams params, const Weights& up, const char* file, int line) {
  add_weights(&params, tensors.at("x").dtype(), w);
  tensors["w"] = w.w;
  if (w.scale.places()) tensors["scale"] = w.scale;
  if (up.w.places()) tensors["up"] = up.w;
  if (up.scale.places()) tensors["up_scale"] = up.scale;
  h.launch(on, "decode_linear", params, tensors, "all", file, line);
}

void linear_2d(Context& h, const Rows& rows, const Weights& weights, const Tensor& y, const std::string& activation,
               const SumBeside& sum, const OverRanks& over, const char* file, int line) {
  const Tensor &x = rows.x, &w = weights.w;
  const bool integers = rows.step.places() != nullptr;
  const Tensor a = h.redistribute(x, grid_of_rows(x.layout().rank()).on(x.layout().ranks()), "", file, line);
  const Tensor b = h.redistribute(w, grid_of_columns(w.layout().rank()).on(w.layout().ranks()), "", file, line);
  KernelParams params = {{"activation", activation}};
  std::map<std::string, Tensor> tensors = {{"a", a}, {"b", b}, {"c", y}};
  add_weights(&params, integers ? y.dtype() : x.dtype(), weights);
  if (integers) {
    params.emplace_back("activations", std::string(name_of(x.dtype())));
    tensors["a_step"] = rows.step;
  }
  if (weights.scale.places()) tensors["scale"] = weights.scale;
  if (sum.part.places()) {
    params.emplace_back("sum_rows", sum.sum.shape()[0]);
    params.emplace_back("sum_cols", sum.sum.shape()[1]);
    params.emplace_back("turn", sum.turn);
    params.emplace_back("turns", sum.turns);
    params.emplace_back("panel_k", kPanelBesideSum);
    tensors["part"] = sum.part;
    tensors["sum"] = sum.sum;
  }
  if (!over.split.empty()) params.emplace_back("split", over.split);
  if (over.split.rfind("k", 0) == 0) params.emplace_back("panel_k", kPanelBesideBlocks);
  if (over.residual.places()) tensors["residual"] = over.residual;
  h.launch(streams_of(h, x.layout().ranks()), "gemm_2d", params, tensors, "all", file, line);
}

void reduce_region(Context& h, const Tensor& x, const Tensor& y, const std::string& algorithm, const char* file,
                   int line) {
  h.launch(h.ranks(), "all_reduce", {{"over", "rank"}, {"algorithm", algorithm}}, {{"x", x}, {"y", y}}, "all", file,
           line);
}

void scatter_region(Context& h, const Tensor& x, const Tensor& y, const char* file, int line) {
  h.launch(h.ranks(), "copy_part", {}, {{"x", x}, {"y", y}}, "all", file, line);
}

void gather_region(Context& h, const Tensor& x, const Tensor& y, const std::string& algorithm, const char* file,
                   int line) {
  const int64_t ranks = h.num_ranks(), rows = x.shape()[0], most = (x.shape()[1] + ranks - 1) / ranks;
  Tensor even = x;
  if (x.shape()[1] != ranks * most) {  // pads the last ranks' columns, because blocks of an all_gather are equal
    even = h.tensor(x.dtype(), {rows, ranks * most}, columns_of_ranks(), x.name() + "_even", file, line);
    h.launch(h.ranks(), "copy_part", {}, {{"x", x}, {"y", even}}, "all", file, line);
  }
  // A rank receives the ranks' columns as separate blocks; join_columns puts them side by side.
  const Tensor parts = h.tensor(x.dtype(), {ranks, rows, most}, rank_replicate().cube(shard(1)).pe(shard(1)),
                                x.name() + "_parts", file, line);
  h.launch(h.ranks(), "all_gather", {{"over", "rank"}, {"algorithm", algorithm}}, {{"x", even}, {"y", parts}}, "all",
           file, line);
  h.launch(h.ranks(), "join_columns", {}, {{"x", parts}, {"y", y}}, "all", file, line);
}

}  // namespace kernbench::host
