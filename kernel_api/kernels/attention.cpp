// o = softmax(q · kᵀ / √dim) · v per head, flash style: keys and values stream through TCM once per block of queries,
// with a running maximum and sum, and the scores never leave TCM. Work is split over all (head, query) rows.
#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/flash.h"
#include "kernbench/phase2/check/verify.h"

namespace kernbench::kernels {
namespace {

void attend(tl::Context& tl, const Queries& block, const tl::Block& k, const tl::Block& v, const tl::Block& o,
            bool causal, int64_t step) {
  const int64_t keys = causal ? block.first + block.rows : k.shape()[0];
  FlashAttention running(tl, block, causal);
  for (int64_t j = 0; j < keys; j += step) {
    const int64_t count = std::min(step, keys - j);
    const auto key = tl.load_async(k.rows(j, count));
    const auto value = tl.load_async(v.rows(j, count));
    running.add(key, value, j);
  }
  tl.store(o, tl.cast(running.result(), o.dtype()));
}

void attention(tl::Context& tl, const tl::Args& args) {
  const tl::View& mine = args["q"];  // [rows, dim] of the flattened [heads · seq, dim]
  if (mine.empty()) return;
  const int64_t seq = args.integer("seq");
  const int64_t dim = args.integer("dim");
  const int64_t step = flash_rows(dim);
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

/// One head of the reference, and what widens its tolerance: Σ|weight||v|/√keys of the second product (data contract
/// §4), and what the tolerance of the first one's scores, which are f32, comes to behind the softmax.
struct Head {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Map = Eigen::Map<const Matrix>;
  Matrix o, scale;

  Head(const Map& q, const Map& k, const Map& v, bool causal, double score_share)
      : o(q.rows(), q.cols()), scale(q.rows(), q.cols()) {
    const auto seq = q.rows(), dim = q.cols();
    const Eigen::MatrixXd values = v.cast<double>(), keys = k.cast<double>(), queries = q.cast<double>();
    const Eigen::MatrixXd sizes = values.cwiseAbs();
    const Eigen::MatrixXd scores = queries * keys.transpose() / std::sqrt(static_cast<double>(dim));
    const Eigen::MatrixXd score_sizes =
        queries.cwiseAbs() * keys.cwiseAbs().transpose() / static_cast<double>(dim) * score_share;
    for (Eigen::Index r = 0; r < seq; ++r) {
      const auto seen = causal ? r + 1 : seq;
      const Eigen::ArrayXd row = scores.row(r).head(seen).transpose().array();
      const Eigen::ArrayXd e = (row - row.maxCoeff()).exp();
      const Eigen::RowVectorXd weights = (e / e.sum()).matrix().transpose();
      const Eigen::RowVectorXd moved = weights.cwiseProduct(
          score_sizes.row(r).head(seen).cwiseMax(scores.row(r).head(seen).cwiseAbs() * score_share));
      const Eigen::RowVectorXd out = weights * values.topRows(seen);
      o.row(r) = out.cast<float>();
      scale.row(r) = ((weights / std::sqrt(static_cast<double>(seen)) + moved) * sizes.topRows(seen) +
                      moved.sum() * out.cwiseAbs())
                         .cast<float>();
    }
    // A weight that is 0 by a mask or by rounding meets an infinity, or a NaN that this query does not see.
    for (Eigen::Index c = 0; c < dim; ++c) {
      if (!values.col(c).allFinite()) scale.col(c).setConstant(std::numeric_limits<float>::quiet_NaN());
    }
  }
};

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t seq = p.integer("seq");
  const int64_t dim = p.integer("dim");
  const Floats q = in.at("q").floats();
  const Floats k = in.at("k").floats();
  const Floats v = in.at("v").floats();
  const double score_share = tolerance_of(DType::f32).rtol / tolerance_of(p.dtype()).rtol;
  Floats o, scale;
  for (int64_t h = 0; h < p.integer("heads"); ++h) {
    const auto part = [&](const Floats& x) { return Head::Map(x.data() + h * seq * dim, seq, dim); };
    const Head head(part(q), part(k), part(v), p.flag("causal"), score_share);
    o.insert(o.end(), head.o.data(), head.o.data() + head.o.size());
    scale.insert(scale.end(), head.scale.data(), head.scale.data() + head.scale.size());
  }
  return {{"o", {HostTensor::from(p.dtype(), in.at("q").shape, o), scale}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "attention";
  s.help = "o = softmax(q k^T / sqrt(dim)) v per head, flash style";
  s.params = {ParamSpec::size("heads", 4, "heads; all (head, query) rows are split over the PEs"),
              ParamSpec::size("seq", 512, "queries and keys a head"), ParamSpec::size("dim", 64, "elements of a head"),
              ParamSpec::flag("causal", false, "a query sees no later keys"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.params[2].max = kFlashElements;
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
