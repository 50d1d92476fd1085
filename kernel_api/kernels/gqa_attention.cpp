// SPDX-License-Identifier: Apache-2.0
// Attention with grouped heads: o = softmax(q kᵀ / √dim) v, where each head of k and v serves `heads / kv_heads` heads
// of q. The heads are in adjacent columns of one tensor, as a linear layer writes them: q, then k, then v. If ranks
// have a share each, the tensor has `parts` equal shares of the heads in sequence. qkv and o may have any layout. PEs
// split the (head of k, block of queries) pairs and alternate between early and late blocks, because late queries see
// more keys. Also rope: rotates q and k by position. It may work in place (y = x).
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/kernels/activations.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/heads.h"
#include "kernbench/kernel_api/kernels/shards.h"
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::gqa_attention_kernel {
namespace {

constexpr double kUnseen = -1e30;      // exp() of this score is 0
constexpr int64_t kFewestQueries = 8;  // per block; shorter blocks load too many keys for their work

/// The keys that a query sees.
struct Sight {
  bool causal;
  int64_t window;  ///< only the last keys, including its own; 0: all
  int64_t first_key(int64_t query) const { return window > 0 ? std::max<int64_t>(0, query - window + 1) : 0; }
  int64_t end(int64_t query, int64_t seq) const { return causal ? query + 1 : seq; }
};

/// `most` queries, or fewer, so that each PE has an early and a late block.
int64_t block_rows(const Heads& h, int64_t most, int64_t pes) {
  const int64_t blocks = tl::Context::cdiv(2 * pes, h.kv_of_part);
  return std::clamp(tl::Context::cdiv(h.seq, blocks), std::min(most, kFewestQueries), most);
}

struct KeyBlock {
  int64_t first, count;
  tl::Tensor k, v;
  int64_t end() const { return first + count; }
};

/// A block of queries of all heads of a group, with the running sums over the processed keys.
struct Queries {
  int64_t first, rows;
  tl::Tensor q, top, sum, acc;  ///< [rows · group, dim or 1]
};

/// Blocks of queries that process the keys of one head together.
struct Unit {
  int64_t head;
  std::vector<Queries> queries;
};

class Attention {
 public:
  Attention(tl::Context& tl, const tl::Args& args)
      : tl_(tl),
        args_(args),
        h_(args.params()),
        sight_{args.flag("causal"), args.integer("window")},
        qkv_(tl, args, "gqa_attention", "qkv"),
        o_(tl, args, "gqa_attention", "o") {}

  void run() {
    for (const Unit& u : units()) attend(u);
  }

 private:
  bool sees(const Queries& q, const KeyBlock& keys) const {
    return keys.first < sight_.end(q.first + q.rows - 1, h_.seq) && keys.end() > sight_.first_key(q.first);
  }

  /// The units of this PE: alternating early and late blocks from pairs of consecutive blocks.
  std::vector<Unit> units() const {
    const int64_t first_head = h_.first_head(tl_, "gqa_attention");
    const PlaceInRank me = place_in_rank(tl_);
    const int64_t most = args_.integer("rows"), step = args_.flag("shorter") ? block_rows(h_, most, me.pes) : most;
    const int64_t blocks = tl::Context::cdiv(h_.seq, step), count = h_.kv_of_part * blocks;
    const int64_t share = tl::Context::cdiv(count, me.pes), begin = me.pe * share;
    std::vector<Unit> all;
    for (int64_t u = begin; u < std::min(count, begin + share); ++u) {
      const int64_t turn = u % blocks, block = turn % 2 == 0 ? turn / 2 : blocks - 1 - turn / 2;
      const int64_t head = first_head + u / blocks, width = h_.group * h_.dim;
      const int64_t end = std::min(h_.seq, (block + 1) * step);
      if ((u - begin) % 2 == 0 || all.back().head != head) all.push_back({head, {}});
      for (int64_t first = block * step; first < end;) {  // as many as are contiguous
        const int64_t rows = std::min(
            {end - first, qkv_.rows_at(first, h_.q_col(head), width), o_.rows_at(first, h_.o_col(head), width)});
        all.back().queries.push_back({first, rows, {}, {}, {}, {}});
        first += rows;
      }
    }
    return all;
  }

  /// The keys that some queries see, backwards from the last queries' own. Other heads start elsewhere, because
  /// otherwise all PEs would access the same PE at once.
  std::vector<KeyBlock> key_blocks(const Unit& u) const {
    std::vector<KeyBlock> blocks;
    int64_t begin = h_.seq, end = 0, last = 0;
    for (const Queries& q : u.queries) {
      begin = std::min(begin, sight_.first_key(q.first));
      end = std::max(end, sight_.end(q.first + q.rows - 1, h_.seq));
      last = std::max(last, q.first);
    }
    for (int64_t j = begin; j < end;) {
      const int64_t together =
          std::min(qkv_.rows_at(j, h_.k_col(u.head), h_.dim), qkv_.rows_at(j, h_.v_col(u.head), h_.dim));
      const KeyBlock b{j, std::min({end - j, args_.integer("keys"), together}), {}, {}};
      if (std::any_of(u.queries.begin(), u.queries.end(), [&](const Queries& q) { return sees(q, b); }))
        blocks.push_back(b);
      j = b.end();
    }
    std::reverse(blocks.begin(), blocks.end());
    const auto own = std::find_if(blocks.begin(), blocks.end(), [&](const KeyBlock& b) { return b.first <= last; });
    std::rotate(blocks.begin(), own, blocks.end());
    const auto n = static_cast<int64_t>(blocks.size());
    std::rotate(blocks.begin(), blocks.begin() + u.head % h_.kv_of_part * n / h_.kv_of_part, blocks.end());
    return blocks;
  }

  void attend(Unit u) const {
    const int64_t width = h_.group * h_.dim;
    for (Queries& q : u.queries) {
      const tl::Tensor loaded =
          qkv_.load(q.first, h_.q_col(u.head), q.rows, width).reshape({q.rows * h_.group, h_.dim});
      q.q = tl_.mul(loaded, scale_of_scores(args_.params()));
    }
    std::vector<KeyBlock> blocks = key_blocks(u);
    const auto ask = [&](size_t b) {
      if (b >= blocks.size()) return;
      blocks[b].k = qkv_.load(blocks[b].first, h_.k_col(u.head), blocks[b].count, h_.dim);
      blocks[b].v = qkv_.load(blocks[b].first, h_.v_col(u.head), blocks[b].count, h_.dim);
    };
    ask(0);
    ask(1);
    for (size_t b = 0; b < blocks.size(); ++b) {
      ask(b + 2);
      for (Queries& q : u.queries) {
        if (sees(q, blocks[b])) meet(&q, blocks[b]);
      }
      blocks[b].k = blocks[b].v = {};
    }
    for (Queries& q : u.queries) {
      o_.store(q.first, h_.o_col(u.head),
               tl_.cast(q.acc / whole_sum(q, u.head), args_.dtype()).reshape({q.rows, width}));
    }
  }

  void meet(Queries* q, const KeyBlock& keys) const {
    const tl::Tensor s = masked(*q, keys, soft_capped(tl_, tl_.dot(q->q, keys.k.transpose()), args_.number("softcap")));
    const tl::Tensor part_top = tl_.max(s, 1, true);
    const tl::Tensor new_top = q->top.valid() ? tl_.maximum(q->top, part_top) : part_top;
    const tl::Tensor p = tl_.exp(s - new_top);
    const tl::Tensor part_sum = tl_.sum(p, 1, true);
    const tl::Tensor weights = tl_.cast(p, args_.dtype());
    if (q->top.valid()) {
      const tl::Tensor shrink = tl_.exp(q->top - new_top);
      q->sum = tl_.fma(q->sum, shrink, part_sum);
      q->acc = tl_.dot(weights, keys.v, q->acc * shrink);
    } else {
      q->sum = part_sum;
      q->acc = tl_.dot(weights, keys.v);
    }
    q->top = new_top;
  }

  /// Includes the sinks of the head's group.
  tl::Tensor whole_sum(const Queries& q, int64_t head) const {
    if (!args_.has("sink")) return q.sum;
    const Dims by_head{q.rows, h_.group, 1};
    return (q.sum.reshape(by_head) + sink_beside(tl_, args_, h_, head, q.top.reshape(by_head)))
        .reshape({q.rows * h_.group, 1});
  }

  /// Scores [rows · group, keys]. Scores of keys that a query does not see are so small that exp() of them is 0.
  tl::Tensor masked(const Queries& q, const KeyBlock& keys, const tl::Tensor& scores) const {
    const bool late = sight_.causal && keys.end() - 1 > q.first;
    const bool early = keys.first < sight_.first_key(q.first + q.rows - 1);
    if (!late && !early) return scores;
    const auto from_to = [&](int64_t first, int64_t count) {
      return tl_.arange(static_cast<double>(first), static_cast<double>(first + count));
    };
    const tl::Tensor row = from_to(q.first, q.rows).reshape({q.rows, 1, 1});
    const tl::Tensor col = from_to(keys.first, keys.count).reshape({1, 1, keys.count});
    tl::Tensor seen;
    if (late) seen = row >= col;
    if (early) {
      const tl::Tensor near = row - col < sight_.window;
      seen = late ? seen & near : near;
    }
    return tl_.where(seen, scores.reshape({q.rows, h_.group, keys.count}), kUnseen)
        .reshape({q.rows * h_.group, keys.count});
  }

  tl::Context& tl_;
  const tl::Args& args_;
  const Heads h_;
  const Sight sight_;
  const Shards qkv_, o_;
};

void gqa_attention(tl::Context& tl, const tl::Args& args) {
  Attention(tl, args).run();
}

constexpr int64_t kTurned = 1 << 17;  // elements per block of rope

/// For pairs a, b of each head at position s, which are halves or neighbours: a cos − b sin, b cos + a sin.
class Turn {
 public:
  Turn(tl::Context& tl, const Heads& h, const tl::Args& args)
      : tl_(tl),
        h_(h),
        half_(turned_of_head(args.params()) / 2),
        neighbours_(args.choice("pairing") == "neighbours"),
        cos_(args["cos"]),
        sin_(args["sin"]) {}

  /// `heads` heads from x's local column 0 on, in its rows [first, first + rows).
  void rows(const tl::View& x, const tl::View& y, int64_t heads, int64_t first, int64_t rows) const {
    const tl::Tensor cosines = table(cos_, x.offset[0] + first, rows), sines = table(sin_, x.offset[0] + first, rows);
    const tl::Tensor all =
        tl_.cast(tl_.load(x.block().tile(first, 0, rows, heads * h_.dim)), DType::f32).reshape({rows, heads, h_.dim});
    const int64_t rest = h_.dim - 2 * half_;
    tl::Tensor a = all.slice(2, 0, half_), b = all.slice(2, half_, half_);
    if (neighbours_) {
      const tl::Tensor in_pairs = rest == 0 ? all : tl_.copy(all.slice(2, 0, 2 * half_));
      const tl::Tensor pairs = in_pairs.reshape({rows, heads, half_, 2});
      a = tl_.copy(pairs.slice(3, 0, 1)).reshape({rows, heads, half_});
      b = tl_.copy(pairs.slice(3, 1, 1)).reshape({rows, heads, half_});
    }
    const tl::Tensor low = tl_.cast(a * cosines - b * sines, x.dtype());
    const tl::Tensor high = tl_.cast(b * cosines + a * sines, x.dtype());
    const auto store = [&](int64_t head, int64_t at, const tl::Tensor& t) {  // for all heads, each with that many
                                                                             // columns
      const int64_t columns = t.shape()[2];
      tl_.store_async(y.block().tile(first, head * h_.dim + at, rows, columns),
                      t.slice(1, head, 1).reshape({rows, columns}));
    };
    if (neighbours_ && rest == 0) {
      tl_.store_async(y.block().tile(first, 0, rows, heads * h_.dim),
                      tl_.interleave(low, high).reshape({rows, heads * h_.dim}));
      return;
    }
    const tl::Tensor pairs = neighbours_ ? tl_.interleave(low, high) : tl::Tensor();
    const tl::Tensor unturned =
        rest > 0 && x.ptr != y.ptr ? tl_.cast(all.slice(2, 2 * half_, rest), x.dtype()) : tl::Tensor();
    for (int64_t i = 0; i < heads; ++i) {
      if (neighbours_) {
        store(i, 0, pairs);
      } else {
        store(i, 0, low);
        store(i, half_, high);
      }
      if (unturned.valid()) store(i, 2 * half_, unturned);
    }
  }

 private:
  tl::Tensor table(const tl::View& t, int64_t row, int64_t rows) const {
    return tl_.cast(tl_.load(t.block().rows(row - t.offset[0], rows)), DType::f32).reshape({rows, 1, half_});
  }

  tl::Context& tl_;
  const Heads& h_;
  const int64_t half_;  ///< half of the rotated part of a head
  const bool neighbours_;
  const tl::View &cos_, &sin_;
};

void rope(tl::Context& tl, const tl::Args& args) {
  const Heads h(args.params());
  const tl::View &x = args["x"], &y = args["y"], &c = args["cos"], &s = args["sin"];
  if (x.empty()) return;
  if (x.shape != y.shape || x.offset != y.offset) throw KernelFault("rope: the PE's parts of x and y are not alike");
  const int64_t rows = x.shape[0], heads = h.heads_at(x, "rope"), turned = heads * h.dim;
  if (turned < x.shape[1] && x.ptr != y.ptr)  // v is unchanged
    tl.store_async(y.block().tile(0, turned, rows, x.shape[1] - turned),
                   tl.load(x.block().tile(0, turned, rows, x.shape[1] - turned)));
  if (turned == 0) return;
  if (c.offset[0] > x.offset[0] || c.offset[0] + c.shape[0] < x.offset[0] + rows || c.shape != s.shape)
    throw KernelFault("rope: the PE lacks rows of cos and sin");
  const Turn turn(tl, h, args);
  const int64_t step = std::max<int64_t>(1, kTurned / turned);
  for (int64_t first = 0; first < rows; first += step) turn.rows(x, y, heads, first, std::min(step, rows - first));
}

std::map<std::string, Expected> attention_reference(const Params& p, const TensorMap& in) {
  const Heads h(p);
  const Sight sight{p.flag("causal"), p.integer("window")};
  const Floats x = in.at("qkv").floats();
  const auto n = static_cast<size_t>(h.seq * h.heads * h.dim);
  Floats o(n), scale(n);
  std::vector<double> weight(static_cast<size_t>(h.seq));
  const double by = scale_of_scores(p);
  const auto at = [&](int64_t row, int64_t col) { return double{x[static_cast<size_t>(row * h.width() + col)]}; };
  for (int64_t head = 0; head < h.heads; ++head) {
    for (int64_t i = 0; i < h.seq; ++i) {
      const int64_t begin = sight.first_key(i), end = sight.end(i, h.seq);
      double top = -1e300, sum = 0;
      for (int64_t j = begin; j < end; ++j) {
        double score = 0;
        for (int64_t d = 0; d < h.dim; ++d) score += at(i, h.q_col_of(head) + d) * at(j, h.k_col(head / h.group) + d);
        weight[static_cast<size_t>(j)] = soft_capped(score * by, p.number("softcap"));
        top = std::max(top, weight[static_cast<size_t>(j)]);
      }
      for (int64_t j = begin; j < end; ++j)
        sum += weight[static_cast<size_t>(j)] = std::exp(weight[static_cast<size_t>(j)] - top);
      sum += sink_beside(in, head, top);
      for (int64_t d = 0; d < h.dim; ++d) {
        double v = 0, size = 0;
        for (int64_t j = begin; j < end; ++j) {
          const double part = weight[static_cast<size_t>(j)] / sum * at(j, h.v_col(head / h.group) + d);
          v += part;
          size += std::abs(part);
        }
        const auto place = static_cast<size_t>((i * h.heads + head) * h.dim + d);
        o[place] = static_cast<float>(v);
        scale[place] = static_cast<float>(size);
      }
    }
  }
  return {{"o", {HostTensor::from(p.dtype(), {h.seq, h.heads * h.dim}, o), scale}}};
}

std::map<std::string, Expected> rope_reference(const Params& p, const TensorMap& in) {
  const Heads h(p);
  Floats x = in.at("x").floats();
  const Floats c = in.at("cos").floats(), s = in.at("sin").floats();
  const int64_t half = turned_of_head(p) / 2;
  const bool neighbours = p.choice("pairing") == "neighbours";
  Floats scale(x.size(), 0);
  for (int64_t row = 0; row < h.seq; ++row) {
    for (int64_t head = 0; head < h.heads + h.kv; ++head) {
      const int64_t col = head < h.heads ? h.q_col_of(head) : h.k_col(head - h.heads);
      for (int64_t d = 0; d < half; ++d) {
        const auto i = static_cast<size_t>(row * h.width() + col + (neighbours ? 2 * d : d));
        const auto j = i + static_cast<size_t>(neighbours ? 1 : half);
        const auto t = static_cast<size_t>(row * half + d);
        const float a = x[i], b = x[j];
        x[i] = a * c[t] - b * s[t];
        x[j] = b * c[t] + a * s[t];
        scale[i] = scale[j] = std::abs(a) + std::abs(b);
      }
    }
  }
  return {{"y", {HostTensor::from(p.dtype(), in.at("x").shape, x), scale}}};
}

/// The parameters of heads, then these, then dtype.
std::vector<ParamSpec> params_of(std::vector<ParamSpec> own) {
  std::vector<ParamSpec> params = head_params();
  params.push_back(ParamSpec::size("seq", 128, "rows"));
  params.insert(params.end(), own.begin(), own.end());
  params.push_back(ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16}));
  return params;
}

TensorSpec qkv_spec(const char* name, TensorSpec::Role role) {
  TensorSpec t = input(name, {}, Placement::rows);
  t.role = role;
  t.shape = [](const Params& p) { return Dims{p.integer("seq"), Heads(p).width()}; };
  return t;
}

KernelSpec attention_spec() {
  KernelSpec s;
  s.name = "gqa_attention";
  s.help = "o = softmax(q k^T / sqrt(dim)) v with grouped heads (GQA); q, k and v are side by side in qkv";
  s.params = params_of(
      {ParamSpec::size("rows", 64, "queries of a block"),
       ParamSpec::flag("shorter", false, "load balance: blocks so short that each PE has an early and a late one"),
       ParamSpec::size("keys", 64, "maximum keys of a block").tuning(),
       ParamSpec::flag("causal", true, "causal mask: a query sees no later keys"), window_param(), score_scale_param(),
       softcap_param("scores")});
  TensorSpec o = output("o", {}, Placement::rows);
  o.shape = [](const Params& p) { return Dims{p.integer("seq"), p.integer("heads") * p.integer("dim")}; };
  s.tensors = {qkv_spec("qkv", TensorSpec::Role::in), sink_spec(), o};
  s.tensors[0].placement = s.tensors[2].placement = Placement::single;
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    check_heads(*p);
    check_parts(*p);
    if (p->integer("window") > 0 && !p->flag("causal")) throw BadParam("window: of causal attention only");
  };
  s.function = gqa_attention;
  s.reference = attention_reference;
  return s;
}

KernelSpec rope_spec() {
  KernelSpec s;
  s.name = "rope";
  s.help = "y = x with rotary embedding (RoPE) of q and k: pairs a, b -> a cos - b sin, b cos + a sin";
  s.params = params_of(
      {ParamSpec::choice("pairing", {"halves", "neighbours"}, "pairing of the elements of a head"), rotary_param()});
  const auto half = [](const Params& p) { return Dims{p.integer("seq"), turned_of_head(p) / 2}; };
  s.tensors = {qkv_spec("x", TensorSpec::Role::in), input("cos", {}, Placement::rows),
               input("sin", {}, Placement::rows), qkv_spec("y", TensorSpec::Role::out)};
  s.tensors[1].shape = s.tensors[2].shape = half;
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    check_heads(*p);
    check_rotary(*p);
    if (p->integer("rotary") == 0 && p->integer("dim") % 2 != 0)
      throw BadParam("dim: found " + std::to_string(p->integer("dim")) + ", expected an even number");
  };
  s.function = rope;
  s.reference = rope_reference;
  return s;
}

const RegisterKernel attention_registered{attention_spec()}, rope_registered{rope_spec()};

}  // namespace
}  // namespace kernbench::kernels::gqa_attention_kernel
