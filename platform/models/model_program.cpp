// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/models/model_program.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "kernbench/kernel_api/kernels/expert_choices.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/platform/models/decoder_layer.h"
#include "kernbench/platform/models/expert_layer.h"
#include "kernbench/platform/models/quantized.h"

namespace kernbench::models {

using host::Layout;
using host::LayoutLevel;
using host::Tensor;

namespace {

constexpr int64_t kFewestKeys = 64;  // keys of a range; a shorter one does not justify a PE

/// A tensor's name, with its phase or step if there are several.
std::string numbered(const std::string& name, int64_t i, int64_t count) {
  return count > 1 ? name + "." + std::to_string(i) : name;
}

/// Token numbers below vocab.
HostTensor tokens(const std::string& name, const Dims& shape, int64_t vocab, const Params& p, uint64_t seed) {
  TensorSpec t;
  t.name = name;
  t.shape = [shape](const Params&) { return shape; };
  t.dtype = [](const Params&) { return DType::i32; };
  t.init = Init::index([vocab](const Params&) { return vocab; });
  std::vector<int32_t> all = make_input(t, p, seed).ints();
  for (int32_t& token : all) token = std::max(token, 0);  // -1 means no token
  return HostTensor::from(DType::i32, shape, all);
}

/// cos or sin [rows, rotary / 2] for a phase's positions in a step.
HostTensor turns(const ModelSpec& m, DType dtype, const Dims& shape, const Phase& p, int64_t step, bool cosine) {
  std::vector<float> all;
  const std::vector<double> frequencies = rope_frequencies(m, p.reach());
  const double amplitude = m.rope_scaling.amplitude;
  for (int64_t r = 0; r < shape[0]; ++r) {
    for (const double f : frequencies) {
      const double angle = static_cast<double>(p.position(r, step)) * f;
      all.push_back(static_cast<float>(amplitude * (cosine ? std::cos(angle) : std::sin(angle))));
    }
  }
  return HostTensor::from(dtype, shape, all);
}

HostTensor transposed(const HostTensor& t) {
  const int64_t n = t.shape[0], m = t.shape[1];
  HostTensor to(t.dtype, {m, n});
  const size_t size = size_of(t.dtype);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j)
      std::copy_n(t.bytes.data() + static_cast<size_t>(i * m + j) * size, size,
                  to.bytes.data() + static_cast<size_t>(j * n + i) * size);
  }
  return to;
}

/// An f32 tensor from which others are derived; its name seeds its values.
TensorSpec floats(const std::string& name, const Dims& shape) {
  TensorSpec t;
  t.name = name;
  t.shape = [shape](const Params&) { return shape; };
  t.dtype = [](const Params&) { return DType::f32; };
  return t;
}

/// Names of an expert's weights, given the layer's prefix.
std::string expert_name(const std::string& layer, int64_t expert) {
  return layer + "experts." + std::to_string(expert) + ".";
}

/// A tensor whose value depends only on its name, not on the phase.
TensorSpec named(const ProgramTensor& t, const std::string& name) {
  TensorSpec own = t;
  own.name = name;
  return own;
}

/// With --repeat, layers with the same window count as equal.
std::vector<SimulatedLayer> simulated_layers(const ModelSpec& m, const Plan& plan) {
  if (!plan.whole()) return {{plan.only_layer, 1}};
  std::vector<SimulatedLayer> all;
  for (int64_t l = 0; l < plan.layers; ++l) {
    const auto alike = std::find_if(all.begin(), all.end(), [&](const SimulatedLayer& s) {
      return plan.repeat && m.window_of(s.number) == m.window_of(l);
    });
    if (alike == all.end())
      all.push_back({l, 1});
    else
      ++alike->times;
  }
  return all;
}

}  // namespace

/// The program's function, phase by phase.
class ModelProgram::Run {
 public:
  Run(const ModelProgram& program, host::Context& h, std::vector<Mark>* marks, std::vector<Route>* routes)
      : program_(program), model_(program.model_), h_(h), marks_(marks), routes_(routes) {}

  void run() {
    for (size_t p = 0; p < program_.plan_.phases.size(); ++p) {
      phase_ = p;
      for (const ModelTensor& t : program_.tensors_) {
        if (p > 0 && program_.is_there(t, p) && !program_.is_there(t, p - 1)) h_.bring_in(t.tensor.name);
      }
      for (int64_t step = 0; step < phase().steps; ++step) {
        step_ = step;
        this->step();
      }
      h_.synchronize();
      for (const ModelTensor& t : program_.tensors_) {
        if (p + 1 < program_.plan_.phases.size() && program_.is_there(t, p) && !program_.is_there(t, p + 1))
          h_.take_out(t.tensor.name);
      }
    }
  }

 private:
  const Phase& phase() const { return program_.plan_.phases[phase_]; }
  Tensor input(const std::string& name) const { return h_.input(program_.name_of(phase_, name)); }
  Tensor output(const std::string& name) const { return h_.output(program_.name_of(phase_, name)); }
  std::string of_step(const char* name) const { return numbered(name, step_, phase().steps); }
  void mark(const std::string& layer, const std::string& part) {
    layer_ = layer;
    marks_->push_back({h_.streams().operations().size(), phase_, layer, part, step_, sums_beside_});
  }

  LayerWeights weights(const std::string& layer) const {
    const auto of = [&](const char* name) { return input(layer + name); };
    LayerWeights w;
    w.norm1 = of("norm1");
    w.norm2 = of(model_.one_norm ? "norm1" : "norm2");
    if (model_.layer_norm) {
      w.norm1_bias = of("norm1_bias");
      w.norm2_bias = of(model_.one_norm ? "norm1_bias" : "norm2_bias");
    }
    if (model_.post_norms) {
      w.post_norm1 = of("post_norm1");
      w.post_norm2 = of("post_norm2");
    }
    w.qkv = matrix(layer + "qkv", model_.dim);
    w.o = matrix(layer + "o", model_.width());
    if (model_.experts == 0) {
      w.mlp = mlp(layer);
    } else {
      w.router = of("router");
      for (int64_t e = 0; e < model_.experts; ++e) w.experts.push_back(mlp(expert_name(layer, e)));
    }
    if (model_.expert_bias) w.router_bias = of("router_bias");
    if (model_.qkv_bias) w.bias = of("qkv_bias");
    if (model_.o_bias) w.o_bias = of("o_bias");
    if (model_.sinks) w.sinks = of("sinks");
    if (model_.qk_norm) {
      w.q_norm = of("q_norm");
      w.k_norm = of("k_norm");
    }
    return w;
  }

  MlpWeights mlp(const std::string& before) const {
    MlpWeights w{{}, matrix(before + "up", model_.dim), matrix(before + "down", model_.hidden)};
    const bool biased = model_.experts > 0 ? model_.expert_bias : model_.mlp_bias;
    if (model_.gated) w.gate = matrix(before + "gate", model_.dim);
    if (model_.gated && biased) w.gate_bias = input(before + "gate_bias");
    if (biased) {
      w.up_bias = input(before + "up_bias");
      w.down_bias = input(before + "down_bias");
    }
    return w;
  }

  host::Weights matrix(const std::string& name, int64_t k) const {
    const Tensor w = input(name);
    if (w.dtype() == h_.dtype()) return w;
    return {w, input(name + "_scale"), program_.plan_.group(k)};
  }

  void step() {
    const host::Scope temporaries(h_);
    const bool whole = program_.plan_.whole();
    Tensor x = whole ? embedded() : input("x");
    for (const SimulatedLayer& simulated : program_.layers_) {
      const int64_t l = simulated.number;
      const Way way = program_.way(phase(), l);
      DecoderLayer layer(h_, program_.sizes(phase(), l), way, [this](const char* part) { mark(layer_, part); });
      layer_ = simulated.name();
      sums_beside_ = layer.sums_beside();
      mark(layer_, "stage");
      x = h_.redistribute(x, way.stream());  // from another stage, if this is a stage's first layer
      const Tensor y = whole ? h_.tensor(h_.dtype(), {phase().rows(), model_.dim}, way.stream(), "x") : output("y");
      one_layer(layer, l, x, y);
      if (whole) h_.free(x);
      x = y;
      h_.synchronize();  // so that the next layer's temporaries reuse this one's memory
    }
    if (whole) head(x);
  }

  Tensor embedded() {
    mark("embedding", "embedding");
    const Way way = program_.way(phase(), program_.layers_.front().number);
    const host::On on = host::streams_of(h_, way.ranks);
    const Tensor rows = h_.tensor(h_.dtype(), {phase().rows(), model_.dim}, way.rows(), "x");
    h_.launch(on, "embedding_gather", {},
              {{"idx", input(of_step("tokens"))}, {"table", input("embedding")}, {"y", rows}});
    if (model_.embedding_scale != 1) h_.launch(on, "scale", {{"factor", model_.embedding_scale}}, {{"x", rows}});
    return h_.redistribute(rows, way.stream());
  }

  void one_layer(DecoderLayer& layer, int64_t l, const Tensor& x, const Tensor& y) {
    const std::string before = "layers." + std::to_string(l) + ".";
    const std::string kind = program_.kind_of_positions(l);
    const Tensor cos = input(program_.positions_of(l, of_step(("cos" + kind).c_str()))),
                 sin = input(program_.positions_of(l, of_step(("sin" + kind).c_str())));
    if (model_.experts > 0) layer.route_by(routing(l, before));
    Cache cache;
    if (phase().has_sequences()) {
      cache.k = output(before + "k");
      cache.v = output(before + "v");
      cache.context = phase().context + step_;
      cache.keys = program_.ranges(phase()).keys;
      if (phase().page > 0) cache.table = input(program_.positions_of(l, "table"));
      if (program_.plan_.kv == DType::i8) {
        cache.k_scale = input(before + "k_scale");
        cache.v_scale = input(before + "v_scale");
      }
    }
    if (phase().has_prompt()) return layer.prefill(x, y, weights(before), cos, sin, cache);
    layer.decode(x, y, weights(before), cos, sin, cache);
  }

  Routing routing(int64_t l, const std::string& before) {
    Routing r;
    if (!program_.plan_.routed) r.given = input(of_step((before + "choice").c_str()));
    r.told = [this, l](const HostTensor& choice) { routes_->push_back({phase_, l, step_, choice}); };
    return r;
  }

  /// Logits of the prompt's last row, and of each sequence.
  void head(const Tensor& x) {
    mark("head", "logits");
    const int64_t rows = phase().logits();
    const Tensor last = phase().has_prompt() ? h_.slice(x, 0, phase().tokens - 1, rows) : x;
    const Tensor logits = output(of_step("logits"));
    const Way way = program_.one_row();
    const host::Weights w = matrix("head", model_.dim);
    std::map<std::string, Tensor> tensors = {
        {"x", h_.redistribute(last, way.stream())}, {"norm", input("norm")}, {"y", logits}};
    if (model_.layer_norm) tensors["norm_bias"] = input("norm_bias");
    if (model_.head_bias) tensors["bias"] = input("head_bias");
    host::KernelParams params = {{"norm", model_.layer_norm ? "layer" : "rms"}, {"eps", model_.eps}};
    if (model_.logits_scale != 1) params.emplace_back("factor", model_.logits_scale);
    if (model_.logits_softcap > 0) params.emplace_back("softcap", model_.logits_softcap);
    if (program_.head_has_integer_rows()) params.emplace_back("activations", "i8");
    host::linear_of_few_rows(h_, host::streams_of(h_, way.ranks), tensors, w, params);
    mark("head", "argmax");
    h_.launch(host::streams_of(h_, way.ranks), "argmax_of_columns", {},
              {{"x", logits}, {"y", output(of_step("next"))}});
  }

  const ModelProgram& program_;
  const ModelSpec& model_;
  host::Context& h_;
  std::vector<Mark>* marks_;
  std::vector<Route>* routes_;
  size_t phase_ = 0;
  int64_t step_ = 0;
  std::string layer_;
  double sums_beside_ = 0;
};

ModelProgram::ModelProgram(const ModelSpec& m, const Plan& plan, int64_t pes)
    : model_(m), plan_(plan), pes_(pes), layers_(simulated_layers(m, plan)) {
  spec_.name = m.file;
  spec_.help = "model";
  spec_.params = {ParamSpec::dtypes({plan.dtype})};
  if (const int64_t tokens = tokens_of_run(); tokens > 0)
    spec_.params.push_back(ParamSpec::size("tokens", tokens, "of all steps"));
  for (size_t p = 0; p < plan_.phases.size(); ++p) add_phase(p);
  for (const ModelTensor& t : tensors_) spec_.tensors.push_back(t.tensor);
  spec_.function = [this](host::Context& h) {
    marks_.clear();
    routes_.clear();
    Run(*this, h, &marks_, &routes_).run();
  };
  spec_.materializes = plan_.routed;
  spec_.reference = [this](const Params&, const TensorMap& in) { return model_reference(*this, in); };
}

void ModelProgram::place_in_turn() {
  in_turn_ = true;
  for (size_t i = 0; i < tensors_.size(); ++i)
    spec_.tensors[i].late = tensors_[i].tensor.late = !is_there(tensors_[i], 0);
}

bool ModelProgram::is_there(const ModelTensor& t, size_t phase) const {
  return !in_turn_ || t.use != Use::weights || std::count(t.users.begin(), t.users.end(), phase) > 0;
}

ModelProgram::Ranges ModelProgram::ranges(const Phase& p) const {
  if (!p.has_sequences()) return {};
  const int64_t units = p.batch * model_.kv_heads / plan_.ranks, keys = p.context + p.steps;
  const int64_t most = std::max<int64_t>(1, keys / kFewestKeys);
  const int64_t splits = std::clamp<int64_t>(pes_ / units, 1, most), room = (keys + splits - 1) / splits;
  return {(keys + room - 1) / room, room};
}

Dims ModelProgram::pages(const Phase& p) const {
  const Ranges r = ranges(p);
  return {p.batch, (r.splits * r.keys + p.page - 1) / p.page};
}

int64_t ModelProgram::tokens_of_run() const {
  const bool all = std::all_of(layers_.begin(), layers_.end(), [](const SimulatedLayer& l) { return l.times == 1; });
  if (plan_.phases.size() != 1 || !all || !plan_.whole()) return 0;
  return plan_.phases.front().rows() * plan_.phases.front().steps;
}

LayerSizes sizes_of(const ModelSpec& m, const Plan& plan, const Phase& p) {
  LayerSizes s;
  s.rows = p.rows();
  s.dim = m.dim;
  s.heads = m.heads;
  s.kv_heads = m.kv_heads;
  s.head_dim = m.head_dim;
  s.hidden = m.hidden;
  s.eps = m.eps;
  s.activation = m.activation;
  s.activation_limit = m.activation_limit;
  s.qk_norm = m.qk_norm;
  s.rotary = m.rotary;
  s.gated = m.gated;
  s.layer_norm = m.layer_norm;
  s.parallel = m.parallel;
  s.one_norm = m.one_norm;
  s.post_norms = m.post_norms;
  s.residual_scale = m.residual_scale;
  s.score_scale = m.score_scale;
  s.score_softcap = m.score_softcap;
  s.integer_rows = plan.integer_rows();
  s.sequences = p.batch;
  s.ranks = plan.ranks;
  s.experts = m.experts;
  s.per_token = m.experts_per_token;
  s.groups = plan.expert_groups;
  s.expert_order = plan.expert_order;
  s.weights_of_chosen = m.weights_of_chosen;
  return s;
}

LayerSizes ModelProgram::sizes(const Phase& p, int64_t layer) const {
  LayerSizes s = sizes_of(model_, plan_, p);
  s.window = model_.window_of(layer);
  s.splits = ranges(p).splits;
  return s;
}

std::string ModelProgram::name_of(size_t phase, const std::string& name) const {
  const std::string own = plan_.phases.size() > 1 ? "phase" + std::to_string(phase) + "." + name : name;
  const auto shared = shared_.find(own);
  return shared == shared_.end() ? own : shared->second;
}

void ModelProgram::add(ModelTensor t, const std::string& name, const Dims& shape, const Layout& layout) {
  t.tensor.shape = [shape](const Params&) { return shape; };
  if (!t.tensor.dtype) t.tensor.dtype = [dtype = plan_.dtype](const Params&) { return dtype; };
  t.tensor.layout = layout;
  t.tensor.already_there = t.use == Use::weights || t.use == Use::cache || t.use == Use::table;
  t.tensor.may_be_zeros = t.use == Use::weights || t.use == Use::cache;
  t.tensor.name = name_of(t.phase, name);
  t.own = name;
  t.users = {t.phase};
  const Params none;
  if (t.use == Use::weights && plan_.phases.size() > 1) {
    const auto [first, last] = weights_.equal_range(name);
    for (auto w = first; w != last; ++w) {
      const ProgramTensor& other = tensors_[w->second].tensor;
      if (!(other.layout == layout) || other.dtype(none) != t.tensor.dtype(none) || other.shape(none) != shape)
        continue;
      shared_[t.tensor.name] = other.name;
      tensors_[w->second].users.push_back(t.phase);
      return;
    }
    weights_.emplace(name, tensors_.size());
  }
  if (t.tensor.name != name && !t.tensor.fill)
    t.tensor.fill = [own = named(t.tensor, name)](const Params& p, uint64_t seed) { return make_input(own, p, seed); };
  tensors_.push_back(std::move(t));
}

void ModelProgram::add_matrix(const ModelTensor& like, const std::string& name, DType type, int64_t k, int64_t n,
                              const Way& way, bool over_rows) {
  const int64_t columns = values_in(type), group = plan_.group(k),
                ranks = way.ranks.empty() ? plan_.ranks : static_cast<int64_t>(way.ranks.size());
  const auto over = [&](int64_t unit) { return over_rows ? rows_over(ranks, way.unit) : columns_over(ranks, unit); };
  ModelTensor t = like;
  t.tensor.dtype = [type](const Params&) { return type; };
  t.tensor.init = Init::weights([k](const Params&) { return k; });
  if (type == plan_.dtype) return add(t, name, {k, n}, way.weights(over(way.unit)));
  TensorSpec of = floats(name, {k, n});
  of.init = t.tensor.init;
  const auto quantized = [of, type, group, scale = plan_.dtype](const Params& p, uint64_t seed) {
    return quantize(make_input(of, p, seed), type, group, scale);
  };
  ModelTensor scale = like;
  t.tensor.fill = [quantized](const Params& p, uint64_t seed) { return quantized(p, seed).values; };
  scale.tensor.fill = [quantized](const Params& p, uint64_t seed) { return quantized(p, seed).scale; };
  add(t, name, shape_of_values(type, k, n), way.weights(over(way.unit / columns), columns));
  // If ranks split whole groups of rows, each has its own scales; otherwise all ranks hold all.
  const bool whole = group > 0 && k % (group * ranks) == 0;
  const LayoutLevel rank = !over_rows ? over(way.unit) : whole ? rows_over(ranks) : host::replicate();
  add(scale, name + "_scale", shape_of_scale(group, k, n), way.weights(rank));
}

void ModelProgram::add_phase(size_t phase) {
  const Phase& p = plan_.phases[phase];
  if (!plan_.whole()) {
    for (const bool in : {true, false}) {
      ModelTensor t;
      t.tensor.role = in ? TensorSpec::Role::in : TensorSpec::Role::out;
      t.phase = phase;
      add(t, in ? "x" : "y", {p.rows(), model_.dim}, way(p, plan_.only_layer).stream());
    }
  }
  add_positions(phase);
  add_pages(phase);
  for (const SimulatedLayer& l : layers_) add_layer(phase, l.number);
  if (plan_.whole()) add_ends(phase);
}

void ModelProgram::add_positions(size_t phase) {
  const Phase& p = plan_.phases[phase];
  const Dims shape{p.rows(), model_.rotary / 2};
  // Each stage has the tables that its layers need; both if some layers use another rotation.
  std::set<std::string> there;
  for (const SimulatedLayer& l : layers_) {
    const int64_t layer = l.number;
    const std::string kind = kind_of_positions(layer);
    if (!there.insert(positions_of(layer, kind)).second) continue;
    for (int64_t step = 0; step < p.steps; ++step) {
      for (const bool cosine : {true, false}) {
        ModelTensor t;
        t.use = Use::table;
        t.phase = phase;
        const ModelSpec of = kind.empty() ? model_ : turned_for_windows(model_);
        t.tensor.fill = [m = of, dtype = plan_.dtype, shape, p, step, cosine](const Params&, uint64_t) {
          return turns(m, dtype, shape, p, step, cosine);
        };
        add(t, positions_of(layer, numbered((cosine ? "cos" : "sin") + kind, step, p.steps)), shape,
            way(p, layer).positions());
      }
    }
  }
}

std::string ModelProgram::kind_of_positions(int64_t layer) const {
  return model_.turned_for_window(layer) ? "_window" : "";
}

/// Every page of the pool belongs to a sequence; the seed determines the order.
void ModelProgram::add_pages(size_t phase) {
  const Phase& p = plan_.phases[phase];
  if (p.page == 0) return;
  for (int64_t stage = 0; stage < plan_.stages; ++stage) {
    const int64_t layer = plan_.first_layer(stage);
    ModelTensor t;
    t.use = Use::table;
    t.phase = phase;
    t.tensor.dtype = [](const Params&) { return DType::i32; };
    t.tensor.fill = [shape = pages(p)](const Params&, uint64_t seed) {
      HostTensor all = kernels::drawn_choices(1, shape.elements(), shape.elements(), seed_for(seed, "table"));
      all.shape = shape;
      return all;
    };
    add(t, positions_of(layer, "table"), pages(p), Layout().on(way(p, layer).ranks));
  }
}

std::string ModelProgram::positions_of(int64_t layer, const std::string& name) const {
  return plan_.stages > 1 ? "stage" + std::to_string(plan_.stage_of(layer)) + "." + name : name;
}

void ModelProgram::add_layer(size_t phase, int64_t layer) {
  const Phase& p = plan_.phases[phase];
  const Way way = this->way(p, layer);
  const std::string before = "layers." + std::to_string(layer) + ".";
  ModelTensor of_layer;
  of_layer.use = Use::weights;
  of_layer.layer = layer;
  of_layer.phase = phase;
  const auto vector = [&](const char* name, int64_t n) { add(of_layer, before + name, {n}, Layout().on(way.ranks)); };
  const auto matrix = [&](const char* name, int64_t k, int64_t n, bool over_rows) {
    add_matrix(of_layer, before + name, plan_.weights, k, n, way, over_rows);
  };
  const auto norm = [&](const char* name, const char* bias) {
    vector(name, model_.dim);
    if (model_.layer_norm) vector(bias, model_.dim);
  };
  norm("norm1", "norm1_bias");
  matrix("qkv", model_.dim, model_.qkv_width(), false);
  if (model_.qkv_bias) vector("qkv_bias", model_.qkv_width());
  if (model_.qk_norm) {
    vector("q_norm", model_.head_dim);
    vector("k_norm", model_.head_dim);
  }
  if (model_.post_norms) {
    vector("post_norm1", model_.dim);
    vector("post_norm2", model_.dim);
  }
  matrix("o", model_.width(), model_.dim, true);
  if (model_.o_bias) vector("o_bias", model_.dim);
  if (model_.sinks) vector("sinks", model_.heads);
  if (!model_.one_norm) norm("norm2", "norm2_bias");
  if (model_.experts > 0) {
    add_experts(of_layer, before);
  } else {
    add_mlp(of_layer, before, way);
    if (model_.mlp_bias) add_mlp_biases(of_layer, before, way.ranks);
  }
  if (p.has_sequences()) add_cache(phase, layer);
}

void ModelProgram::add_mlp(const ModelTensor& like, const std::string& before, const Way& way) {
  if (model_.gated) add_matrix(like, before + "gate", plan_.weights, model_.dim, model_.hidden, way, false);
  add_matrix(like, before + "up", plan_.weights, model_.dim, model_.hidden, way, false);
  add_matrix(like, before + "down", plan_.weights, model_.hidden, model_.dim, way, true);
}

void ModelProgram::add_mlp_biases(const ModelTensor& like, const std::string& before,
                                  const std::vector<uint32_t>& ranks) {
  const Layout copies = Layout().on(ranks);
  if (model_.gated) add(like, before + "gate_bias", {model_.hidden}, copies);
  add(like, before + "up_bias", {model_.hidden}, copies);
  add(like, before + "down_bias", {model_.dim}, copies);
}

void ModelProgram::add_cache(size_t phase, int64_t layer) {
  const Phase& p = plan_.phases[phase];
  const Way way = this->way(p, layer);
  const std::string before = "layers." + std::to_string(layer) + ".";
  const Ranges r = ranges(p);
  for (const char* name : {"k", "v"}) {
    ModelTensor t;
    t.use = Use::cache;
    t.layer = layer;
    t.phase = phase;
    ModelTensor scale = t;
    const Dims shape = p.page > 0 ? Dims{model_.kv_heads * pages(p).elements(), p.page, model_.head_dim}
                                  : Dims{p.batch * model_.kv_heads * r.splits, r.keys, model_.head_dim};
    t.tensor.role = TensorSpec::Role::in_out;
    t.tensor.dtype = [dtype = plan_.kv](const Params&) { return dtype; };
    if (plan_.kv == DType::i8)
      t.tensor.fill = [of = floats(before + name, shape)](const Params& q, uint64_t seed) {
        std::vector<float> values = make_input(of, q, seed).floats();
        for (float& v : values) v *= static_cast<float>(largest_of(DType::i8));
        return HostTensor::from(DType::i8, of.shape(q), values);
      };
    add(t, before + name, shape, way.rows(rows_over(plan_.ranks)));
    if (plan_.kv != DType::i8) continue;
    // Values up to 1 to 2 times as large as those of the other types.
    const Dims heads{model_.kv_heads};
    scale.tensor.dtype = [](const Params&) { return DType::f32; };
    scale.tensor.fill = [of = floats(before + name + "_scale", heads)](const Params& q, uint64_t seed) {
      std::vector<float> values = make_input(of, q, seed).floats();
      for (float& v : values) v = (1 + std::abs(v)) / static_cast<float>(largest_of(DType::i8));
      return HostTensor::from(DType::f32, of.shape(q), values);
    };
    add(scale, before + name + "_scale", heads, Layout().on(way.ranks));
  }
}

void ModelProgram::add_experts(const ModelTensor& like, const std::string& before) {
  const Phase& p = plan_.phases[like.phase];
  const Way way = this->way(p, like.layer);
  ModelTensor router = like;
  router.tensor.init = Init::weights([k = model_.dim](const Params&) { return k; });
  add(router, before + "router", {model_.dim, model_.experts}, Layout().on(way.ranks));
  if (model_.expert_bias) add(like, before + "router_bias", {model_.experts}, Layout().on(way.ranks));
  for (const ExpertGroup& g : expert_groups(sizes(p, like.layer), way)) {
    for (const int64_t e : g.experts) {
      const std::string name = expert_name(before, e);
      add_mlp(like, name, way_of_experts(way, g.ranks));
      if (model_.expert_bias) add_mlp_biases(like, name, g.ranks);
    }
  }
  for (int64_t step = 0; step < p.steps && !plan_.routed; ++step) {
    ModelTensor t;
    t.layer = like.layer;
    t.phase = like.phase;
    t.tensor.dtype = [](const Params&) { return DType::i32; };
    const std::string name = numbered(before + "choice", step, p.steps);
    t.tensor.fill = [name, rows = p.rows(), k = model_.experts_per_token, n = model_.experts](const Params&,
                                                                                              uint64_t seed) {
      return kernels::drawn_choices(rows, k, n, seed_for(seed, name));
    };
    add(t, name, {p.rows(), model_.experts_per_token}, way.rows());
  }
}

double ModelProgram::experts_chosen(size_t phase) const {
  double chosen = 0, routes = 0;
  for (const Route& r : routes_) {
    if (r.phase != phase) continue;
    const std::vector<int32_t> all = r.choice.ints();
    chosen += static_cast<double>(std::set<int32_t>(all.begin(), all.end()).size());
    ++routes;
  }
  return routes > 0 ? chosen / routes : 0;
}

std::vector<int64_t> ModelProgram::even_order() const {
  const auto groups = static_cast<size_t>(plan_.expert_groups);
  if (groups == 1 || routes_.empty()) return {};
  std::vector<int64_t> rows(static_cast<size_t>(model_.experts)), order(rows.size()), now = plan_.expert_order;
  for (const Route& r : routes_) {
    for (const int32_t e : r.choice.ints()) ++rows[static_cast<size_t>(e)];
  }
  std::iota(order.begin(), order.end(), 0);
  if (now.empty()) now = order;
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return rows[static_cast<size_t>(a)] > rows[static_cast<size_t>(b)]; });
  // The busiest first, each into the group that has least and room.
  struct Group {
    std::vector<int64_t> experts;
    int64_t rows = 0, chosen = 0;
  };
  const size_t room = order.size() / groups;
  std::vector<Group> all(groups);
  const auto load = [](const Group& g) { return std::pair(g.chosen, g.rows); };
  const auto add = [&](Group& g, int64_t e) {
    g.experts.push_back(e);
    g.rows += rows[static_cast<size_t>(e)];
    g.chosen += rows[static_cast<size_t>(e)] > 0;
  };
  for (const int64_t e : order) {
    Group* least = nullptr;
    for (Group& g : all) {
      if (g.experts.size() < room && (!least || load(g) < load(*least))) least = &g;
    }
    add(*least, e);
  }
  std::vector<Group> before(groups);
  for (size_t i = 0; i < now.size(); ++i) add(before[i / room], now[i]);
  const auto most = [&](const std::vector<Group>& of) {
    return load(
        *std::max_element(of.begin(), of.end(), [&](const Group& a, const Group& b) { return load(a) < load(b); }));
  };
  if (most(all) >= most(before)) return {};
  order.clear();
  for (const Group& g : all) order.insert(order.end(), g.experts.begin(), g.experts.end());
  return order;
}

void ModelProgram::add_ends(size_t phase) {
  const Phase& p = plan_.phases[phase];
  const Way first = way(p, layers_.front().number), last = one_row();
  ModelTensor weights, io;
  weights.use = Use::weights;
  weights.phase = io.phase = phase;
  const Dims table{model_.vocab, model_.dim};
  ModelTensor embedding = weights;
  embedding.tensor.init = Init::weights([dim = model_.dim](const Params&) { return dim; });
  add(embedding, "embedding", table, first.rows());
  add(weights, "norm", {model_.dim}, Layout().on(last.ranks));
  if (model_.layer_norm) add(weights, "norm_bias", {model_.dim}, Layout().on(last.ranks));
  if (model_.head_bias) add(weights, "head_bias", {model_.vocab}, Layout().on(last.ranks));
  ModelTensor head = embedding;
  if (model_.tied) {
    ProgramTensor of = embedding.tensor;
    of.name = "embedding";
    of.shape = [table](const Params&) { return table; };
    of.dtype = [dtype = plan_.dtype](const Params&) { return dtype; };
    head.tensor.fill = [this, of, named = name_of(phase, "embedding")](const Params& q, uint64_t seed) {
      const auto file = files_.find(named);
      if (file == files_.end()) return transposed(make_input(of, q, seed));
      NpyArray a = read_npy_tensor(file->second, named, of.dtype(q), of.shape(q));
      HostTensor value;
      value.dtype = a.dtype;
      value.shape = a.shape;
      value.bytes = std::move(a.bytes);
      return transposed(value);
    };
  }
  add_matrix(head, "head", head_type(), model_.dim, model_.vocab, last, false);
  for (int64_t step = 0; step < p.steps; ++step) {
    const auto i32 = [](const Params&) { return DType::i32; };
    ModelTensor ids = io, logits = io, next = io;
    const std::string name = numbered("tokens", step, p.steps);
    const Dims shape{p.rows()};
    ids.tensor.dtype = i32;
    ids.tensor.fill = [name, shape, vocab = model_.vocab](const Params& q, uint64_t seed) {
      return tokens(name, shape, vocab, q, seed);
    };
    add(ids, name, shape, first.rows());
    const int64_t sequences = p.logits();
    logits.tensor.role = next.tensor.role = TensorSpec::Role::out;
    add(logits, numbered("logits", step, p.steps), {sequences, model_.vocab},
        last.operand(columns_over(plan_.ranks, last.unit)));
    next.tensor.dtype = i32;
    add(next, numbered("next", step, p.steps), {sequences}, Layout().pe(host::shard(0)).on(last.ranks));
  }
}

}  // namespace kernbench::models
