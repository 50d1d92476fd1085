// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/graph_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/host/context.h"
#include "kernbench/platform/host/tensor_parallel.h"
#include "kernbench/platform/onnx/host_machine.h"
#include "kernbench/platform/onnx/pe.h"
#include "kernbench/platform/onnx/placed.h"

namespace kernbench::onnx {
namespace {

/// Relative tolerance of ONNX's own test suite.
constexpr double kRtol = 1e-3;

HostTensor host_tensor(const TensorData& t, const Dims& shape) {
  HostTensor h;
  h.dtype = t.dtype();
  h.shape = shape;
  h.bytes = t.bytes;
  return h;
}

/// Transposes [columns, rows] to [rows, columns].
HostTensor transposed_tensor(const TensorData& t, const Dims& shape) {
  HostTensor h = host_tensor(t, shape);
  const int64_t size = static_cast<int64_t>(size_of(h.dtype)), rows = shape[0], columns = shape[1];
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c)
      std::copy_n(t.bytes.begin() + (c * rows + r) * size, size, h.bytes.begin() + (r * columns + c) * size);
  }
  return h;
}

/// Estimates Σ|x||w| / √k per element of a product as ‖row of x‖ · ‖column of w‖ / √k, an upper bound. This is the
/// error that rounded operands cause.
std::vector<double> error_scale(const Linear& l, const std::vector<double>& x, const std::vector<double>& w) {
  const auto m = static_cast<size_t>(l.m), n = static_cast<size_t>(l.n), k = static_cast<size_t>(l.k);
  std::vector<double> rows(m), columns(n), scale;
  for (size_t i = 0; i < m * k; ++i) rows[i / k] += x[i] * x[i];
  for (size_t i = 0; i < k * n; ++i) columns[l.transposed ? i / k : i % n] += w[i] * w[i];
  for (size_t i = 0; i < m * n; ++i) scale.push_back(std::sqrt(rows[i / n] * columns[i % n] / static_cast<double>(k)));
  return scale;
}

/// Whether the op is elementwise, so that it can run in any block layout (Pe::block()).
bool is_by_position(const Launch& l) {
  return !l.linear && l.op->row->each;
}

/// Tolerance of values that passed through a coarser type. Two summation orders may round to neighbouring values, and
/// the difference shows in everything computed from them.
std::map<const Value*, Tolerance> coarser_on_the_way(const Plan& plan) {
  std::map<const Value*, Tolerance> coarsest, coarser;  // up to a value, with its own type; without its own type
  for (const Op& op : plan.ops) {
    Tolerance before;
    for (const Value* in : op.inputs) {
      const auto at = in ? coarsest.find(in) : coarsest.end();
      if (at != coarsest.end() && at->second.rtol > before.rtol) before = at->second;
    }
    for (const Value* out : op.outputs) {
      if (!out || !dtype_of(out->type)) continue;
      const Tolerance own = is_float(out->dtype()) ? tolerance_of(out->dtype()) : Tolerance{};
      if (before.rtol > own.rtol) coarser[out] = before;
      coarsest[out] = before.rtol > own.rtol ? before : own;
    }
  }
  return coarser;
}

}  // namespace

Dims dims_of(const Value& v) {
  if (v.shape.empty() || v.shape.size() > kMaxRank) return {v.elements()};
  Dims d;
  for (const int64_t n : v.shape) d.push_back(n);
  return d;
}

GraphProgram::GraphProgram(std::string file, std::shared_ptr<const Plan> plan, Expectations expected,
                           const PeaksOf& peaks)
    : file_(std::move(file)), plan_(std::move(plan)), expected_(std::move(expected)) {
  spec_.name = file_;
  spec_.help = "an ONNX graph";
  for (const Launch& l : plan_->run) see_readers(l);
  for (const Value* v : plan_->outputs) {
    const auto e = expected_.find(v->name);
    if (e != expected_.end() && (e->second->type != v->type || e->second->shape != v->shape))
      throw InputError(fmt::format("--expected: output '{}' is {} {}, found {} {}", v->name, onnx::name_of(v->type),
                                   to_string(v->shape), onnx::name_of(e->second->type), to_string(e->second->shape)));
    if (v->elements() > 0) add_output(*v);
    if (v->elements() == 0 && e != expected_.end()) by_shape_.push_back(v->name);
  }
  for (const Launch& l : plan_->run) {
    add_operands(l);
    if (!l.linear) add_kernel(l);
    rooflines_[&l] = roofline_of(l, peaks);
    spec_.materializes = spec_.materializes || l.op->row->reads_values;
  }
  spec_.function = [this](host::Context& h) { run(h); };
  if (verifies()) spec_.reference = [this](const Params&, const TensorMap&) { return reference(); };
}

/// Records in which form launches read values.
void GraphProgram::see_readers(const Launch& l) {
  const bool few_rows = l.linear && l.linear->few_rows;
  for (const Launch::Operand& in : l.inputs()) {
    if (!is_by_position(l) && !few_rows) read_flat_.insert(&stored(*in.value));
  }
  if (!few_rows) return;
  wanted_.insert({&stored(*l.linear->x), {l.linear->m, l.linear->k}});
  if (l.linear->residual) wanted_.insert({&stored(*l.linear->residual), {l.linear->m, l.linear->n}});
}

/// A value is stored in lanes only if reading it back is free; its reader sees it unchanged.
void GraphProgram::add_output(const Value& v) {
  Dims matrix;
  for (const Launch& l : plan_->run) {
    const auto made = l.outputs();
    if (std::none_of(made.begin(), made.end(), [&](const Launch::Operand& o) { return o.value == &v; })) continue;
    const auto wanted = wanted_.find(&v);
    if (l.linear && l.linear->few_rows)
      matrix = {l.linear->m, l.linear->n};
    else if (is_by_position(l) && wanted != wanted_.end())
      matrix = wanted->second;
  }
  if (matrix.rank() > 0) in_lanes_.insert(&v);
  const Dims shape = matrix.rank() > 0 ? matrix : dims_of(v);
  add_tensor(v, TensorSpec::Role::out, matrix.rank() > 0 ? lanes() : flat_layout(shape, plan_->machine), shape);
}

/// Values present from the start, each in the layout that its first reader wants.
void GraphProgram::add_operands(const Launch& l) {
  if (l.linear) {
    add_tensor(stored(*l.linear->w), TensorSpec::Role::in, l.linear->few_rows ? lanes() : host::grid_of_columns(),
               {l.linear->k, l.linear->n}, l.linear->transposed);
    if (l.linear->up)
      add_tensor(stored(*l.linear->up), TensorSpec::Role::in, lanes(), {l.linear->k, l.linear->n},
                 l.linear->up_transposed);
    for (const Value* v : {l.linear->bias, l.linear->up_bias, l.linear->norm_weights(), l.linear->norm_bias()}) {
      if (v && names_.count(&stored(*v)) == 0)
        add_tensor(stored(*v), TensorSpec::Role::in, host::rank_replicate().cube(host::shard(0)), {v->elements()});
    }
  }
  for (const Launch::Operand& in : l.inputs()) {
    const Value& v = stored(*in.value);
    const bool given = v.constant || std::count(plan_->inputs.begin(), plan_->inputs.end(), &v) > 0;
    if (given && names_.count(&v) == 0)
      add_tensor(v, TensorSpec::Role::in, flat_layout({v.elements()}, plan_->machine), {v.elements()});
  }
}

void GraphProgram::add_tensor(const Value& v, TensorSpec::Role role, const host::Layout& layout, const Dims& shape,
                              bool transposed) {
  ProgramTensor t;
  t.name = role == TensorSpec::Role::in && spec_.tensor(v.name) ? v.name + " (in)" : v.name;
  t.role = role;
  t.shape = [shape](const Params&) { return shape; };
  t.dtype = [dtype = v.dtype()](const Params&) { return dtype; };
  t.layout = layout;
  t.already_there = v.constant != nullptr;
  if (role == TensorSpec::Role::in) {
    const auto value = v.constant ? v.constant : v.known ? v.known : drawn(v, plan_->seed);
    t.fill = [value, shape, transposed](const Params&, uint64_t) {
      return transposed ? transposed_tensor(*value, shape) : host_tensor(*value, shape);
    };
  }
  names_[&v] = t.name;
  spec_.tensors.push_back(std::move(t));
}

void GraphProgram::add_kernel(const Launch& l) {
  KernelSpec k;
  k.name = fmt::format("onnx:{}:{}", kernels_.size(), l.op->node->op);
  k.help = l.op->row->how;
  k.any_shape = true;
  k.materializes = l.op->row->reads_values;
  const auto add = [&](const Launch::Operand& o, TensorSpec::Role role) {
    TensorSpec t;
    t.name = o.name;
    t.role = role;
    t.shape = [n = o.value->elements()](const Params&) { return Dims{n}; };
    t.dtype = [dtype = o.value->dtype()](const Params&) { return dtype; };
    t.optional = is_by_position(l);
    k.tensors.push_back(t);
    if (!t.optional) return;
    t.name += kInBlocks;
    k.tensors.push_back(std::move(t));
  };
  for (const Launch::Operand& o : l.inputs()) add(o, TensorSpec::Role::in);
  for (const Launch::Operand& o : l.outputs()) add(o, TensorSpec::Role::out);
  k.prepare = [](Params* p, const LaunchCosts& costs, LaunchNotes*) {
    auto least = std::numeric_limits<int64_t>::max();
    for (size_t pe = 0; pe < p->launch()->pes.size(); ++pe)
      least = std::min(least, static_cast<int64_t>(costs.tcm_bytes(static_cast<int64_t>(pe))));
    p->set(kTcmBytes, least);
  };
  k.function = [&l](tl::Context& tl, const tl::Args& args) { run_on_pe(l, tl, args); };
  kernels_[&l] = k.name;
  KernelRegistry::instance().replace(std::move(k));
}

void GraphProgram::run(host::Context& h) {
  marks_.clear();
  std::map<const Value*, const Launch*> last_use;
  for (const Launch& l : plan_->run) {
    for (const Launch::Operand& in : l.inputs()) last_use[&stored(*in.value)] = &l;
  }
  Placed placed(h, plan_->machine);
  for (const auto& [v, name] : names_) {
    if (spec_.tensor(name)->is_output())
      placed.add_output(*v, h.output(name), in_lanes_.count(v) > 0);
    else
      placed.add_input(*v, h.input(name));
  }
  for (const Launch& l : plan_->run) {
    const size_t first = h.streams().operations().size();
    if (l.linear)
      launch_linear(h, placed, l);
    else
      launch(h, placed, l);
    marks_.push_back({first, h.streams().operations().size() - 1, &l});
    for (const auto& operands : {l.inputs(), l.outputs()}) {
      for (const Launch::Operand& o : operands) {
        const auto last = last_use.find(&stored(*o.value));
        if (last == last_use.end() || last->second == &l) placed.free(stored(*o.value));
      }
    }
  }
}

void GraphProgram::launch(host::Context& h, Placed& placed, const Launch& l) const {
  const std::vector<Launch::Operand> inputs = l.inputs();
  // The matrix in whose blocks an op works: that of its reader, or of an operand that lies only so.
  Dims matrix;
  if (is_by_position(l)) {
    const Value& out = l.last().out();
    const auto wanted = wanted_.find(&out);
    if (wanted != wanted_.end()) matrix = wanted->second;
    for (const Launch::Operand& in : inputs) {
      if (matrix.rank() == 0 && in.value->elements() == out.elements())
        matrix = placed.only_in_lanes(stored(*in.value));
    }
  }
  std::map<std::string, host::Tensor> given;
  for (const Launch::Operand& in : inputs) {
    const Value& v = stored(*in.value);
    if (matrix.rank() > 0 && v.elements() == matrix.elements() && placed.lies_in(v, lanes(), matrix))
      given[in.name + kInBlocks] = placed.in_blocks(v, lanes(), matrix);
    else
      given[in.name] = placed.flat(v);
  }
  for (const Launch::Operand& o : l.outputs()) {
    const bool in_blocks = matrix.rank() > 0 && wanted_.count(o.value) > 0;
    if (in_blocks) given[o.name + kInBlocks] = placed.make_in_blocks(*o.value, lanes(), matrix);
    if (!in_blocks || read_flat_.count(o.value) > 0) given[o.name] = placed.make_flat(*o.value);
  }
  h.launch(h.rank(0), kernels_.at(&l), {}, given);
}

void GraphProgram::launch_linear(host::Context& h, Placed& placed, const Launch& launch) const {
  const Linear& l = *launch.linear;
  const host::Tensor w = placed.flat(stored(*l.w));
  if (!l.few_rows) {
    const host::Tensor x = placed.in_blocks(stored(*l.x), host::grid_of_rows(), {l.m, l.k});
    host::linear_2d(h, x, w, placed.make_flat(*l.y, {l.m, l.n}), l.activation);
    return;
  }
  std::map<std::string, host::Tensor> tensors{{"x", placed.in_blocks(stored(*l.x), lanes(), {l.m, l.k})}};
  if (l.residual) tensors["residual"] = placed.in_blocks(stored(*l.residual), lanes(), {l.m, l.n});
  const std::pair<const char*, const Value*> of_columns[] = {
      {"bias", l.bias}, {"up_bias", l.up_bias}, {"norm", l.norm_weights()}, {"norm_bias", l.norm_bias()}};
  for (const auto& [name, v] : of_columns) {
    if (v) tensors[name] = placed.flat(stored(*v));
  }
  tensors["y"] = placed.make_in_blocks(*l.y, lanes(), {l.m, l.n});
  host::KernelParams params{{"activation", l.activation}, {"sums", "f32"}};
  params.emplace_back("norm", !l.norm ? "none" : l.norm_of_layer() ? "layer" : "rms");
  if (l.norm) params.emplace_back("eps", static_cast<double>(l.norm->real("epsilon", 1e-5F)));
  host::linear_of_few_rows(h, h.rank(0), tensors, w, params,
                           l.up ? host::Weights(placed.flat(stored(*l.up))) : host::Weights());
}

/// A value's host data; null if the host has none.
std::shared_ptr<const TensorData> GraphProgram::known(const Value& v) const {
  const auto worked_out = plan_->worked_out.find(v.name);
  return v.constant                              ? v.constant
         : v.known                               ? v.known
         : worked_out != plan_->worked_out.end() ? worked_out->second
                                                 : nullptr;
}

/// Keyed by the last value of each launch that starts with a product whose operands the host has.
std::map<const Value*, std::vector<double>> GraphProgram::scales_of_products() const {
  std::map<const Value*, std::vector<double>> scales;
  for (const Launch& launch : plan_->run) {
    const Linear l = product_of(*launch.op);
    if (!l.y || expected_.count(launch.last().out().name) == 0) continue;
    // Normed rows, which are not stored, have about the norm of the norm's weights.
    const Op* norm = launch.linear ? launch.linear->norm : nullptr;
    const auto x = known(stored(norm ? norm->in(1) : *l.x)), w = known(stored(*l.w));
    if (!x || !w) continue;
    std::vector<double> rows = x->reals();
    while (norm && rows.size() < static_cast<size_t>(l.m * l.k))
      rows.push_back(rows[rows.size() - static_cast<size_t>(l.k)]);
    std::vector<double>& scale = scales[&launch.last().out()];
    scale = error_scale(l, rows, w->reals());
    if (const Value* up = launch.linear ? launch.linear->up : nullptr) {
      // The product of two such products. Each may locally be several times as large as its scale.
      constexpr double kPeak = 4;
      Linear other = *launch.linear;
      other.transposed = other.up_transposed;
      const std::vector<double> of_up = error_scale(other, rows, known(stored(*up))->reals());
      for (size_t e = 0; e < scale.size(); ++e) scale[e] *= kPeak * of_up[e];
    }
  }
  return scales;
}

std::map<std::string, Expected> GraphProgram::reference() const {
  std::map<std::string, Expected> all;
  const std::map<const Value*, std::vector<double>> of_products = scales_of_products();
  const std::map<const Value*, Tolerance> coarser = coarser_on_the_way(*plan_);
  for (const Value* v : plan_->outputs) {
    if (v->elements() == 0) continue;
    Expected e;
    e.value.dtype = v->dtype();
    e.value.shape = spec_.tensor(v->name)->shape({});
    const auto given = expected_.find(v->name);
    if (given != expected_.end()) {
      e.value.bytes = given->second->bytes;
      // If the type's own tolerance is below the suite's, it is widened to the suite's.
      const double widening = kRtol / tolerance_of(v->dtype()).rtol;
      if (is_float(v->dtype()) && widening > 1) {
        for (const double x : given->second->reals())
          e.scale.push_back(std::isfinite(x) ? static_cast<float>(std::abs(x) * widening) : 0.0f);
      }
      if (const auto scale = of_products.find(v); scale != of_products.end()) {
        e.scale.resize(scale->second.size());
        for (size_t i = 0; i < e.scale.size(); ++i) {
          if (std::isfinite(scale->second[i])) e.scale[i] = std::max(e.scale[i], static_cast<float>(scale->second[i]));
        }
      }
      const auto step = coarser.find(v);
      if (is_float(v->dtype()) && step != coarser.end()) {
        for (const double x : given->second->reals()) {
          const double away = step->second.atol + step->second.rtol * std::abs(x);
          e.away.push_back(std::isfinite(away) ? static_cast<float>(away) : 0.0f);
        }
      }
    }
    all[v->name] = std::move(e);
  }
  return all;
}

}  // namespace kernbench::onnx
