// Attention with grouped heads: o = softmax(q kᵀ / √dim) v, each head of k and v for `heads / kv_heads` heads of q,
// which stand side by side in the columns of one tensor, as a linear layer leaves them: q, then k, then v. qkv and o
// lie as they like, as long as no block of rows and no group of heads is split. PEs share out (head of k, block of
// queries), early and late blocks of queries by turns, since late ones see more keys. And rope: q and k turned by
// position, which may be done in place: y may be x.
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels {
namespace {

constexpr double kUnseen = -1e30;  // a score that exp() makes 0

/// Blocks of a tensor, in whichever shard of the rank they lie.
class Shards {
 public:
  Shards(tl::Context& tl, const tl::Args& args, const std::string& name) : name_(name) {
    for (uint32_t p = 0; p < args.shards(); ++p) {
      const tl::View& v = args.shard(name, p);
      if (tl.launch().pes[p].rank == tl.rank() && !v.empty()) shards_.push_back(&v);
    }
  }
  tl::Block block(int64_t row, int64_t col, int64_t rows, int64_t cols) const {
    return of(row, col, rows, cols).block().tile(row - last_->offset[0], col - last_->offset[1], rows, cols);
  }
  /// Rows from `row` on that lie in one shard with these columns.
  int64_t rows_at(int64_t row, int64_t col, int64_t cols) const {
    const tl::View& v = of(row, col, 1, cols);
    return v.offset[0] + v.shape[0] - row;
  }

 private:
  const tl::View& of(int64_t row, int64_t col, int64_t rows, int64_t cols) const {
    const auto has = [&](const tl::View* v) {
      return v != nullptr && v->offset[0] <= row && row + rows <= v->offset[0] + v->shape[0] && v->offset[1] <= col &&
             col + cols <= v->offset[1] + v->shape[1];
    };
    if (!has(last_)) {
      const auto at = std::find_if(shards_.begin(), shards_.end(), has);
      if (at == shards_.end())
        throw KernelFault("gqa_attention: no PE has rows " + std::to_string(row) + " to " +
                          std::to_string(row + rows - 1) + ", columns " + std::to_string(col) + " to " +
                          std::to_string(col + cols - 1) + " of " + name_ + " together");
      last_ = *at;
    }
    return *last_;
  }
  std::string name_;
  std::vector<const tl::View*> shards_;
  mutable const tl::View* last_ = nullptr;
};

struct Heads {
  int64_t heads, kv, dim, seq, group;
  explicit Heads(const Params& p)
      : heads(p.integer("heads")),
        kv(p.integer("kv_heads")),
        dim(p.integer("dim")),
        seq(p.integer("seq")),
        group(heads / kv) {}
  int64_t q_col(int64_t kv_head) const { return kv_head * group * dim; }
  int64_t k_col(int64_t kv_head) const { return (heads + kv_head) * dim; }
  int64_t v_col(int64_t kv_head) const { return (heads + kv + kv_head) * dim; }
  int64_t width() const { return (heads + 2 * kv) * dim; }
};

/// One block of queries of all heads of a group: rows of [rows · group, dim].
void attend(tl::Context& tl, const Heads& h, const Shards& qkv, const Shards& o, int64_t head, int64_t first,
            int64_t rows, bool causal, DType dtype) {
  const int64_t all = rows * h.group;
  const tl::Tensor loaded = tl.load(qkv.block(first, h.q_col(head), rows, h.group * h.dim)).reshape({all, h.dim});
  const tl::Tensor q = tl.mul(loaded, 1 / std::sqrt(static_cast<double>(h.dim)));
  tl::Tensor top, sum, acc;
  const int64_t end = causal ? first + rows : h.seq;
  struct KeyBlock {
    int64_t first, count;
    tl::Loaded k, v;
  };
  std::vector<KeyBlock> blocks;
  for (int64_t j = 0; j < end;) {
    const int64_t count = std::min({end - j, int64_t{64}, qkv.rows_at(j, h.k_col(head), h.dim)});
    blocks.push_back({j, count, {}, {}});
    j += count;
  }
  const auto ask = [&](size_t b) {
    if (b >= blocks.size()) return;
    blocks[b].k = tl.load_async(qkv.block(blocks[b].first, h.k_col(head), blocks[b].count, h.dim));
    blocks[b].v = tl.load_async(qkv.block(blocks[b].first, h.v_col(head), blocks[b].count, h.dim));
  };
  ask(0);
  ask(1);
  for (size_t b = 0; b < blocks.size(); ++b) {
    ask(b + 2);
    KeyBlock& keys = blocks[b];
    tl::Tensor s = tl.dot(q, keys.k.transpose());
    if (causal && keys.first + keys.count - 1 > first) {
      const tl::Tensor row = tl.arange(static_cast<double>(first), static_cast<double>(first + rows));
      const tl::Tensor col = tl.arange(static_cast<double>(keys.first), static_cast<double>(keys.first + keys.count));
      const tl::Tensor seen = row.reshape({rows, 1, 1}) >= col.reshape({1, 1, keys.count});
      s = tl.where(seen, s.reshape({rows, h.group, keys.count}), kUnseen).reshape({all, keys.count});
    }
    const tl::Tensor part_top = tl.max(s, 1, true);
    const tl::Tensor new_top = top.valid() ? tl.maximum(top, part_top) : part_top;
    const tl::Tensor p = tl.exp(s - new_top);
    const tl::Tensor part_sum = tl.sum(p, 1, true);
    const tl::Tensor part = tl.dot(tl.cast(p, dtype), keys.v);
    if (top.valid()) {
      const tl::Tensor shrink = tl.exp(top - new_top);
      sum = tl.fma(sum, shrink, part_sum);
      acc = tl.fma(acc, shrink, part);
    } else {
      sum = part_sum;
      acc = part;
    }
    top = new_top;
    keys.k = keys.v = {};
  }
  tl.store_async(o.block(first, h.q_col(head), rows, h.group * h.dim),
                 tl.cast(acc / sum, dtype).reshape({rows, h.group * h.dim}));
}

void gqa_attention(tl::Context& tl, const tl::Args& args) {
  const Heads h(args.params());
  const Shards qkv(tl, args, "qkv"), o(tl, args, "o");
  const int64_t step = args.integer("rows"), blocks = tl::Context::cdiv(h.seq, step);
  const int64_t per_rank = tl.size() / tl.world_size(), me = tl.index() % per_rank, units = h.kv * blocks;
  const int64_t share = tl::Context::cdiv(units, per_rank);
  for (int64_t u = me * share; u < std::min(units, (me + 1) * share); ++u) {
    const int64_t turn = u % blocks, block = turn % 2 == 0 ? turn / 2 : blocks - 1 - turn / 2;
    const int64_t head = u / blocks, col = h.q_col(head), width = h.group * h.dim;
    const int64_t end = std::min(h.seq, (block + 1) * step);
    for (int64_t first = block * step; first < end;) {  // as many as lie together
      const int64_t rows = std::min({end - first, qkv.rows_at(first, col, width), o.rows_at(first, col, width)});
      attend(tl, h, qkv, o, head, first, rows, args.flag("causal"), args.dtype());
      first += rows;
    }
  }
}

/// Halves of each head, a and b, at position s: a cos − b sin, b cos + a sin.
void rope(tl::Context& tl, const tl::Args& args) {
  const Heads h(args.params());
  const tl::View &x = args["x"], &y = args["y"], &c = args["cos"], &s = args["sin"];
  if (x.empty()) return;
  if (x.shape != y.shape || x.offset != y.offset) throw KernelFault("rope: the PE's parts of x and y are not alike");
  const int64_t rows = x.shape[0], half = h.dim / 2;
  const int64_t end = std::min(x.offset[1] + x.shape[1], (h.heads + h.kv) * h.dim);
  const int64_t turned = std::max<int64_t>(0, end - x.offset[1]);
  if (turned < x.shape[1] && x.ptr != y.ptr)  // v stays as it is
    tl.store_async(y.block().tile(0, turned, rows, x.shape[1] - turned),
                   tl.load(x.block().tile(0, turned, rows, x.shape[1] - turned)));
  if (turned == 0) return;
  if (x.offset[1] % h.dim != 0 || (end - x.offset[1]) % h.dim != 0) throw KernelFault("rope: a head is split");
  if (c.offset[0] > x.offset[0] || c.offset[0] + c.shape[0] < x.offset[0] + rows || c.shape != s.shape)
    throw KernelFault("rope: the PE lacks rows of cos and sin");
  const int64_t heads = (end - x.offset[1]) / h.dim;
  const auto table = [&](const tl::View& t) {
    return tl.cast(tl.load(t.block().rows(x.offset[0] - t.offset[0], rows)), DType::f32).reshape({rows, 1, half});
  };
  const tl::Tensor cosines = table(c), sines = table(s);
  const tl::Tensor all =
      tl.cast(tl.load(x.block().tile(0, 0, rows, heads * h.dim)), DType::f32).reshape({rows, heads, h.dim});
  const tl::Tensor a = all.slice(2, 0, half), b = all.slice(2, half, half);
  const tl::Tensor low = tl.cast(a * cosines - b * sines, x.dtype());
  const tl::Tensor high = tl.cast(b * cosines + a * sines, x.dtype());
  for (int64_t i = 0; i < heads; ++i) {
    tl.store_async(y.block().tile(0, i * h.dim, rows, half), low.slice(1, i, 1).reshape({rows, half}));
    tl.store_async(y.block().tile(0, i * h.dim + half, rows, half), high.slice(1, i, 1).reshape({rows, half}));
  }
}

std::map<std::string, Expected> attention_reference(const Params& p, const TensorMap& in) {
  const Heads h(p);
  const Floats x = in.at("qkv").floats();
  const auto n = static_cast<size_t>(h.seq * h.heads * h.dim);
  Floats o(n), scale(n);
  std::vector<double> weight(static_cast<size_t>(h.seq));
  const auto at = [&](int64_t row, int64_t col) { return double{x[static_cast<size_t>(row * h.width() + col)]}; };
  for (int64_t head = 0; head < h.heads; ++head) {
    for (int64_t i = 0; i < h.seq; ++i) {
      const int64_t end = p.flag("causal") ? i + 1 : h.seq;
      double top = -1e300, sum = 0;
      for (int64_t j = 0; j < end; ++j) {
        double score = 0;
        for (int64_t d = 0; d < h.dim; ++d) score += at(i, head * h.dim + d) * at(j, h.k_col(head / h.group) + d);
        weight[static_cast<size_t>(j)] = score / std::sqrt(static_cast<double>(h.dim));
        top = std::max(top, weight[static_cast<size_t>(j)]);
      }
      for (int64_t j = 0; j < end; ++j)
        sum += weight[static_cast<size_t>(j)] = std::exp(weight[static_cast<size_t>(j)] - top);
      for (int64_t d = 0; d < h.dim; ++d) {
        double v = 0, size = 0;
        for (int64_t j = 0; j < end; ++j) {
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
  const int64_t half = h.dim / 2;
  Floats scale(x.size(), 0);
  for (int64_t row = 0; row < h.seq; ++row) {
    for (int64_t col = 0; col < (h.heads + h.kv) * h.dim; col += h.dim) {
      for (int64_t d = 0; d < half; ++d) {
        const auto i = static_cast<size_t>(row * h.width() + col + d), j = i + static_cast<size_t>(half);
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

std::vector<ParamSpec> head_params() {
  std::vector<ParamSpec> params = {
      ParamSpec::size("heads", 4, "heads of q"), ParamSpec::size("kv_heads", 2, "heads of k and of v; divides heads"),
      ParamSpec::size("dim", 32, "elements of a head"), ParamSpec::size("seq", 128, "rows"),
      ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  params[2].max = 512;
  return params;
}

void check_heads(const Params& p) {
  if (p.integer("heads") % p.integer("kv_heads") != 0)
    throw BadParam("kv_heads: found " + std::to_string(p.integer("kv_heads")) + ", expected a divisor of heads, " +
                   std::to_string(p.integer("heads")));
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
  s.help = "o = softmax(q k^T / sqrt(dim)) v, several heads of q for one of k and v, side by side in qkv";
  s.params = head_params();
  s.params.insert(s.params.end() - 1, {ParamSpec::size("rows", 64, "queries of a block"),
                                       ParamSpec::flag("causal", true, "a query sees no later keys")});
  TensorSpec o = output("o", {}, Placement::rows);
  o.shape = [](const Params& p) { return Dims{p.integer("seq"), p.integer("heads") * p.integer("dim")}; };
  s.tensors = {qkv_spec("qkv", TensorSpec::Role::in), o};
  s.tensors[0].placement = s.tensors[1].placement = Placement::single;
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) { check_heads(*p); };
  s.function = gqa_attention;
  s.reference = attention_reference;
  return s;
}

KernelSpec rope_spec() {
  KernelSpec s;
  s.name = "rope";
  s.help = "y = x with heads of q and k turned by their position: halves a, b -> a cos - b sin, b cos + a sin";
  s.params = head_params();
  const auto half = [](const Params& p) { return Dims{p.integer("seq"), p.integer("dim") / 2}; };
  s.tensors = {qkv_spec("x", TensorSpec::Role::in), input("cos", {}, Placement::rows),
               input("sin", {}, Placement::rows), qkv_spec("y", TensorSpec::Role::out)};
  s.tensors[1].shape = s.tensors[2].shape = half;
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    check_heads(*p);
    if (p->integer("dim") % 2 != 0)
      throw BadParam("dim: found " + std::to_string(p->integer("dim")) + ", expected an even number");
  };
  s.function = rope;
  s.reference = rope_reference;
  return s;
}

const RegisterKernel attention_registered{attention_spec()}, rope_registered{rope_spec()};

}  // namespace
}  // namespace kernbench::kernels
