#include "kernbench/platform/models/decoder_layer.h"

#include <algorithm>

namespace kernbench::models {

using host::Layout;
using host::LayoutLevel;
using host::Tensor;

namespace {

/// In TCM a tile of x, one of w and one of y, twice: well below what a PE reserves for tiles.
constexpr int64_t kTileRows = 64, kTileColumns = 128, kTileDepthBytes = 1024;

Layout rows_of_rank(LayoutLevel rank) {
  return host::rows_of_pes().over_ranks(rank);
}
Layout columns_of_pes(LayoutLevel rank) {
  return Layout(rank).cube(host::shard(1)).pe(host::shard(1));
}

}  // namespace

Layout Way::weights(LayoutLevel rank) const {
  return prefill ? host::grid_of_columns(rank) : columns_of_pes(rank);
}

Layout Way::operand(LayoutLevel rank) const {
  return prefill ? host::grid_of_rows(rank) : Layout(rank);
}

Layout Way::product(LayoutLevel rank) const {
  return prefill ? host::grid_of_rows(rank) : columns_of_pes(rank);
}

Layout Way::heads(LayoutLevel rank) const {
  return prefill ? host::grid_of_rows(rank) : rows_of_rank(rank);
}

Layout Way::positions() const {
  // Of each row of cubes the rows of q and k that its PEs turn: a copy in each column of cubes.
  return prefill ? Layout().cube(host::grid(host::shard(0), host::replicate())).pe(host::shard(0))
                 : host::rows_of_pes();
}

DecoderLayer::DecoderLayer(host::Context& h, const LayerSizes& s, const Way& way, std::function<void(const char*)> part)
    : h_(h), s_(s), way_(way), shared_(s.ranks > 1 ? host::shard(1) : host::replicate()), part_(std::move(part)) {}

Tensor DecoderLayer::made(int64_t columns, const Layout& layout, const char* name) {
  return h_.tensor(h_.dtype(), {s_.rows, columns}, layout, name);
}

host::KernelParams DecoderLayer::heads() const {
  return {{"heads", s_.heads}, {"kv_heads", s_.kv_heads}, {"dim", s_.head_dim}, {"parts", s_.ranks}};
}

void DecoderLayer::elementwise(const char* op, const Tensor& x, const Tensor& y, const Tensor& z) {
  h_.launch(h_.ranks(), "elementwise", {{"op", op}}, {{"x", x}, {"y", y}, {"z", z}});
}

Tensor DecoderLayer::normed(const Tensor& x, const Tensor& w) {
  const Tensor y = h_.tensor(x.dtype(), x.shape(), x.layout(), "normed");
  h_.launch(h_.ranks(), "rmsnorm", {{"eps", s_.eps}}, {{"x", x}, {"w", w}, {"y", y}});
  return y;
}

/// A decode's rows are few and short, and many PEs want them: what goes from cube to cube goes once a cube, in columns
/// over its PEs, and from there to who wants it in the cube. What ranks have parts of is summed up before.
Tensor DecoderLayer::moved(const Tensor& x, const Layout& to) {
  if (way_.prefill || x.layout() == to) return h_.redistribute(x, to);
  const Tensor sum = x.layout().partial() ? h_.redistribute(x, x.layout().over_ranks(to.rank())) : x;
  return h_.redistribute(h_.redistribute(sum, Layout(to.rank()).pe(host::shard(1))), to);
}

void DecoderLayer::multiply(const Tensor& x, const Tensor& w, const Tensor& c, const char* activation) {
  const Tensor a = moved(x, way_.operand(x.layout().rank()));
  if (way_.prefill) {
    h_.launch(h_.ranks(), "gemm_2d", {{"activation", activation}}, {{"a", a}, {"b", w}, {"c", c}});
    return;
  }
  const int64_t columns = std::max<int64_t>(1, c.places()->plan().shards.front().extent[1]);
  h_.launch(h_.ranks(), "tp_linear",
            {{"activation", activation},
             {"tile_m", std::min(x.shape()[0], kTileRows)},
             {"tile_n", std::min(columns, kTileColumns)},
             {"tile_k", std::min(w.shape()[0], kTileDepthBytes / static_cast<int64_t>(size_of(x.dtype())))}},
            {{"x", a}, {"w", w}, {"y", c}});
}

Tensor DecoderLayer::product(const Tensor& x, const Tensor& w, const Layout& to, LayoutLevel rank,
                             const char* activation) {
  const Layout made_in = way_.prefill ? to.over_ranks(rank) : way_.product(rank);
  const Tensor c = h_.tensor(x.dtype(), {x.shape()[0], w.shape()[1]}, made_in, w.name() + "_product");
  multiply(x, w, c, activation);
  return c;
}

Tensor DecoderLayer::by_columns(const Tensor& x, const Tensor& w, const Layout& to, const char* activation) {
  const Tensor c = product(x, w, to, shared_, activation);
  return moved(c, to.over_ranks(shared_));
}

Tensor DecoderLayer::by_rows(const Tensor& x, const Tensor& w, const Layout& to) {
  const LayoutLevel sum = s_.ranks > 1 ? host::rank_partial().rank() : host::replicate();
  const Tensor c = product(x, w, to, sum, "none");
  if (s_.ranks > 1) part("all_reduce");
  return moved(c, to);
}

bool DecoderLayer::splits_heads(const Layout& layout) const {
  const ShardPlan plan =
      host::plan_shards(layout, h_.dtype(), {s_.rows, s_.qkv_width()}, h_.pes().place, h_.pes().grids);
  return std::any_of(plan.shards.begin(), plan.shards.end(), [&](const Shard& s) {
    return !s.empty() && (s.offset[1] % s_.head_dim != 0 || s.extent[1] % s_.head_dim != 0);
  });
}

void DecoderLayer::turned(const Tensor& qkv, const Tensor& cos, const Tensor& sin) {
  host::KernelParams params = heads();
  params.emplace_back("seq", s_.rows);
  const bool by_rows = way_.prefill && !(qkv.layout() == way_.heads(shared_));
  const Layout to = by_rows ? host::rows_of_pes() : cos.layout();
  h_.launch(h_.ranks(), "rope", params,
            {{"x", qkv}, {"cos", h_.redistribute(cos, to)}, {"sin", h_.redistribute(sin, to)}, {"y", qkv}});
}

void DecoderLayer::layer(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos, const Tensor& sin,
                         const Attention& attention) {
  const host::Scope temporaries(h_);  // their memory goes back when the layer is enqueued and done
  part("qkv");
  const Layout heads_lie = splits_heads(way_.heads(shared_)) ? host::rows_of_pes() : way_.heads();
  const Tensor product =
      made(s_.qkv_width(), way_.prefill ? heads_lie.over_ranks(shared_) : way_.product(shared_), "qkv");
  const Tensor o = made(s_.width(), way_.heads(shared_), "o");
  multiply(normed(x, w.norm1), w.qkv, product);
  const Tensor qkv = moved(product, heads_lie.over_ranks(shared_));
  if (w.bias.places()) h_.launch(h_.ranks(), "add_bias", {}, {{"x", qkv}, {"b", w.bias}});
  part("attention");
  if (w.q_norm.places()) {
    host::KernelParams params = heads();
    params.emplace_back("seq", s_.rows);
    params.emplace_back("eps", s_.eps);
    h_.launch(h_.ranks(), "head_norm", params, {{"x", qkv}, {"q_norm", w.q_norm}, {"k_norm", w.k_norm}});
  }
  turned(qkv, cos, sin);
  attention(qkv, o);
  part("output");
  const Tensor projected = by_rows(o, w.o, x.layout());
  const Tensor x1 = made(s_.dim, x.layout(), "x1");
  part("output");
  elementwise("add", x, projected, x1);

  part("mlp");
  const Tensor n = moved(normed(x1, w.norm2), way_.operand());
  const Tensor gate = by_columns(n, w.gate, way_.product(), s_.activation.c_str());
  const Tensor up = by_columns(n, w.up, way_.product());
  elementwise("mul", gate, up, gate);
  const Tensor down = by_rows(gate, w.down, x.layout());
  part("mlp");
  elementwise("add", x1, down, y);
}

void DecoderLayer::prefill(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos,
                           const Tensor& sin) {
  layer(x, y, w, cos, sin, [&](const Tensor& qkv, const Tensor& o) {
    host::KernelParams params = heads();
    params.emplace_back("seq", s_.rows);
    params.emplace_back("window", s_.window);
    h_.launch(h_.ranks(), "gqa_attention", params, {{"qkv", qkv}, {"o", o}});
  });
}

void DecoderLayer::decode(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos, const Tensor& sin,
                          const Cache& cache) {
  layer(x, y, w, cos, sin, [&](const Tensor& qkv, const Tensor& o) {
    host::KernelParams params = heads();
    params.emplace_back("batch", s_.rows);
    params.emplace_back("splits", cache.splits);
    params.emplace_back("dtype", h_.dtype());
    const int64_t units = cache.k.shape()[0], group = s_.heads / s_.kv_heads;
    const Layout by_unit = host::rows_of_pes().over_ranks(s_.ranks > 1 ? host::shard(0) : host::replicate());
    const Tensor ranges = h_.tensor(DType::f32, {units, group * (s_.head_dim + 2)}, by_unit, "part");
    host::KernelParams of_cache = params;
    of_cache.emplace_back("keys", cache.k.shape()[1]);
    of_cache.emplace_back("context", cache.context);
    of_cache.emplace_back("window", s_.window);
    h_.launch(h_.ranks(), "flash_decode", of_cache, {{"qkv", qkv}, {"k", cache.k}, {"v", cache.v}, {"part", ranges}});
    h_.launch(h_.ranks(), "flash_combine", params, {{"part", ranges}, {"o", o}});
  });
}

}  // namespace kernbench::models
