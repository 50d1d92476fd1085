// SPDX-License-Identifier: Apache-2.0
// o = softmax(q · kᵀ / √dim) · v per head, flash style. Keys and values stream through TCM once per block of queries,
// with a running maximum and sum, so scores never leave TCM. Work is distributed over all (head, query) rows. Later
// causal rows see more keys. If PEs have parts of heads, they exchange rows, so that each PE has early and late ones
// that use the same keys together.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include <Eigen/Core>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/flash.h"
#include "kernbench/kernel_api/kernels/peers.h"
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/check/verify.h"

namespace kernbench::kernels::attention_kernel {
namespace {

/// Rows of q and o [heads · seq, dim] that one PE stores.
struct Rows {
  const tl::View *q, *o;
  Range range;
};

/// Blocks of queries of one head; each block has rows of one PE.
using Unit = std::vector<Rows>;

/// The work of this PE on the rows of its rank.
class Share {
 public:
  Share(const tl::Context& tl, const tl::Args& args)
      : tl_(tl), args_(args), seq_(args.integer("seq")), step_(flash_rows(args.integer("dim"))) {}

  std::vector<Unit> own() const {
    std::vector<Unit> units;
    const Rows rows{&args_["q"], &args_["o"], range_of(args_["q"], 0)};
    for (int64_t row = rows.range.first; row < rows.range.end(); row = units.back().back().range.end()) {
      const int64_t count = std::min({step_, rows.range.end() - row, seq_ - row % seq_});  // a block never spans heads
      units.push_back({{rows.q, rows.o, {row, count}}});
    }
    return units;
  }

  /// From each head, each PE takes an early and a late block of half a PE's rows. One of them is mostly its own.
  std::vector<Unit> early_and_late() {
    find_stored();
    const int64_t begin = stored_.front().range.first, end = stored_.back().range.end();
    const auto pes = static_cast<int64_t>(stored_.size()), me = static_cast<int64_t>(me_);
    const auto cuts_a_head = [&](const Rows& r) { return r.range.first % seq_ != 0; };
    if (!in_order_ || end - begin < 2 * pes || std::none_of(stored_.begin(), stored_.end(), cuts_a_head)) return own();
    std::vector<std::pair<Range, Range>> pairs;
    for (int64_t row = begin; row < end; row = (row / seq_ + 1) * seq_) {
      const Range head{row, std::min(end, (row / seq_ + 1) * seq_) - row};
      const int64_t blocks = 2 * tl::Context::cdiv(head.count * pes, end - begin);
      const auto first = [&](int64_t i) { return head.first + head.count * i / blocks; };
      const auto block = [&](int64_t i) { return Range{first(i), first(i + 1) - first(i)}; };
      for (int64_t i = 0; i < blocks; i += 2) pairs.emplace_back(block(i), block(blocks - 1 - i));
    }
    const auto all = static_cast<int64_t>(pairs.size());
    std::vector<Unit> units;
    for (int64_t i = me * all / pes; i < (me + 1) * all / pes; ++i) {
      const auto& [early, late] = pairs[static_cast<size_t>(i)];
      for (int64_t at = 0; at < std::max(early.count, late.count); at += step_) {
        units.emplace_back();
        add(cut({early.first + at, step_}, early), &units.back());
        add(cut({late.first + at, step_}, late), &units.back());
      }
    }
    return units;
  }

 private:
  void find_stored() {
    for (uint32_t p = 0; p < args_.shards(); ++p) {
      const tl::View &q = args_.shard("q", p), &o = args_.shard("o", p);
      if (q.empty() || (tl_.world_size() > 1 && tl_.launch().pes[p].rank != tl_.rank())) continue;
      in_order_ = in_order_ && q.offset == o.offset && q.shape == o.shape &&
                  (stored_.empty() || stored_.back().range.end() == q.offset[0]);
      if (&q == &args_["q"]) me_ = stored_.size();
      stored_.push_back({&q, &o, range_of(q, 0)});
    }
  }
  void add(const Range& rows, Unit* to) const {
    for (const Rows& r : stored_) {
      const Range part = cut(rows, r.range);
      if (!part.empty()) to->push_back({r.q, r.o, part});
    }
  }

  const tl::Context& tl_;
  const tl::Args& args_;
  const int64_t seq_, step_;
  std::vector<Rows> stored_;  ///< by PE of the rank, only PEs with rows
  size_t me_ = 0;
  bool in_order_ = true;  ///< rows are contiguous, in o as in q
};

class Attention {
 public:
  Attention(tl::Context& tl, const tl::Args& args)
      : tl_(tl),
        causal_(args.flag("causal")),
        seq_(args.integer("seq")),
        dim_(args.integer("dim")),
        step_(flash_rows(dim_)),
        k_(args["k"].ptr),
        v_(args["v"].ptr) {}

  void attend(const Unit& unit) const {
    std::deque<Block> blocks;
    int64_t end = 0;
    for (const Rows& r : unit) {
      const auto in = [&](const tl::View& v) { return v.block().rows(r.range.first - v.offset[0], r.range.count); };
      blocks.push_back({in(*r.o), {tl_.load(in(*r.q)), r.range.first % seq_, r.range.count}, {}});
      blocks.back().running.emplace(tl_, blocks.back().queries, causal_);
      end = std::max(end, keys_of(blocks.back()));
    }
    const int64_t head = unit.front().range.first / seq_;
    // Short blocks do less work for the same keys, so their keys are loaded during the work on the blocks before.
    const int64_t ahead = blocks.size() > 1 ? step_ : 0;
    std::deque<Keys> asked;
    for (int64_t j = 0, next = 0; j < end; j += step_) {
      for (; next < end && next <= j + ahead; next += step_)
        asked.push_back(ask(head, next, std::min(step_, end - next)));
      for (Block& b : blocks) {
        const int64_t count = std::min(step_, keys_of(b) - j);
        if (count > 0) b.running->add(asked.front().k.slice(0, 0, count), asked.front().v.slice(0, 0, count), j);
      }
      asked.pop_front();
      for (Block& b : blocks) {
        if (j < keys_of(b) && keys_of(b) <= j + step_) store(&b, j + step_ >= end && &b == &blocks.back());
      }
    }
  }

 private:
  struct Block {
    tl::Block o;
    Queries queries;
    std::optional<FlashAttention> running;
  };
  struct Keys {
    tl::Tensor k, v;
  };
  void store(Block* b, bool wait) const {
    const tl::Tensor o = tl_.cast(b->running->result(), b->o.dtype());
    wait ? tl_.store(b->o, o) : tl_.store_async(b->o, o);
    b->running.reset();
  }
  /// The number of keys that its last query sees.
  int64_t keys_of(const Block& b) const { return causal_ ? b.queries.first + b.queries.rows : seq_; }
  Keys ask(int64_t head, int64_t first, int64_t count) const {
    const auto of = [&](const tl::Ptr& all) {
      return (all + head * seq_ * dim_).block({seq_, dim_}).rows(first, count);
    };
    const tl::Tensor k = tl_.load_async(of(k_));
    return {k, tl_.load_async(of(v_))};
  }

  tl::Context& tl_;
  const bool causal_;
  const int64_t seq_, dim_, step_;
  const tl::Ptr k_, v_;  ///< of [heads · seq, dim]
};

void attention(tl::Context& tl, const tl::Args& args) {
  if (args["q"].empty()) return;
  Share share(tl, args);
  const Attention attention(tl, args);
  for (const Unit& u : args.flag("causal") ? share.early_and_late() : share.own()) attention.attend(u);
}

/// Computes one head of the reference, and the scale that widens its tolerance. The scale is Σ|weight||v|/√keys of the
/// second product (data rules §4), plus the tolerance of the first product's f32 scores after the softmax.
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
    // A weight of 0, from a mask or rounding, meets an infinity, or a NaN that this query does not see.
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
              ParamSpec::flag("causal", false, "causal mask: a query sees no later keys"),
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
}  // namespace kernbench::kernels::attention_kernel
