// o = softmax(q · kᵀ / √dim) · v per head, flash style: keys and values stream through TCM once per block of queries,
// with a running maximum and sum, and the scores never leave TCM. Work is split over all (head, query) rows.
#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels {
namespace {

constexpr int64_t kElements = 8192;  // of a block of queries, keys or values
constexpr int64_t kRows = 64;        // of a block, at most
constexpr double kMasked = -1e30;    // a score that exp() makes 0, whatever the maximum

/// The queries of one block, and where they stand in their head.
struct Queries {
  tl::Tensor q;       // [rows, dim], element type
  int64_t first = 0;  // position in the sequence
  int64_t rows = 0;
};

/// Scores of the block's queries against `cols` keys from `first_key`, f32.
tl::Tensor scores(tl::Context& tl, const Queries& block, const tl::Tensor& keys, int64_t first_key, bool causal) {
  const tl::Tensor s = tl.dot(block.q, keys.transpose()) * (1 / std::sqrt(static_cast<double>(keys.dim(1))));
  const int64_t cols = keys.dim(0);
  if (!causal || first_key + cols - 1 <= block.first) return s;
  const tl::Tensor row = tl.arange(static_cast<double>(block.first), static_cast<double>(block.first + block.rows));
  const tl::Tensor col = tl.arange(static_cast<double>(first_key), static_cast<double>(first_key + cols));
  return tl.where(row.expand_dims(1) >= col.expand_dims(0), s, kMasked);
}

void attend(tl::Context& tl, const Queries& block, const tl::Block& k, const tl::Block& v, const tl::Block& o,
            bool causal, int64_t step) {
  const int64_t keys = causal ? block.first + block.rows : k.shape()[0];
  tl::Tensor top;  // running maximum of a query's scores, [rows, 1]
  tl::Tensor sum;  // of exp(score - top), [rows, 1]
  tl::Tensor acc;  // Σ exp(score - top) · v, [rows, dim]
  for (int64_t j = 0; j < keys; j += step) {
    const int64_t count = std::min(step, keys - j);
    const auto key = tl.load_async(k.rows(j, count));
    const auto value = tl.load_async(v.rows(j, count));
    const tl::Tensor s = scores(tl, block, key, j, causal);
    const tl::Tensor part_top = tl.max(s, 1, true);
    const tl::Tensor new_top = j == 0 ? part_top : tl.maximum(top, part_top);
    const tl::Tensor p = tl.exp(s - new_top);
    const tl::Tensor part_sum = tl.sum(p, 1, true);
    // The matrix engine takes operands of one type: weights are rounded to that of v.
    const tl::Tensor part = tl.dot(v.dtype() == DType::f32 ? p : tl.cast(p, v.dtype()), value);
    if (j == 0) {
      sum = part_sum;
      acc = part;
    } else {
      const tl::Tensor shrink = tl.exp(top - new_top);
      sum = tl.fma(sum, shrink, part_sum);
      acc = tl.fma(acc, shrink, part);
    }
    top = new_top;
  }
  tl.store(o, tl.cast(acc / sum, o.dtype()));
}

void attention(tl::Context& tl, const tl::Args& args) {
  const tl::View& mine = args["q"];  // [rows, dim] of the flattened [heads · seq, dim]
  if (mine.empty()) return;
  const int64_t seq = args.integer("seq");
  const int64_t dim = args.integer("dim");
  const int64_t step = std::clamp<int64_t>(kElements / dim, 1, kRows);
  const tl::Block q = mine;
  const tl::Block o = args["o"];
  for (int64_t i = 0; i < mine.shape[0];) {
    const int64_t head = (mine.offset[0] + i) / seq;
    Queries block;
    block.first = (mine.offset[0] + i) % seq;
    block.rows = std::min({step, mine.shape[0] - i, seq - block.first});  // never across heads
    block.q = tl.load(q.rows(i, block.rows));
    const tl::Block k = (args["k"].ptr + head * seq * dim).block({seq, dim});
    const tl::Block v = (args["v"].ptr + head * seq * dim).block({seq, dim});
    attend(tl, block, k, v, o.rows(i, block.rows), args.flag("causal"), step);
    i += block.rows;
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int64_t seq = p.integer("seq");
  const int64_t dim = p.integer("dim");
  const Floats q = in.at("q").floats();
  const Floats k = in.at("k").floats();
  const Floats v = in.at("v").floats();
  Floats o(q.size());
  for (int64_t h = 0; h < p.integer("heads"); ++h) {
    const int64_t at = h * seq * dim;
    const auto head = [&](const Floats& x) { return Eigen::Map<const Matrix>(x.data() + at, seq, dim); };
    const Eigen::MatrixXd values = head(v).cast<double>();
    const Eigen::MatrixXd keys = head(k).cast<double>();
    const Eigen::MatrixXd s = head(q).cast<double>() * keys.transpose() / std::sqrt(static_cast<double>(dim));
    for (int64_t r = 0; r < seq; ++r) {
      const int64_t seen = p.flag("causal") ? r + 1 : seq;
      const Eigen::ArrayXd row = s.row(r).head(seen).transpose().array();
      const Eigen::ArrayXd e = (row - row.maxCoeff()).exp();
      Eigen::Map<Matrix>(o.data() + at, seq, dim).row(r) =
          ((e / e.sum()).matrix().transpose() * values.topRows(seen)).cast<float>();
    }
  }
  return {{"o", {HostTensor::from(p.dtype(), in.at("q").shape, o), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "attention";
  s.help = "o = softmax(q k^T / sqrt(dim)) v per head, flash style";
  s.params = {ParamSpec::size("heads", 4, "heads; all (head, query) rows are split over the PEs"),
              ParamSpec::size("seq", 512, "queries and keys a head"), ParamSpec::size("dim", 64, "elements of a head"),
              ParamSpec::flag("causal", false, "a query sees no later keys"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.params[2].max = kElements;
  const std::vector<std::string> shape{"heads", "seq", "dim"};
  s.tensors = {input("q", shape, Placement::flat_rows), input("k", shape, Placement::replicate),
               input("v", shape, Placement::replicate), output("o", shape, Placement::flat_rows)};
  s.function = attention;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels
