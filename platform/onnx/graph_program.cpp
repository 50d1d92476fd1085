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

namespace kernbench::onnx {
namespace {

/// Relative error that ONNX's own test suite allows.
constexpr double kRtol = 1e-3;

/// Over the PEs in blocks of elements: of rows along the first axis that has more than one.
host::Layout layout_of(const Dims& shape) {
  int axis = 0;
  while (axis + 1 < shape.rank() && shape[axis] == 1) ++axis;
  return host::rank_replicate().cube(host::shard(axis)).pe(host::shard(axis));
}

HostTensor host_tensor(const TensorData& t, const Dims& shape) {
  HostTensor h;
  h.dtype = t.dtype();
  h.shape = shape;
  h.bytes = t.bytes;
  return h;
}

/// Of values whose elements went through a coarser type: its tolerance. Two orders of a sum may round to neighbours in
/// it, and that shows in all that follows.
std::map<const Value*, Tolerance> coarser_on_the_way(const Plan& plan) {
  std::map<const Value*, Tolerance> coarsest, coarser;  // up to a value, with its own type; those before it
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
  std::set<const Value*> outputs(plan_->outputs.begin(), plan_->outputs.end());
  for (const Value* v : plan_->outputs) {
    const auto e = expected_.find(v->name);
    if (e != expected_.end() && (e->second->type != v->type || e->second->shape != v->shape))
      throw RunError(fmt::format("output '{}' is {} {}, expected {} {}", v->name, onnx::name_of(v->type),
                                 to_string(v->shape), onnx::name_of(e->second->type), to_string(e->second->shape)));
    if (v->elements() > 0) add_tensor(*v, TensorSpec::Role::out);
    if (v->elements() == 0 && e != expected_.end()) by_shape_.push_back(v->name);
  }
  for (const Launch& l : plan_->run) {
    for (const Launch::Operand& in : l.inputs()) {
      const Value& v = stored(*in.value);
      const bool given = v.constant || std::count(plan_->inputs.begin(), plan_->inputs.end(), &v) > 0;
      if (given && names_.count(&v) == 0) add_tensor(v, TensorSpec::Role::in);
    }
    add_kernel(l);
    rooflines_[&l] = roofline_of(l, peaks);
    spec_.materializes = spec_.materializes || l.op->row->reads_values;
  }
  spec_.function = [this](host::Context& h) { run(h); };
  if (verifies()) spec_.reference = [this](const Params&, const TensorMap&) { return reference(); };
}

void GraphProgram::add_tensor(const Value& v, TensorSpec::Role role) {
  ProgramTensor t;
  t.name = role == TensorSpec::Role::in && spec_.tensor(v.name) ? v.name + " (in)" : v.name;
  t.role = role;
  const Dims shape = role == TensorSpec::Role::out ? dims_of(v) : Dims{v.elements()};
  t.shape = [shape](const Params&) { return shape; };
  t.dtype = [dtype = v.dtype()](const Params&) { return dtype; };
  t.layout = layout_of(shape);
  t.already_there = v.constant != nullptr;
  if (role == TensorSpec::Role::in) {
    const auto value = v.constant ? v.constant : v.known ? v.known : drawn(v, plan_->seed);
    t.fill = [value, shape](const Params&, uint64_t) { return host_tensor(*value, shape); };
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
  KernelRegistry::instance().add(std::move(k));
}

void GraphProgram::run(host::Context& h) {
  marks_.clear();
  std::map<const Value*, const Launch*> last_use;
  for (const Launch& l : plan_->run) {
    for (const Launch::Operand& in : l.inputs()) last_use[&stored(*in.value)] = &l;
  }
  std::map<const Value*, host::Tensor> tensors;
  for (const auto& [v, name] : names_) tensors[v] = spec_.tensor(name)->is_output() ? h.output(name) : h.input(name);
  for (const Launch& l : plan_->run) {
    std::map<std::string, host::Tensor> given;
    std::vector<host::Tensor> unused;
    for (const Launch::Operand& in : l.inputs()) given[in.name] = tensors.at(&stored(*in.value));
    for (const Launch::Operand& out : l.outputs()) {
      const Value& v = *out.value;
      if (tensors.count(&v) == 0) {
        tensors[&v] = h.tensor(v.dtype(), {v.elements()}, layout_of({v.elements()}), v.name);
        if (last_use.count(&v) == 0) unused.push_back(tensors[&v]);
      }
      given[out.name] = tensors[&v];
    }
    marks_.push_back({h.streams().operations().size(), &l});
    h.launch(h.rank(0), kernels_.at(&l), {}, given);
    for (const host::Tensor& t : unused) h.free(t);
    for (const Launch::Operand& in : l.inputs()) {
      const Value& v = stored(*in.value);
      if (last_use.at(&v) != &l || names_.count(&v) > 0 || tensors.count(&v) == 0) continue;
      h.free(tensors.at(&v));
      tensors.erase(&v);
    }
  }
}

std::map<std::string, Expected> GraphProgram::reference() const {
  std::map<std::string, Expected> all;
  const std::map<const Value*, Tolerance> coarser = coarser_on_the_way(*plan_);
  for (const Value* v : plan_->outputs) {
    if (v->elements() == 0) continue;
    Expected e;
    e.value.dtype = v->dtype();
    e.value.shape = dims_of(*v);
    const auto given = expected_.find(v->name);
    if (given != expected_.end()) {
      e.value.bytes = given->second->bytes;
      // Where the type's own tolerance is less than the suite's it is widened to that.
      const double widening = kRtol / tolerance_of(v->dtype()).rtol;
      if (is_float(v->dtype()) && widening > 1) {
        for (const double x : given->second->reals())
          e.scale.push_back(std::isfinite(x) ? static_cast<float>(std::abs(x) * widening) : 0.0f);
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
