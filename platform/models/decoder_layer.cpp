#include "kernbench/platform/models/decoder_layer.h"

#include <algorithm>
#include <stdexcept>

namespace kernbench::models {

using host::Layout;
using host::LayoutLevel;
using host::Tensor;

namespace {

/// As decode_linear has rows: their columns over the cubes, they themselves over the PEs of each.
Layout lanes(LayoutLevel rank) {
  return Layout(rank).cube(host::shard(1)).pe(host::shard(0));
}

/// Whether some PE has a part of a head of q, k or v.
bool splits_heads(const LayerSizes& s, const Layout& layout, DType dtype, const std::vector<host::LayoutPlace>& places,
                  const host::LayoutGrids& grids) {
  const ShardPlan plan = host::plan_shards(layout, dtype, {s.rows, s.qkv_width()}, places, grids);
  return std::any_of(plan.shards.begin(), plan.shards.end(), [&](const Shard& shard) {
    return !shard.empty() && (shard.offset[1] % s.head_dim != 0 || shard.extent[1] % s.head_dim != 0);
  });
}

std::vector<Temporary> temporaries_of_decode(const LayerSizes& s, const Way& way, DType dtype) {
  std::vector<Temporary> all = {{"qkv", {s.rows, s.qkv_width()}, dtype, way.operand(columns_over(s.ranks))},
                                {"o", {s.rows, s.width()}, dtype, way.operand(columns_over(s.ranks))},
                                {"x1", {s.rows, s.dim}, dtype, way.stream()},
                                {"hidden", {s.rows, s.hidden}, dtype, way.operand(columns_over(s.ranks))}};
  // Heads are normed where they are whole.
  if (s.qk_norm) all.push_back({"qkv_heads", {s.rows, s.qkv_width()}, dtype, way.rows(columns_over(s.ranks))});
  if (s.splits > 1)
    all.push_back({"part",
                   {s.rows * s.kv_heads * s.splits, s.heads / s.kv_heads * (s.head_dim + 2)},
                   DType::f32,
                   way.rows(rows_over(s.ranks))});
  return all;
}

}  // namespace

Layout Way::weights(LayoutLevel rank) const {
  return (prefill ? host::grid_of_columns(rank) : lanes(rank)).on(ranks);
}

Layout Way::operand(LayoutLevel rank) const {
  return (prefill ? host::grid_of_rows(rank) : lanes(rank)).on(ranks);
}

Layout Way::heads(LayoutLevel rank) const {
  return Layout(rank).cube(host::shard(0)).pe(host::shard(1)).on(ranks);
}

Layout Way::positions() const {
  // Of each cube the rows of q and k that its PEs turn. In a decode any PE may have any sequence's keys.
  const Layout all = prefill ? Layout().cube(host::shard(0)) : Layout();
  return all.on(ranks);
}

std::vector<Temporary> temporaries_of(const LayerSizes& s, const Way& way, DType dtype,
                                      const std::vector<host::LayoutPlace>& places, const host::LayoutGrids& grids) {
  if (!way.prefill) return temporaries_of_decode(s, way, dtype);
  std::vector<Temporary> all;
  const auto add = [&](const std::string& name, int64_t columns, const Layout& layout) {
    all.push_back({name, {s.rows, columns}, dtype, layout});
  };
  const Layout stream = way.stream(), by_columns = way.operand(columns_over(s.ranks));
  const auto add_normed = [&](const std::string& name) {
    add(name, s.dim, stream);
    add(name + "_operand", s.dim, way.operand());
  };
  const auto add_by_rows = [&](const std::string& name) {
    add(name, s.dim, s.ranks > 1 ? stream.over_ranks(host::rank_partial().rank()) : stream);
    if (s.ranks > 1) add(name + "_sum", s.dim, stream);
  };
  add_normed("normed1");
  const Layout heads = way.heads(columns_over(s.ranks));
  if (splits_heads(s, heads, dtype, places, grids)) {
    add("qkv", s.qkv_width(), way.rows(columns_over(s.ranks)));
    add("cos_rows", s.head_dim / 2, way.rows());
    add("sin_rows", s.head_dim / 2, way.rows());
  } else {
    add("qkv", s.qkv_width(), heads);
  }
  add("o", s.width(), by_columns);
  add_by_rows("o_product");
  add("x1", s.dim, stream);
  add_normed("normed2");
  add("gate", s.hidden, by_columns);
  add("up", s.hidden, by_columns);
  add_by_rows("down_product");
  return all;
}

DecoderLayer::DecoderLayer(host::Context& h, const LayerSizes& s, const Way& way, std::function<void(const char*)> part)
    : h_(h),
      s_(s),
      way_(way),
      on_(host::streams_of(h, way.ranks)),
      temporaries_(temporaries_of(s, way, h.dtype(), h.pes().place, h.pes().grids)),
      part_(std::move(part)) {}

const Temporary* DecoderLayer::temporary(const std::string& name) const {
  const auto t = std::find_if(temporaries_.begin(), temporaries_.end(), [&](const auto& o) { return o.name == name; });
  return t == temporaries_.end() ? nullptr : &*t;
}

Tensor DecoderLayer::made(const std::string& name) {
  const Temporary* t = temporary(name);
  if (t == nullptr) throw std::logic_error("a layer makes no tensor " + name);
  return h_.tensor(t->dtype, t->shape, t->layout, name);
}

Tensor DecoderLayer::laid_out(const Tensor& x, const std::string& name) {
  const Temporary* t = temporary(name);
  return t == nullptr ? x : h_.redistribute(x, t->layout, name);
}

host::KernelParams DecoderLayer::heads() const {
  return {{"heads", s_.heads}, {"kv_heads", s_.kv_heads}, {"dim", s_.head_dim}, {"parts", s_.ranks}};
}

void DecoderLayer::elementwise(const char* op, const Tensor& x, const Tensor& y, const Tensor& z) {
  h_.launch(on_, "elementwise", {{"op", op}}, {{"x", x}, {"y", y}, {"z", z}});
}

Tensor DecoderLayer::normed(const Tensor& x, const Tensor& w, const std::string& name) {
  const Tensor y = made(name);
  h_.launch(on_, "rmsnorm", {{"eps", s_.eps}}, {{"x", x}, {"w", w}, {"y", y}});
  return laid_out(y, name + "_operand");
}

Tensor DecoderLayer::by_columns(const Tensor& x, const Tensor& w, const std::string& name, const char* activation) {
  const Tensor c = made(name);
  host::linear_2d(h_, x, w, c, activation);
  return c;
}

Tensor DecoderLayer::by_rows(const Tensor& x, const Tensor& w, const std::string& name) {
  const Tensor c = made(name);
  host::linear_2d(h_, x, w, c);
  if (s_.ranks > 1) part("all_reduce");
  return laid_out(c, name + "_sum");
}

void DecoderLayer::head_norm(const Tensor& qkv, const LayerWeights& w) {
  if (!s_.qk_norm) return;
  host::KernelParams params = heads();
  params.emplace_back("seq", s_.rows);
  params.emplace_back("eps", s_.eps);
  h_.launch(on_, "head_norm", params, {{"x", qkv}, {"q_norm", w.q_norm}, {"k_norm", w.k_norm}});
}

void DecoderLayer::turned(const Tensor& qkv, const Tensor& cos, const Tensor& sin) {
  host::KernelParams params = heads();
  params.emplace_back("seq", s_.rows);
  h_.launch(on_, "rope", params,
            {{"x", qkv}, {"cos", laid_out(cos, "cos_rows")}, {"sin", laid_out(sin, "sin_rows")}, {"y", qkv}});
}

void DecoderLayer::prefill(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos,
                           const Tensor& sin) {
  const host::Scope temporaries(h_);  // their memory goes back when the layer is enqueued and done
  part("qkv");
  const Tensor qkv = made("qkv"), o = made("o");
  host::linear_2d(h_, normed(x, w.norm1, "normed1"), w.qkv, qkv);
  if (w.bias.places()) h_.launch(on_, "add_bias", {}, {{"x", qkv}, {"b", w.bias}});
  part("attention");
  head_norm(qkv, w);
  turned(qkv, cos, sin);
  host::KernelParams params = heads();
  params.emplace_back("seq", s_.rows);
  params.emplace_back("window", s_.window);
  params.emplace_back("shorter", true);
  params.emplace_back("keys", 128);
  h_.launch(on_, "gqa_attention", params, {{"qkv", qkv}, {"o", o}});
  part("output");
  const Tensor projected = by_rows(o, w.o, "o_product");
  const Tensor x1 = made("x1");
  part("output");
  elementwise("add", x, projected, x1);

  part("mlp");
  const Tensor n = normed(x1, w.norm2, "normed2");
  const bool fused = s_.activation != "gelu_tanh";  // gemm_2d has the activations that are one op
  const Tensor gate = by_columns(n, w.gate, "gate", fused ? s_.activation.c_str() : "none");
  const Tensor up = by_columns(n, w.up, "up");
  if (fused)
    elementwise("mul", gate, up, gate);
  else
    h_.launch(on_, "glu", {{"activation", s_.activation}}, {{"x", gate}, {"y", up}, {"z", gate}});
  const Tensor down = by_rows(gate, w.down, "down_product");
  part("mlp");
  elementwise("add", x1, down, y);
}

void DecoderLayer::decode(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos, const Tensor& sin,
                          const Cache& cache) {
  const host::Scope temporaries(h_);
  part("qkv");
  const Tensor product = made("qkv");
  Tensors of_qkv = {{"x", x}, {"w", w.qkv}, {"norm", w.norm1}, {"y", product}};
  if (w.bias.places()) of_qkv["bias"] = w.bias;
  linear(of_qkv);
  part("attention");
  const Tensor qkv = laid_out(product, "qkv_heads");
  head_norm(qkv, w);
  const Tensor o = made("o");
  attend_to_cache(qkv, o, cos, sin, cache);
  part("output");
  const Tensor x1 = made("x1");
  linear({{"x", o}, {"w", w.o}, {"residual", x}, {"y", x1}});
  part("mlp");
  const Tensor hidden = made("hidden");
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
  params.emplace_back("splits", s_.splits);
  params.emplace_back("dtype", h_.dtype());
  host::KernelParams of_cache = params;
  of_cache.emplace_back("keys", cache.k.shape()[1]);
  of_cache.emplace_back("context", cache.context);
  of_cache.emplace_back("window", s_.window);
  Tensors tensors = {{"qkv", qkv}, {"k", cache.k}, {"v", cache.v}, {"cos", cos}, {"sin", sin}};
  if (s_.splits == 1) {
    tensors["o"] = o;
    h_.launch(on_, "flash_decode", of_cache, tensors);
    return;
  }
  tensors["part"] = made("part");
  h_.launch(on_, "flash_decode", of_cache, tensors);
  h_.launch(on_, "flash_combine", params, {{"part", tensors["part"]}, {"o", o}});
}

}  // namespace kernbench::models
