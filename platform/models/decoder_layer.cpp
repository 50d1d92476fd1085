// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/decoder_layer.h"

#include <algorithm>
#include <stdexcept>

#include "kernbench/platform/models/expert_layer.h"

namespace kernbench::models {

using host::Layout;
using host::LayoutLevel;
using host::Tensor;

namespace {

/// decode_linear's layout of rows: columns over the cubes, rows over the PEs of each.
Layout lanes(LayoutLevel rank, int64_t unit) {
  return Layout(rank).cube(host::shard(1, unit)).pe(host::shard(0));
}

/// Whether some PE holds only a part of a head of q, k or v.
bool splits_heads(const LayerSizes& s, const Layout& layout, DType dtype, const std::vector<host::LayoutPlace>& places,
                  const host::LayoutGrids& grids) {
  const ShardPlan plan = host::plan_shards(layout, dtype, {s.rows, s.qkv_width()}, places, grids);
  return std::any_of(plan.shards.begin(), plan.shards.end(), [&](const Shard& shard) {
    return !shard.empty() && (shard.offset[1] % s.head_dim != 0 || shard.extent[1] % s.head_dim != 0);
  });
}

/// Whether gemm_2d computes the activation after its product: it does if it is one op.
bool has_activation_of_its_own(const std::string& activation) {
  return activation != "gelu_tanh";
}

constexpr int64_t kFewestRowsOfPe = 8;  // rows of a chunk per PE; with fewer, gemm_2d spends as long on passing weights

// Rows of the stream; with more, a PE's TCM cannot hold its part of a sum over the ranks.
constexpr int64_t kMostElementsOfPe = 1 << 18;

/// Partial results of key ranges, if there are several.
void add_ranges(const LayerSizes& s, const Way& way, std::vector<Temporary>* all) {
  if (s.splits > 1)
    all->push_back({"part",
                    {s.sequences * s.kv_heads * s.splits, s.heads / s.kv_heads * (s.head_dim + 2)},
                    DType::f32,
                    way.rows(rows_over(s.ranks))});
}

/// Integer rows and their scales. Each rank has its own scale if it has its own columns.
void add_integers(std::vector<Temporary>* all, const LayerSizes& s, const Way& way, const std::string& name,
                  const Dims& shape, const LayoutLevel& rank) {
  if (!s.integer_rows) return;
  const LayoutLevel of_step = rank.kind == LayoutLevel::Kind::shard ? host::rank_partial().rank() : rank;
  all->push_back({name + "_i8", shape, DType::i8, way.rows(rank)});
  all->push_back({name + "_step", {shape[0], 1}, DType::f32, way.rows(of_step)});
}

std::vector<Temporary> temporaries_of_decode(const LayerSizes& s, const Way& way, DType dtype) {
  const Layout by_columns = way.operand(columns_over(s.ranks, way.unit));
  std::vector<Temporary> all = {{"qkv", {s.rows, s.qkv_width()}, dtype, by_columns},
                                {"o", {s.rows, s.width()}, dtype, by_columns},
                                {"x1", {s.rows, s.dim}, dtype, way.stream()}};
  if (s.experts == 0) all.push_back({"hidden", {s.rows, s.hidden}, dtype, by_columns});
  if (s.post_norms) {
    for (const std::string name : {"o", "down"}) {
      all.push_back({name + "_product", {s.rows, s.dim}, dtype, way.stream()});
      for (const char* of : {"_rows", "_residual"}) all.push_back({name + of, {s.rows, s.dim}, dtype, way.rows()});
    }
  }
  // Heads are normed before they are split.
  if (s.qk_norm) all.push_back({"qkv_heads", {s.rows, s.qkv_width()}, dtype, way.rows(columns_over(s.ranks))});
  return all;
}

}  // namespace

Layout Way::weights(LayoutLevel rank, int64_t columns) const {
  return (prefill ? host::grid_of_columns(rank) : lanes(rank, unit / columns)).on(ranks);
}

Layout Way::operand(LayoutLevel rank) const {
  return (prefill ? host::grid_of_rows(rank) : lanes(rank, unit)).on(ranks);
}

Layout Way::heads(LayoutLevel rank) const {
  return Layout(rank).cube(host::shard(0)).pe(host::shard(1)).on(ranks);
}

Layout Way::positions() const {
  // For each cube, the rows of q and k that its PEs rotate. In a decode any PE may hold any sequence's keys.
  const Layout all = prefill ? Layout().cube(host::shard(0)) : Layout();
  return all.on(ranks);
}

bool is_shared_by_columns(const LayerSizes& s, const Way& way, const std::vector<host::LayoutPlace>& places) {
  const uint32_t rank = way.ranks.empty() ? 0 : way.ranks.front();
  const auto pes = std::count_if(places.begin(), places.end(), [&](const auto& p) { return p.rank == rank; });
  return way.prefill && s.ranks > 1 && s.experts == 0 && !s.layer_norm && !s.parallel && !s.one_norm && !s.post_norms &&
         s.residual_scale == 1 && !s.integer_rows && s.dim % s.ranks == 0 && s.hidden % s.ranks == 0 &&
         s.rows >= 2 * kFewestRowsOfPe * pes && s.rows * s.dim <= kMostElementsOfPe * pes;
}

std::vector<Chunk> chunks_of(const LayerSizes& s, const Way& way, const std::vector<host::LayoutPlace>& places) {
  const uint32_t rank = way.ranks.empty() ? 0 : way.ranks.front();
  const auto pes = std::count_if(places.begin(), places.end(), [&](const auto& p) { return p.rank == rank; });
  if (!way.prefill || s.ranks == 1 || s.experts > 0 || s.rows < 2 * kFewestRowsOfPe * pes ||
      is_shared_by_columns(s, way, places))
    return {{0, s.rows, -1}};
  const int64_t half = (s.rows + 1) / 2;
  return {{0, half, 0}, {half, s.rows - half, 1}};
}

std::vector<Temporary> temporaries_of(const LayerSizes& s, const Way& way, DType dtype,
                                      const std::vector<host::LayoutPlace>& places, const host::LayoutGrids& grids) {
  std::vector<Temporary> all;
  if (s.experts > 0) all = temporaries_of_experts(s, way, dtype);
  add_ranges(s, way, &all);
  if (!way.prefill) {
    const std::vector<Temporary> rest = temporaries_of_decode(s, way, dtype);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  const auto add = [&](const std::string& name, int64_t columns, const Layout& layout) {
    all.push_back({name, {s.rows, columns}, dtype, layout});
  };
  const Layout stream = way.stream(), by_columns = way.operand(columns_over(s.ranks, way.unit));
  const std::vector<Chunk> chunks = chunks_of(s, way, places);
  const auto add_chunks = [&](const std::string& name, int64_t columns, const Layout& layout) {
    for (const Chunk& c : chunks) all.push_back({c.name(name), {c.count, columns}, dtype, layout});
  };
  const auto add_by_rows = [&](const std::string& name) {
    add(name, s.dim, s.ranks > 1 ? stream.over_ranks(host::rank_partial().rank()) : stream);
    if (s.ranks > 1) add(name + "_sum", s.dim, stream);
  };
  add("normed1", s.dim, stream);
  add_integers(&all, s, way, "normed1", {s.rows, s.dim}, {});
  const DType of_rows = s.integer_rows ? DType::i8 : dtype;
  const auto add_operand = [&](const std::string& name, int64_t rows, int64_t columns, const LayoutLevel& rank) {
    all.push_back({name, {rows, columns}, of_rows, way.operand(rank)});
  };
  add_operand("normed1_operand", s.rows, s.dim, {});
  const Layout heads = way.heads(columns_over(s.ranks));
  if (splits_heads(s, heads, dtype, places, grids)) {
    add("qkv", s.qkv_width(), way.rows(columns_over(s.ranks)));
    add("cos_rows", s.turned() / 2, way.rows());
    add("sin_rows", s.turned() / 2, way.rows());
  } else {
    add("qkv", s.qkv_width(), heads);
  }
  // Values to be quantized are laid out by whole rows, each on one PE.
  const LayoutLevel columns = columns_over(s.ranks, way.unit);
  const Layout product = s.integer_rows ? way.rows(columns) : by_columns;
  add("o", s.width(), product);
  if (is_shared_by_columns(s, way, places)) {
    const LayoutLevel rank = columns_over(s.ranks, way.unit);
    add("x1", s.dim, way.rows(rank));
    add("normed2", s.dim, way.rows(rank));
    add("normed2_operand", s.dim, way.operand(rank));
    if (s.gated) add("gate", s.hidden, by_columns);
    add("up", s.hidden, by_columns);
    return all;
  }
  add_integers(&all, s, way, "o", {s.rows, s.width()}, columns);
  if (s.integer_rows) add_operand("o_operand", s.rows, s.width(), columns);
  add_by_rows("o_product");
  add("x1", s.dim, stream);
  if (s.experts > 0) return all;
  if (!s.one_norm) {
    add("normed2", s.dim, stream);
    add_integers(&all, s, way, "normed2", {s.rows, s.dim}, {});
  }
  for (const Chunk& c : chunks) {
    if (!s.one_norm || chunks.size() > 1) add_operand(c.name("normed2_operand"), c.count, s.dim, {});
    add_integers(&all, s, way, c.name("hidden"), {c.count, s.hidden}, columns);
    if (s.integer_rows) add_operand(c.name("hidden_operand"), c.count, s.hidden, columns);
  }
  if (s.gated) add_chunks("gate", s.hidden, product);
  add_chunks("up", s.hidden, product);
  add_by_rows("down_product");
  return all;
}

DecoderLayer::DecoderLayer(host::Context& h, const LayerSizes& s, const Way& way, std::function<void(const char*)> part)
    : h_(h),
      s_(s),
      way_(way),
      on_(host::streams_of(h, way.ranks)),
      temporaries_(temporaries_of(s, way, h.dtype(), h.pes().place, h.pes().grids)),
      chunks_(chunks_of(s, way, h.pes().place)),
      by_columns_(is_shared_by_columns(s, way, h.pes().place)),
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

host::Rows DecoderLayer::laid_out(const host::Rows& r, const std::string& name) {
  return {laid_out(r.x, name), r.step};
}

host::Rows DecoderLayer::integers(const std::string& name) {
  if (!s_.integer_rows) return {};
  return {made(name + "_i8"), made(name + "_step")};
}

host::Rows DecoderLayer::in_steps(const Tensor& x, const host::Rows& to) {
  if (!s_.integer_rows) return x;
  h_.launch(on_, "quantize_rows", {}, {{"x", x}, {"y", to.x}, {"step", to.step}});
  return to;
}

host::KernelParams DecoderLayer::heads() const {
  return {{"heads", s_.heads}, {"kv_heads", s_.kv_heads}, {"dim", s_.head_dim}, {"parts", s_.ranks}};
}

void DecoderLayer::elementwise(const char* op, const Tensor& x, const Tensor& y, const Tensor& z) {
  h_.launch(on_, "elementwise", {{"op", op}}, {{"x", x}, {"y", y}, {"z", z}});
}

void DecoderLayer::norm(const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& y) {
  Tensors tensors = {{"x", x}, {"w", w}, {"y", y}};
  if (b.places()) tensors["b"] = b;
  h_.launch(on_, b.places() ? "layer_norm" : "rmsnorm", {{"eps", s_.eps}}, tensors);
}

void DecoderLayer::add_bias(const Tensor& x, const Tensor& b, const std::string& activation) {
  if (b.places()) h_.launch(on_, "add_bias", {{"activation", activation}}, {{"x", x}, {"b", b}});
}

Tensor DecoderLayer::rows(const Tensor& t, const Chunk& c) const {
  return chunks_.size() > 1 ? h_.slice(t, 0, c.first, c.count) : t;
}

host::Rows DecoderLayer::rows(const host::Rows& r, const Chunk& c) const {
  if (!r.x.places()) return r;
  return r.step.places() ? host::Rows(rows(r.x, c), rows(r.step, c)) : host::Rows(rows(r.x, c));
}

host::SumBeside DecoderLayer::sum_of(const Summed& s, const Chunk& c, int64_t turn, int64_t turns) const {
  if (s_.ranks == 1) return {};
  return {rows(s.product, c), rows(s.sum, c), turn, turns};
}

void DecoderLayer::add_up(const host::SumBeside& s) {
  if (!s.part.places()) return;
  part("all_reduce");
  h_.redistribute(s.part, s.sum);
}

DecoderLayer::Summed DecoderLayer::summed(const std::string& name) {
  const Tensor product = made(name);
  return {product, s_.ranks > 1 ? made(name + "_sum") : product};
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
  params.emplace_back("rotary", s_.rotary);
  h_.launch(on_, "rope", params,
            {{"x", qkv}, {"cos", laid_out(cos, "cos_rows")}, {"sin", laid_out(sin, "sin_rows")}, {"y", qkv}});
}

void DecoderLayer::prefill(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos,
                           const Tensor& sin, const Cache& cache) {
  const host::Scope temporaries(h_);  // freed when the layer is enqueued and done
  part("qkv");
  const Tensor qkv = made("qkv"), normed = made("normed1");
  norm(x, w.norm1, w.norm1_bias, normed);
  const host::Rows rows1 = in_steps(normed, integers("normed1")), operand = laid_out(rows1, "normed1_operand");
  host::linear_2d(h_, operand, w.qkv, qkv);
  add_bias(qkv, w.bias);
  part("attention");
  head_norm(qkv, w);
  turned(qkv, cos, sin);
  const Summed o = by_columns_ ? Summed{} : summed("o_product"),
               down = s_.experts > 0 || by_columns_ ? Summed{} : summed("down_product");
  const Tensor heads = made("o");
  if (s_.sequences == 0) {
    attend(qkv, heads, w.sinks);
  } else {
    attend(h_.slice(qkv, 0, 0, s_.prompt()), h_.slice(heads, 0, 0, s_.prompt()), w.sinks);
    attend_to_cache(qkv, heads, {}, cache, w.sinks);
  }
  part("output");
  if (by_columns_) return rest_by_columns(heads, x, y, w);
  host::linear_2d(h_, laid_out(in_steps(heads, integers("o")), "o_operand"), w.o, o.product);
  add_up(sum_of(o, chunks_.front()));
  const Tensor x1 = made("x1");
  if (s_.experts > 0) {
    part("output");
    add_product(x, o.sum, w.o_bias, w.post_norm1, x1);
    return experts(x1, y, w);
  }
  const Tensor normed2 = s_.one_norm ? normed : made("normed2");
  const host::Rows integers2 = s_.one_norm ? host::Rows() : integers("normed2");
  for (size_t c = 0; c < chunks_.size(); ++c) {
    const Chunk& chunk = chunks_[c];
    part("output");
    add_product(rows(x, chunk), rows(o.sum, chunk), w.o_bias, w.post_norm1, rows(x1, chunk));
    part("mlp");
    if (!s_.one_norm) norm(rows(s_.parallel ? x : x1, chunk), w.norm2, w.norm2_bias, rows(normed2, chunk));
    const auto sum = [&](int64_t turn) {
      if (chunks_.size() == 1) return host::SumBeside{};
      const int64_t turns = products_of_mlp();
      return c == 0 ? sum_of(o, chunks_.back(), turn, turns) : sum_of(down, chunks_.front(), turn, turns);
    };
    const host::Rows rows2 = s_.one_norm ? rows(rows1, chunk) : in_steps(rows(normed2, chunk), rows(integers2, chunk));
    const host::Rows of_mlp =
        s_.one_norm && chunks_.size() == 1 ? operand : laid_out(rows2, chunk.name("normed2_operand"));
    mlp(of_mlp, w, rows(down.product, chunk), chunk, sum);
  }
  add_up(sum_of(down, chunks_.back()));
  part("mlp");
  add_product(x1, down.sum, w.mlp.down_bias, w.post_norm2, y);
}

void DecoderLayer::rest_by_columns(const Tensor& heads, const Tensor& x, const Tensor& y, const LayerWeights& w) {
  const Tensor x1 = made("x1"), normed = made("normed2");
  host::linear_2d(h_, heads, w.o, x1, "none", {}, {"k_to_columns", x});
  add_bias(x1, w.o_bias);
  part("mlp");
  h_.launch(on_, "rmsnorm_over_ranks", {{"eps", s_.eps}}, {{"x", x1}, {"w", w.norm2}, {"y", normed}});
  mlp(
      laid_out(normed, "normed2_operand"), w, y, chunks_.front(), [](int64_t) { return host::SumBeside{}; }, x1);
  add_bias(y, w.mlp.down_bias);
}

void DecoderLayer::add_product(const Tensor& x, const Tensor& product, const Tensor& bias, const Tensor& post_norm,
                               const Tensor& y) {
  const bool plain = !post_norm.places() && s_.residual_scale == 1;
  if (!plain) add_bias(product, bias);
  if (post_norm.places()) norm(product, post_norm, {}, product);
  if (s_.residual_scale != 1) h_.launch(on_, "scale", {{"factor", s_.residual_scale}}, {{"x", product}});
  elementwise("add", x, product, y);
  if (plain) add_bias(y, bias);
}

void DecoderLayer::attend(const Tensor& qkv, const Tensor& o, const Tensor& sinks) {
  host::KernelParams params = heads();
  params.emplace_back("seq", s_.prompt());
  params.emplace_back("window", s_.window);
  params.emplace_back("score_scale", s_.score_scale);
  params.emplace_back("softcap", s_.score_softcap);
  params.emplace_back("shorter", true);
  params.emplace_back("keys", 128);
  Tensors tensors = {{"qkv", qkv}, {"o", o}};
  if (sinks.places()) tensors["sink"] = sinks;
  h_.launch(on_, "gqa_attention", params, tensors);
}

void DecoderLayer::mlp(const host::Rows& x, const LayerWeights& w, const Tensor& y, const Chunk& chunk,
                       const std::function<host::SumBeside(int64_t)>& sum, const Tensor& residual) {
  const MlpWeights& of = w.mlp;
  const auto of_down = [&](const Tensor& hidden) {
    return laid_out(in_steps(hidden, integers(chunk.name("hidden"))), chunk.name("hidden_operand"));
  };
  const Tensor gate = s_.gated ? made(chunk.name("gate")) : Tensor(), up = made(chunk.name("up"));
  const host::OverRanks gathered{by_columns_ ? "columns_gathered" : ""}, added{by_columns_ ? "k" : "", residual};
  if (!s_.gated) {
    activated(x, of.up, of.up_bias, up, sum(0), gathered);
    host::linear_2d(h_, of_down(up), of.down, y, "none", sum(1), added);
    return;
  }
  const bool by_glu = !has_activation_of_its_own(s_.activation) && !of.gate_bias.places();
  if (by_glu)
    host::linear_2d(h_, x, of.gate, gate, "none", sum(0), gathered);
  else
    activated(x, of.gate, of.gate_bias, gate, sum(0), gathered);
  host::linear_2d(h_, x, of.up, up, "none", sum(1), gathered);
  add_bias(up, of.up_bias);
  if (by_glu)
    h_.launch(on_, "glu", {{"activation", s_.activation}}, {{"x", gate}, {"y", up}, {"z", gate}});
  else
    elementwise("mul", gate, up, gate);
  host::linear_2d(h_, of_down(gate), of.down, y, "none", sum(2), added);
}

void DecoderLayer::activated(const host::Rows& x, const host::Weights& w, const Tensor& bias, const Tensor& y,
                             const host::SumBeside& sum, const host::OverRanks& over) {
  const bool biased = bias.places() != nullptr;
  host::linear_2d(h_, x, w, y, biased ? "none" : s_.activation, sum, over);
  add_bias(y, bias, s_.activation);
}

void DecoderLayer::experts(const Tensor& x, const Tensor& y, const LayerWeights& w) {
  ExpertLayer(h_, s_, way_, [this](const char* name) { part(name); }).run(x, y, w, routing_);
}

void DecoderLayer::decode(const Tensor& x, const Tensor& y, const LayerWeights& w, const Tensor& cos, const Tensor& sin,
                          const Cache& cache) {
  const host::Scope temporaries(h_);
  part("qkv");
  const Tensor product = made("qkv");
  // Adds the optional operands of a product.
  const auto with = [](Tensors tensors, const Tensors& optional) {
    for (const auto& [name, t] : optional) {
      if (t.places()) tensors[name] = t;
    }
    return tensors;
  };
  linear(with({{"x", x}, {"norm", w.norm1}, {"y", product}}, {{"norm_bias", w.norm1_bias}, {"bias", w.bias}}), w.qkv);
  part("attention");
  const Tensor qkv = laid_out(product, "qkv_heads");
  head_norm(qkv, w);
  const Tensor o = made("o");
  attend_to_cache(qkv, o, {{"cos", cos}, {"sin", sin}}, cache, w.sinks);
  part("output");
  const Tensor x1 = made("x1");
  add_linear("o", with({{"x", o}}, {{"bias", w.o_bias}}), x, w.o, w.post_norm1, x1);
  if (s_.experts > 0) return experts(x1, y, w);
  part("mlp");
  const Tensor hidden = made("hidden");
  const Tensors of_mlp =
      with({{"x", s_.parallel ? x : x1}, {"norm", w.norm2}, {"y", hidden}}, {{"norm_bias", w.norm2_bias}});
  const char* activation = s_.activation.c_str();
  if (s_.gated)
    linear(with(of_mlp, {{"bias", w.mlp.gate_bias}, {"up_bias", w.mlp.up_bias}}), w.mlp.gate, activation, w.mlp.up);
  else
    linear(with(of_mlp, {{"bias", w.mlp.up_bias}}), w.mlp.up, activation);
  add_linear("down", with({{"x", hidden}}, {{"bias", w.mlp.down_bias}}), x1, w.mlp.down, w.post_norm2, y);
}

void DecoderLayer::add_linear(const std::string& name, Tensors tensors, const Tensor& residual, const host::Weights& w,
                              const Tensor& post_norm, const Tensor& y) {
  if (!post_norm.places()) {
    tensors.insert({{"residual", residual}, {"y", y}});
    return linear(std::move(tensors), w);
  }
  tensors["y"] = made(name + "_product");
  linear(tensors, w);
  // A norm needs whole rows.
  const Tensor rows = laid_out(tensors["y"], name + "_rows"), x = laid_out(residual, name + "_residual");
  norm(rows, post_norm, {}, rows);
  elementwise("add", x, rows, rows);
  h_.redistribute(rows, y);
}

void DecoderLayer::linear(Tensors tensors, const host::Weights& w, const char* activation, const host::Weights& up) {
  const char* norm = tensors.count("norm_bias") > 0 ? "layer" : "rms";
  host::KernelParams params = {{"activation", activation}, {"norm", norm}, {"eps", s_.eps}};
  if (s_.integer_rows) params.emplace_back("activations", "i8");
  if (tensors.count("residual") > 0) params.emplace_back("factor", s_.residual_scale);
  host::linear_of_few_rows(h_, on_, std::move(tensors), w, params, up);
}

void DecoderLayer::attend_to_cache(const Tensor& qkv, const Tensor& o, const Tensors& turns, const Cache& cache,
                                   const Tensor& sinks) {
  host::KernelParams params = heads();
  params.emplace_back("batch", s_.sequences);
  params.emplace_back("first", s_.prompt());
  params.emplace_back("splits", s_.splits);
  params.emplace_back("dtype", h_.dtype());
  host::KernelParams of_cache = params;
  of_cache.emplace_back("keys", cache.keys);
  of_cache.emplace_back("context", cache.context);
  of_cache.emplace_back("window", s_.window);
  of_cache.emplace_back("score_scale", s_.score_scale);
  of_cache.emplace_back("softcap", s_.score_softcap);
  of_cache.emplace_back("rotary", s_.rotary);
  if (cache.k.dtype() != h_.dtype()) of_cache.emplace_back("cache", std::string(name_of(cache.k.dtype())));
  Tensors tensors = turns;
  tensors.insert({{"qkv", qkv}, {"k", cache.k}, {"v", cache.v}});
  if (cache.table.places()) {
    of_cache.emplace_back("pages", cache.k.shape()[0] / s_.kv_heads);
    of_cache.emplace_back("page", cache.k.shape()[1]);
    tensors["table"] = cache.table;
  }
  if (cache.k_scale.places()) tensors.insert({{"k_scale", cache.k_scale}, {"v_scale", cache.v_scale}});
  Tensors of_o = {{"o", o}};
  if (sinks.places()) of_o["sink"] = sinks;
  if (s_.splits == 1) {
    tensors.insert(of_o.begin(), of_o.end());
    h_.launch(on_, "flash_decode", of_cache, tensors);
    return;
  }
  tensors["part"] = of_o["part"] = made("part");
  h_.launch(on_, "flash_decode", of_cache, tensors);
  h_.launch(on_, "flash_combine", params, of_o);
}

}  // namespace kernbench::models
