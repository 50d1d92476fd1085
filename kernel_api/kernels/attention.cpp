// o = softmax(q · kᵀ / √dim) · v per head, flash style: keys and values stream through TCM once per block of queries,
// with a running maximum and sum, and the scores never leave TCM. Work is split over all (head, query) rows.
#include <algorithm>
#include <cmath>

#include <Eigen/Core>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/flash.h"

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
