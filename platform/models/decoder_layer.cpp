#include "kernbench/platform/models/decoder_layer.h"

#include <algorithm>

namespace kernbench::models {

using host::Layout;
using host::LayoutLevel;
using host::Tensor;

namespace {

/// As decode_linear has rows: their columns over the cubes, they themselves over the PEs of each.
Layout lanes(LayoutLevel rank) {
  return Layout(rank).cube(host::shard(1)).pe(host::shard(0));
}

}  // namespace

Layout Way::weights(LayoutLevel rank) const {
  return (prefill ? host::grid_of_columns(rank) : lanes(rank)).on(ranks);
}

Layout Way::operand(LayoutLevel rank) const {
  return (prefill ? host::grid_of_rows(rank) : lanes(rank)).on(ranks);
}

Layout Way::positions() const {
  // Of each row of cubes the rows of q and k that its PEs turn: a copy in each column of cubes. In a decode any PE may
  // have any sequence's keys.
  const Layout all =
      prefill ? Layout().cube(host::grid(host::shard(0), host::replicate())).pe(host::shard(0)) : Layout();
  return all.on(ranks);
}

host::On Way::on(const host::Context& h) const {
  if (ranks.empty()) return h.ranks();
  std::vector<host::Stream> streams;
  for (const uint32_t r : ranks) streams.push_back({r, 0});
  return streams;
}

DecoderLayer::DecoderLayer(host::Context& h, const LayerSizes& s, const Way& way, std::function<void(const char*)> part)
    : h_(h),
      s_(s),
      way_(way),
      on_(way.on(h)),
      shared_(s.ranks > 1 ? host::shard(1) : host::replicate()),
      part_(std::move(part)) {}

Tensor DecoderLayer::made(int64_t columns, const Layout& layout, const std::string& name) {
  return h_.tensor(h_.dtype(), {s_.rows, columns}, layout, name);
}

host::KernelParams DecoderLayer::heads() const {
  return {{"heads", s_.heads}, {"kv_heads", s_.kv_heads}, {"dim", s_.head_dim}, {"parts", s_.ranks}};
}

void DecoderLayer::elementwise(const char* op, const Tensor& x, const Tensor& y, const Tensor& z) {
  h_.launch(on_, "elementwise", {{"op", op}}, {{"x", x}, {"y", y}, {"z", z}});
}

Tensor DecoderLayer::normed(const Tensor& x, const Tensor& w) {
  const Tensor y = h_.tensor(x.dtype(), x.shape(), x.layout(), "normed");
  h_.launch(on_, "rmsnorm", {{"eps", s_.eps}}, {{"x", x}, {"w", w}, {"y", y}});
  return y;
}

void DecoderLayer::multiply(const Tensor& x, const Tensor& w, const Tensor& c, const char* activation) {
  const Tensor a = h_.redistribute(x, way_.operand(x.layout().rank()));
  h_.launch(on_, "gemm_2d", {{"activation", activation}}, {{"a", a}, {"b", w}, {"c", c}});
}

Tensor DecoderLayer::by_columns(const Tensor& x, const Tensor& w, const char* activation) {
  const Tensor c = made(w.shape()[1], way_.operand(shared_), w.name() + "_product");
  multiply(x, w, c, activation);
  return c;
}

Tensor DecoderLayer::by_rows(const Tensor& x, const Tensor& w, const Layout& to) {
  const Layout made_in = to.over_ranks(s_.ranks > 1 ? host::rank_partial().rank() : host::replicate());
  const Tensor c = made(w.shape()[1], made_in, w.name() + "_product");
  multiply(x, w, c);
  if (s_.ranks > 1) part("all_reduce");
  return h_.redistribute(c, to);
}

bool DecoderLayer::splits_heads(const Layout& layout) const {
  const ShardPlan plan =
      host::plan_shards(layout, h_.dtype(), {s_.rows, s_.qkv_width()}, h_.pes().place, h_.pes().grids);
  return std::any_of(plan.shards.begin(), plan.shards.end(), [&](const Shard& s) {
    return !s.empty() && (s.offset[1] % s_.head_dim != 0 || s.extent[1] % s_.head_dim != 0);
  });
}

void DecoderLayer::head_norm(const Tensor& qkv, const LayerWeights& w) {
  if (!w.q_norm.places()) return;
  host::KernelParams params = heads();
  params.emplace_back("seq", s_.rows);
  params.emplace_back("eps", s_.eps);
  h_.launch(on_, "head_norm", params, {{"x", qkv}, {"q_norm", w.q_norm}, {"k_norm", w.k_norm}});
}

void DecoderLayer::turned(const Tensor& qkv, const Tensor& cos, const Tensor& sin) {
  host::KernelParams params = heads();
  params.emplace_back("seq", s_.rows);
  const Layout to = qkv.layout() == way_.operand(shared_) ? cos.layout() : way_.rows();
  h_.launch(on_, "rope", params,
            {{"x", qkv}, {"cos", h_.redistribute(cos, to)}, {"sin", h_.redistribute(sin, to)}, {"y", qkv}});
}

void DecoderLayer::prefill(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos,
                           const Tensor& sin) {
  const host::Scope temporaries(h_);  // their memory goes back when the layer is enqueued and done
  part("qkv");
  const Layout heads_lie = splits_heads(way_.operand(shared_)) ? way_.rows() : way_.operand();
  const Tensor qkv = made(s_.qkv_width(), heads_lie.over_ranks(shared_), "qkv");
  const Tensor o = made(s_.width(), way_.operand(shared_), "o");
  multiply(normed(x, w.norm1), w.qkv, qkv);
  if (w.bias.places()) h_.launch(on_, "add_bias", {}, {{"x", qkv}, {"b", w.bias}});
  part("attention");
  head_norm(qkv, w);
  turned(qkv, cos, sin);
  host::KernelParams params = heads();
  params.emplace_back("seq", s_.rows);
  params.emplace_back("window", s_.window);
  h_.launch(on_, "gqa_attention", params, {{"qkv", qkv}, {"o", o}});
  part("output");
  const Tensor projected = by_rows(o, w.o, x.layout());
  const Tensor x1 = made(s_.dim, x.layout(), "x1");
  part("output");
  elementwise("add", x, projected, x1);

  part("mlp");
  const Tensor n = h_.redistribute(normed(x1, w.norm2), way_.operand());
  const bool fused = s_.activation != "gelu_tanh";  // gemm_2d has the activations that are one op
  const Tensor gate = by_columns(n, w.gate, fused ? s_.activation.c_str() : "none");
  const Tensor up = by_columns(n, w.up);
  if (fused)
    elementwise("mul", gate, up, gate);
  else
    h_.launch(on_, "glu", {{"activation", s_.activation}}, {{"x", gate}, {"y", up}, {"z", gate}});
  const Tensor down = by_rows(gate, w.down, x.layout());
  part("mlp");
  elementwise("add", x1, down, y);
}

void DecoderLayer::decode(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos, const Tensor& sin,
                          const Cache& cache) {
  const host::Scope temporaries(h_);
  part("qkv");
  const Tensor product = made(s_.qkv_width(), way_.operand(shared_), "qkv");
  Tensors of_qkv = {{"x", x}, {"w", w.qkv}, {"norm", w.norm1}, {"y", product}};
  if (w.bias.places()) of_qkv["bias"] = w.bias;
  linear(of_qkv);
  part("attention");
  // Heads are normed where they are whole.
  const Tensor qkv = w.q_norm.places() ? h_.redistribute(product, way_.rows(shared_)) : product;
  head_norm(qkv, w);
  const Tensor o = made(s_.width(), way_.operand(shared_), "o");
  attend_to_cache(qkv, o, cos, sin, cache);
  part("output");
  const Tensor x1 = made(s_.dim, way_.stream(), "x1");
  linear({{"x", o}, {"w", w.o}, {"residual", x}, {"y", x1}});
  part("mlp");
  const Tensor hidden = made(s_.hidden, way_.operand(shared_), "hidden");
  linear({{"x", x1}, {"w", w.gate}, {"up", w.up}, {"norm", w.norm2}, {"y", hidden}}, s_.activation.c_str());
  linear({{"x", hidden}, {"w", w.down}, {"residual", x1}, {"y", y}});
}

void DecoderLayer::linear(const Tensors& tensors, const char* activation) {
  h_.launch(on_, "decode_linear", {{"activation", activation}, {"eps", s_.eps}}, tensors);
}

void DecoderLayer::attend_to_cache(const Tensor& qkv, const Tensor& o, const Tensor& cos, const Tensor& sin,
                                   const Cache& cache) {
  host::KernelParams params = heads();
  params.emplace_back("batch", s_.rows);
  params.emplace_back("splits", cache.splits);
  params.emplace_back("dtype", h_.dtype());
  host::KernelParams of_cache = params;
  of_cache.emplace_back("keys", cache.k.shape()[1]);
  of_cache.emplace_back("context", cache.context);
  of_cache.emplace_back("window", s_.window);
  Tensors tensors = {{"qkv", qkv}, {"k", cache.k}, {"v", cache.v}, {"cos", cos}, {"sin", sin}};
  if (cache.splits == 1) {
    tensors["o"] = o;
    h_.launch(on_, "flash_decode", of_cache, tensors);
    return;
  }
  const int64_t units = cache.k.shape()[0], group = s_.heads / s_.kv_heads;
  const Layout by_unit = way_.rows(s_.ranks > 1 ? host::shard(0) : host::replicate());
  const Tensor ranges = h_.tensor(DType::f32, {units, group * (s_.head_dim + 2)}, by_unit, "part");
  tensors["part"] = ranges;
  h_.launch(on_, "flash_decode", of_cache, tensors);
  h_.launch(on_, "flash_combine", params, {{"part", ranges}, {"o", o}});
}

}  // namespace kernbench::models
