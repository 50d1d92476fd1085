// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernbench/phase2/io/logging.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/onnx/composites.h"
#include "kernbench/platform/onnx/host_machine.h"
#include "kernbench/platform/onnx/patterns.h"
#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {
namespace {

constexpr int64_t kMostFolded = int64_t{1} << 24;   // most elements computed on the host
constexpr int64_t kMostPlanned = int64_t{1} << 30;  // most elements of all tensors together
constexpr size_t kMostMade = size_t{1} << 16;       // most nodes that control flow may expand to
constexpr int64_t kMostDrawn = int64_t{1} << 26;    // most elements of a generated input

/// Copies input 0 to output 0, which needs bytes of its own.
void run_copy(Pe& pe) {
  pe.for_pieces([&](int64_t first, int64_t count) { pe.put(0, first, pe.tl.load(pe.in(0) + first, {count})); });
}

const OpRow kCopy = {"Copy", 1, like_first, run_copy, "DMA: a copy, as an output has bytes of its own"};

class Planner {
 public:
  Planner(const Model& m, const PlanRequest& r) : model_(m), request_(r), plan_(std::make_shared<Plan>()) {}

  std::shared_ptr<const Plan> plan() {
    plan_->seed = request_.seed;
    plan_->machine = request_.machine;
    const auto own = model_.opsets.find("");
    opset_ = own == model_.opsets.end() ? kOldest : own->second;
    if (opset_ < kOldest || opset_ > kNewest)
      fault(fmt::format("uses opset {}, expected {} to {}", opset_, kOldest, kNewest));
    for (const auto& [name, tensor] : model_.graph.constants) make(name, *tensor).constant = tensor;
    for (const Port& p : model_.graph.inputs) add_input(p);
    for (const auto& [name, tensor] : request_.inputs) {
      if (std::none_of(plan_->inputs.begin(), plan_->inputs.end(), [&, &n = name](auto* v) { return v->name == n; }))
        faults_.push_back(fmt::format("--tensor: found '{}', the model has {}", cut(name), input_names()));
    }
    for (const auto& [name, n] : request_.dims) {
      if (used_dims_.count(name) == 0)
        faults_.push_back(fmt::format("--dim: found '{}', the model has no such dimension", cut(name)));
    }
    throw_faults();
    for (const Node& n : model_.graph.nodes) add_node(n);
    throw_faults();
    for (const Port& p : model_.graph.outputs) check_declared(p);
    for (const Port& p : model_.graph.declared) check_declared(p);
    throw_faults();
    if (!sizes_that_differ_.empty()) {
      logging::warn(logging::Room::models, [&] {
        return fmt::format(
            "{}: {}{}", model_.file, sizes_that_differ_[0],
            sizes_that_differ_.size() > 1 ? fmt::format(", and {} more so", sizes_that_differ_.size() - 1) : "");
      });
    }
    keep_outputs();
    throw_faults();
    choose();
    if (request_.every_node) work_out_all();
    for (Op& op : plan_->ops) {  // requested values are known from here on
      op.evaluate = [](Value& v) {
        if (!v.constant && !v.known) throw Refusal("the values of '" + v.name + "' are not known");
        return v.constant ? v.constant : v.known;
      };
    }
    return plan_;
  }

 private:
  [[noreturn]] void fault(const std::string& what) const { throw InputError(model_.file + ": " + what); }
  void throw_faults() const {
    if (!faults_.empty()) throw InputError(faults_);
  }
  std::string input_names() const {
    std::string all;
    for (const Value* v : plan_->inputs) all += (all.empty() ? "" : ", ") + cut(v->name);
    return all.empty() ? "no inputs" : all;
  }

  Value& make(const std::string& name, const TensorData& t) {
    Value& v = make(name);
    v.type = t.type;
    v.shape = t.shape;
    return v;
  }
  Value& make(const std::string& name) {
    if (name.empty()) fault("has a tensor without a name");
    if (!by_name_.emplace(name, plan_->values.size()).second)
      fault(fmt::format("has two tensors named '{}'", cut(name)));
    plan_->values.emplace_back();
    plan_->values.back().name = name;
    return plan_->values.back();
  }
  Value* find(const std::string& name) {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : &plan_->values[it->second];
  }

  /// Checks a value against the file's declared type and rank. Sizes may be those of another run.
  void check_declared(const Port& p) {
    const Value* v = find(p.name);
    if (!v || v->type == Type::none) return;  // reported elsewhere, or no node that runs
    Shape sizes = v->shape;
    bool fits = (p.type == Type::none || p.type == v->type) && (!p.has_shape || p.shape.size() == v->shape.size());
    if (!fits) {
      faults_.push_back(fmt::format("{}: '{}' is declared as {}{}, found {} {}", model_.file, cut(p.name),
                                    name_of(p.type), p.has_shape ? " " + to_string(p.shape) : "", name_of(v->type),
                                    to_string(v->shape)));
      return;
    }
    for (size_t d = 0; p.has_shape && d < p.shape.size(); ++d) {
      const auto named = dim_sizes_.find(p.dim_names[d]);
      const int64_t size = p.shape[d] >= 0 || named == dim_sizes_.end() ? p.shape[d] : named->second.first;
      fits = fits && (size < 0 || size == v->shape[d]);
      if (size >= 0) sizes[d] = size;
    }
    if (!fits)
      sizes_that_differ_.push_back(
          fmt::format("'{}' is declared with sizes {}, found {}", cut(p.name), to_string(sizes), to_string(v->shape)));
  }

  /// A named dimension must have one size in a run.
  void check_names(const Value& v, const Port& p) {
    for (size_t d = 0; d < p.dim_names.size() && d < v.shape.size(); ++d) {
      if (p.dim_names[d].empty() || v.shape[d] < 0) continue;
      const auto [known, is_new] = dim_sizes_.emplace(p.dim_names[d], std::make_pair(v.shape[d], v.name));
      if (known->second.first != v.shape[d])
        faults_.push_back(fmt::format("{}: dimension '{}' is {} in input '{}' and {} in input '{}'", model_.file,
                                      cut(known->first), known->second.first, cut(known->second.second), v.shape[d],
                                      cut(v.name)));
    }
  }

  void add_input(const Port& p) {
    const auto given = request_.inputs.find(p.name);
    if (Value* constant = find(p.name)) {  // an initializer, which an input may override
      if (given == request_.inputs.end()) return check_declared(p);
      constant->constant = nullptr;
      settle(*constant, p, given->second);
      return;
    }
    Value& v = make(p.name);
    if (!dtype_of(p.type)) {
      faults_.push_back(fmt::format("{}: input '{}' is of type {}, which Phase 2 does not compute with", model_.file,
                                    cut(p.name), name_of(p.type)));
      return;
    }
    settle(v, p, given == request_.inputs.end() ? nullptr : given->second);
  }

  /// Sets the input's shape and value.
  void settle(Value& v, const Port& p, std::shared_ptr<const TensorData> value) {
    plan_->inputs.push_back(&v);
    v.type = p.type;
    v.shape = p.shape;
    for (size_t d = 0; d < v.shape.size(); ++d) {
      const auto dim = request_.dims.find(p.dim_names[d]);
      if (p.dim_names[d].empty() || dim == request_.dims.end()) continue;
      used_dims_.insert(dim->first);
      if (v.shape[d] < 0) v.shape[d] = dim->second;
    }
    if (value) {
      bool fits = value->type == v.type && (!p.has_shape || value->shape.size() == v.shape.size());
      for (size_t d = 0; fits && p.has_shape && d < v.shape.size(); ++d)
        fits = v.shape[d] < 0 || v.shape[d] == value->shape[d];
      if (!fits) {
        faults_.push_back(fmt::format("--tensor {}: found {} {}, expected {} {}", cut(v.name), name_of(value->type),
                                      to_string(value->shape), name_of(v.type), to_string(v.shape)));
        return;
      }
      v.shape = value->shape;
      v.known = std::move(value);
      return check_names(v, p);
    }
    for (size_t d = 0; d < v.shape.size(); ++d) {
      if (v.shape[d] < 0 && p.dim_names[d].empty())
        faults_.push_back(fmt::format("{}: dimension {} of input '{}' is open and has no name; --tensor sets it",
                                      model_.file, d, cut(v.name)));
      else if (v.shape[d] < 0)
        faults_.push_back(fmt::format("{}: dimension {} of input '{}' is open; --dim {}=N or --tensor sets it",
                                      model_.file, d, cut(v.name), cut(p.dim_names[d])));
    }
    if (!p.has_shape)
      faults_.push_back(fmt::format("{}: the shape of input '{}' is open; --tensor sets it", model_.file, cut(v.name)));
    check_names(v, p);
    if (std::any_of(v.shape.begin(), v.shape.end(), [](int64_t d) { return d < 0; })) return;
    if (elements_of(v.shape) > kMostDrawn)
      fault(fmt::format("input '{}' has {} elements", cut(v.name), elements_of(v.shape)));
  }

  void add_constant(const Node& n) {
    try {
      check_form(n, opset_, "0 value value_float value_floats value_int value_ints");
      if (n.attributes.size() != 1) throw Refusal("found other than one value");
      const auto t = constant_of(n);
      if (!t) throw Refusal("its value is not known");
      if (!dtype_of(t->type)) throw Refusal("its type is " + name_of(t->type));
      make(n.outputs[0], *t).constant = t;
    } catch (const Refusal& r) {
      refuse(n, r.what());
    }
  }

  /// Constant takes its value from an attribute; null if it has none. Throws Refusal.
  static std::shared_ptr<const TensorData> constant_of(const Node& n) {
    const auto given = [&](const char* name) { return n.attributes.count(name) > 0; };
    const auto value = [&](const char* name, AttributeType t) -> const Attribute& { return attribute_of(n, name, t); };
    const auto list = [](size_t length) { return Shape{static_cast<int64_t>(length)}; };
    if (given("value")) return value("value", AttributeType::tensor).t;
    if (given("value_int")) return ints_of({value("value_int", AttributeType::integer).i}, {});
    if (given("value_ints")) {
      const std::vector<int64_t>& all = value("value_ints", AttributeType::integers).ints;
      return ints_of(all, list(all.size()));
    }
    if (given("value_float")) return floats_of({value("value_float", AttributeType::real).f}, {});
    if (given("value_floats")) {
      const std::vector<float>& all = value("value_floats", AttributeType::reals).floats;
      return floats_of(all, list(all.size()));
    }
    return nullptr;
  }

  static std::shared_ptr<const TensorData> ints_of(const std::vector<int64_t>& values, const Shape& shape) {
    return std::make_shared<const TensorData>(TensorData::of_ints(values, shape));
  }
  static std::shared_ptr<const TensorData> floats_of(const std::vector<float>& values, const Shape& shape) {
    TensorData t{Type::float32, shape, Bytes(values.size() * sizeof(float))};
    if (!values.empty()) std::copy_n(reinterpret_cast<const uint8_t*>(values.data()), t.bytes.size(), t.bytes.data());
    return std::make_shared<const TensorData>(std::move(t));
  }

  void refuse(const Node& n, const std::string& why) {
    faults_.push_back(fmt::format("{}: {}: {}", model_.file, described(n), why));
    for (const std::string& name : n.outputs) {
      if (!name.empty()) unknown_.insert(name);
    }
  }

  void add_node(const Node& n) {
    if (is_control_flow(n) || is_composite(n)) return write_out(n);
    if (n.op == "Constant" && n.domain.empty() && n.outputs.size() == 1) return add_constant(n);
    bool known = false;
    const OpRow* row = find_row(n.domain, n.op, opset_, &known);
    if (!row) return refuse(n, known ? fmt::format("not in opset {}", opset_) : "the op is not supported");
    Op op;
    op.node = &n;
    op.row = row;
    op.opset = opset_;
    for (const std::string& name : n.inputs) {
      Value* v = name.empty() ? nullptr : find(name);
      if (!name.empty() && !v && unknown_.count(name) == 0)
        return refuse(n, fmt::format("no earlier node produces its input '{}'", cut(name)));
      op.inputs.push_back(v);
    }
    if (is_behind_refused(n)) return;
    place(std::move(op));
  }

  /// Outputs of a node after a refused node are unknown too.
  bool is_behind_refused(const Node& n) {
    if (std::none_of(n.inputs.begin(), n.inputs.end(), [&](auto& name) { return unknown_.count(name) > 0; }))
      return false;
    for (const std::string& name : n.outputs) {
      if (!name.empty()) unknown_.insert(name);
    }
    return true;
  }

  /// Expands If, Loop, Scan and composites.
  void write_out(const Node& n) {
    if (is_behind_refused(n)) return;
    Unrolling u;
    u.emit = [this](Node made) {
      if (plan_->made_nodes.size() >= kMostMade) throw Refusal("it expands to too many nodes");
      plan_->made_nodes.push_back(std::move(made));
      add_node(plan_->made_nodes.back());
    };
    u.constant = [this](const std::string& name, const std::shared_ptr<const TensorData>& t) {
      make(name, *t).constant = t;
    };
    u.value = [this](const std::string& name) -> const Value& {
      const Value* v = find(name);
      if (!v || v->type == Type::none) throw Refusal("'" + cut(name) + "' is not known");
      return *v;
    };
    u.evaluate = [this, &u](const std::string& name) {
      u.value(name);
      return value_of(*find(name));
    };
    u.is_refused = [this](const std::string& name) { return unknown_.count(name) > 0; };
    try {
      is_composite(n) ? write_out_composite(n, opset_, u) : unroll(n, opset_, u);
    } catch (const Refusal& r) {
      refuse(n, r.what());
    } catch (const std::out_of_range&) {
      refuse(n, "an input has no elements, or is left out");
    }
  }

  void place(Op op) {
    const Node& n = *op.node;
    op.evaluate = [this](Value& v) { return value_of(v); };
    for (const Value* v : op.inputs) {
      if (v && !dtype_of(v->type)) return refuse(n, "an input is of type " + name_of(v->type));
    }
    for (const std::string& name : n.outputs) op.outputs.push_back(name.empty() ? nullptr : &make(name));
    plan_->ops.push_back(std::move(op));
    placed_ = &plan_->ops.back();
    try {
      settle(plan_->ops.back());
    } catch (const Refusal& r) {
      refuse(n, r.what());
    } catch (const InputError& e) {
      refuse(n, e.what());
    } catch (const std::out_of_range&) {
      refuse(n, "an input or attribute has fewer elements than it needs");
    } catch (const std::length_error&) {
      refuse(n, "a shape has more dimensions than can be run");
    }
    placed_ = nullptr;
  }

  void settle(Op& op) {
    if (std::none_of(op.outputs.begin(), op.outputs.end(), [](const Value* v) { return v != nullptr; }))
      op.refuse("it has no outputs");
    check_attribute_types(*op.node);
    op.row->shape(op);
    check_form(*op.node, opset_, op.row->form);
    int64_t elements = 0;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      if (!op.has_output(i)) continue;
      if (op.out(i).type == Type::none) op.refuse("output " + std::to_string(i) + " is not made");
      elements += op.out(i).elements();
      made_by_[op.outputs[i]] = &op;
    }
    planned_ += elements;
    if (planned_ > kMostPlanned)
      op.refuse(fmt::format("all tensors together have more than {} elements", kMostPlanned));
    if (op.has(0) && op.in(0).elements() == 0 && elements > 0 && !op.row->takes_empty)
      op.refuse("input 0 has no elements");
    if (op.moves_nothing()) {
      op.out();  // throws if there is none
      op.outputs[0]->bytes_of = &stored(op.in(0));
    }
    const bool constant =
        std::all_of(op.inputs.begin(), op.inputs.end(), [](const Value* v) { return !v || v->constant; }) ||
        is_of_shapes(op);
    if (constant && elements <= kMostFolded) {
      for (Value* v : op.outputs) {
        if (v) v->constant = value_of(*v);
      }
    }
  }

  /// Whether the op's outputs are known whatever its inputs' elements are.
  static bool is_of_shapes(const Op& op) {
    return op.node->domain.empty() && (op.node->op == "Shape" || op.node->op == "Size");
  }

  /// Computes a value for these inputs. Its operands come first, by an explicit stack, because a graph may be as deep
  /// as it is long.
  std::shared_ptr<const TensorData> value_of(Value& v) {
    std::vector<Value*> pending{&v};
    while (!pending.empty()) {
      Value& next = *pending.back();
      const auto made = made_by_.find(&next);
      const size_t before = pending.size();
      if (!next.constant && !next.known) {
        if (made == made_by_.end()) {
          next.known = drawn(next, plan_->seed);
        } else {
          for (Value* i : made->second->inputs) {
            if (i && !i->constant && !i->known && !is_of_shapes(*made->second)) pending.push_back(i);
          }
          if (pending.size() == before) make_known(*made->second);
        }
      }
      if (pending.size() == before) pending.pop_back();
    }
    return v.constant ? v.constant : v.known;
  }

  /// Computes an op's outputs from known inputs.
  void make_known(const Op& op) {
    int64_t elements = 0;
    for (const Value* o : op.outputs) elements += o ? o->elements() : 0;
    std::vector<std::shared_ptr<const TensorData>> inputs;
    for (const Value* i : op.inputs) {
      const bool read = i && !is_of_shapes(op);
      inputs.push_back(!read ? nullptr : i->constant ? i->constant : i->known);
      elements += read ? i->elements() : 0;
    }
    if (elements > 2 * kMostFolded)
      throw Refusal("a shape depends on values of " + std::to_string(elements) + " elements");
    if (op.moves_nothing()) {
      TensorData same = *inputs.at(0);
      same.shape = op.outputs.at(0)->shape;
      op.outputs[0]->known = std::make_shared<const TensorData>(std::move(same));
      return;
    }
    std::vector<TensorData> results;
    try {
      results = work_out(op, inputs);
    } catch (const Refusal& r) {
      if (&op == placed_) throw;
      throw Refusal(described(*op.node) + ": " + r.what());
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (op.outputs[i]) op.outputs[i]->known = std::make_shared<const TensorData>(std::move(results[i]));
    }
  }

  void work_out_all() {
    for (const Value* v : plan_->outputs) {
      Value* made = find(v->name);
      try {
        plan_->worked_out[v->name] = value_of(*made);
      } catch (const Refusal& r) {
        fault(fmt::format("--verify: tensor '{}': {}", cut(v->name), r.what()));
      }
    }
  }

  /// Graph outputs and wanted values need bytes of their own.
  void keep_outputs() {
    std::vector<std::string> names;
    for (const Port& p : model_.graph.outputs) names.push_back(p.name);
    names.insert(names.end(), request_.wanted.begin(), request_.wanted.end());
    std::set<std::string> seen;
    for (const std::string& name : names) {
      if (!seen.insert(name).second) continue;
      Value* v = find(name);
      if (!v || !dtype_of(v->type)) {
        faults_.push_back(fmt::format("{}: found no tensor '{}' to be read", model_.file, cut(name)));
        continue;
      }
      const bool made = made_by_.count(v) > 0 && !made_by_.at(v)->moves_nothing() && !v->constant;
      plan_->outputs.push_back(made || v->elements() == 0 ? v : &copied(*v));
    }
  }

  Value& copied(Value& v) {
    plan_->made_nodes.emplace_back();
    Node& n = plan_->made_nodes.back();
    n.name = n.op = "Copy";
    n.inputs = {v.name};
    plan_->values.emplace_back();
    Value& to = plan_->values.back();
    to.name = v.name;
    Op op;
    op.node = &n;
    op.row = &kCopy;
    op.opset = opset_;
    op.inputs = {&v};
    op.outputs = {&to};
    op.row->shape(op);
    plan_->ops.push_back(std::move(op));
    return to;
  }

  /// Selects what runs: every op that an output needs (with every_node: all), except ops that move nothing or are
  /// constant.
  void choose() {
    std::set<const Value*> needed, kept(plan_->outputs.begin(), plan_->outputs.end());
    for (const Value* v : plan_->outputs) needed.insert(&stored(*v));
    Patterns patterns{&plan_->ops, &made_by_, &kept, &plan_->values, &plan_->made_nodes, {}, {}, {}};
    find_patterns(&patterns);
    plan_->made_ops = std::move(patterns.made);
    std::vector<const Op*> backward;
    for (auto op = plan_->ops.rbegin(); op != plan_->ops.rend(); ++op) {
      const auto is_needed = [&](const Value* v) {
        return v && v->elements() > 0 && (request_.every_node || needed.count(v) > 0);
      };
      const bool constant = op->row != &kCopy && std::all_of(op->outputs.begin(), op->outputs.end(),
                                                             [](const Value* v) { return !v || v->constant; });
      if (constant || op->moves_nothing()) {
        plan_->skipped.push_back({&*op, constant        ? "constant: computed before the run"
                                        : !op->row->run ? op->row->how
                                                        : "nothing moves: its output is its input"});
        continue;
      }
      if (const auto part = patterns.part_of.find(&*op); part != patterns.part_of.end()) {
        plan_->skipped.push_back({&*op, part->second});
        continue;
      }
      if (!std::any_of(op->outputs.begin(), op->outputs.end(), is_needed)) {
        plan_->skipped.push_back({&*op, "its outputs are not used"});
        continue;
      }
      const auto instead = patterns.instead.find(&*op);
      backward.push_back(instead == patterns.instead.end() ? &*op : instead->second);
      for (const Value* v : backward.back()->inputs) {
        if (v) needed.insert(&stored(*v));
      }
    }
    const auto given = [this](const Value& v) {
      const Value& s = stored(v);
      return s.constant || std::count(plan_->inputs.begin(), plan_->inputs.end(), &s) > 0;
    };
    std::vector<const Op*> normed;
    plan_->run =
        with_linears(fuse({backward.rbegin(), backward.rend()}, kept), {request_.machine, given, kept}, &normed);
    std::reverse(plan_->skipped.begin(), plan_->skipped.end());
    for (const Op* op : normed) {
      plan_->skipped.push_back(
          {op, "by the kernels of the products that read it: they normalize rows as they load them"});
      kept.insert(op->outputs[0]);
    }
    if (!request_.every_node) return;
    for (const auto& [op, why] : patterns.part_of) kept.insert(op->outputs[0]);
    for (const Launch& l : plan_->run) {  // values between fused nodes are not stored
      if (!l.followers.empty()) kept.insert(l.op->outputs[0]);
      for (const Op* f : l.followers) {
        if (f != &l.last()) kept.insert(f->outputs[0]);
      }
    }
    for (const Op& op : plan_->ops) {
      for (const Value* v : op.outputs) {
        if (v && !op.moves_nothing() && !v->constant && kept.insert(v).second) plan_->outputs.push_back(v);
      }
    }
  }

  const Model& model_;
  const PlanRequest& request_;
  std::shared_ptr<Plan> plan_;
  int64_t opset_ = 0, planned_ = 0;
  const Op* placed_ = nullptr;  // the node that its own refusals name
  std::map<std::string, size_t> by_name_;
  std::map<const Value*, const Op*> made_by_;
  std::set<std::string> unknown_, used_dims_;
  std::vector<std::string> faults_, sizes_that_differ_;
  std::map<std::string, std::pair<int64_t, std::string>> dim_sizes_;  // by name: the size, and the input that set it
};

}  // namespace

std::shared_ptr<const TensorData> drawn(const Value& v, uint64_t seed) {
  TensorData t{v.type, v.shape, {}};
  const int64_t n = v.elements();
  if (n > 0) t.bytes = random_tensor(v.dtype(), Dims{n}, seed_for(seed, v.name));
  if (v.type == Type::boolean) {
    for (uint8_t& b : t.bytes) b &= 1;
  }
  return std::make_shared<const TensorData>(std::move(t));
}

std::shared_ptr<const Plan> plan_model(const Model& m, const PlanRequest& r) {
  return Planner(m, r).plan();
}

}  // namespace kernbench::onnx
