// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/onnx/control_flow.h"

#include <algorithm>
#include <optional>

namespace kernbench::onnx {
namespace {

constexpr int64_t kMostIterations = 4096;

const Graph& graph_of(const Node& n, const std::string& name) {
  const Attribute& a = attribute_of(n, name, AttributeType::graph);
  if (!a.g) throw Refusal("attribute " + name + " has no graph");
  return *a.g;
}

Node made(const std::string& op, std::vector<std::string> inputs, std::string output) {
  Node n;
  n.op = op;
  n.name = output;
  n.inputs = std::move(inputs);
  n.outputs = {std::move(output)};
  return n;
}

/// Maps a graph's names to names of the plan, also inside graphs of its nodes.
Node renamed(Node n, const Names& names);

/// Names that a graph defines itself shadow outer names.
std::shared_ptr<const Graph> renamed_outer(const Graph& g, const Names& outer) {
  auto copy = std::make_shared<Graph>(g);
  std::optional<Names> fewer;
  const auto hide = [&](const std::string& name) {
    if (outer.count(name) == 0) return;
    if (!fewer) fewer = outer;
    fewer->erase(name);
  };
  for (const Port& p : g.inputs) hide(p.name);
  for (const auto& [name, t] : g.constants) hide(name);
  for (const Node& n : g.nodes) {
    for (const std::string& name : n.outputs) hide(name);
  }
  const Names& names = fewer ? *fewer : outer;
  for (Node& n : copy->nodes) n = renamed(std::move(n), names);
  for (Port& p : copy->outputs) {
    if (const auto it = names.find(p.name); it != names.end()) p.name = it->second;
  }
  return copy;
}

Node renamed(Node n, const Names& names) {
  for (auto* all : {&n.inputs, &n.outputs}) {
    for (std::string& name : *all) {
      const auto it = names.find(name);
      if (it != names.end()) name = it->second;
    }
  }
  for (auto& [key, a] : n.attributes) {
    if (a.g) a.g = renamed_outer(*a.g, names);
  }
  return n;
}

/// Emits the graph's nodes with its inputs bound. Returns the names of its outputs.
std::vector<std::string> write_out(const Graph& g, const std::string& prefix, Names names, const Unrolling& u) {
  for (const auto& [name, t] : g.constants) {
    names[name] = prefix + name;
    u.constant(names[name], t);
  }
  for (const Node& n : g.nodes) {
    for (const std::string& name : n.outputs) {
      if (!name.empty()) names[name] = prefix + name;
    }
    Node copy = renamed(n, names);
    copy.name = prefix + n.name;
    u.emit(std::move(copy));
  }
  std::vector<std::string> outputs;
  for (const Port& p : g.outputs) {
    const auto it = names.find(p.name);
    outputs.push_back(it == names.end() ? p.name : it->second);
  }
  return outputs;
}

void rename_as(const std::string& from, const std::string& to, const Unrolling& u) {
  if (!to.empty()) u.emit(made("Identity", {from}, to));
}

bool truth(const std::string& name, const Unrolling& u) {
  const std::vector<int64_t> v = u.evaluate(name)->ints();
  if (v.size() != 1) throw Refusal("found a condition of " + std::to_string(v.size()) + " elements");
  return v[0] != 0;
}

/// Stacks values of one shape along a new axis.
void stack(const std::vector<std::string>& parts, int64_t axis, const std::string& to, const Unrolling& u) {
  if (to.empty()) return;
  if (parts.empty()) throw Refusal("the loop runs no iteration, so the shape of '" + to + "' is not known");
  Node all = made("Concat", {}, to);
  for (const std::string& part : parts) {
    Shape shape = u.value(part).shape;
    const auto rank = static_cast<int64_t>(shape.size()) + 1;
    if (axis < -rank || axis >= rank) throw Refusal("found a scan axis of " + std::to_string(axis));
    all.attributes["axis"].i = axis < 0 ? axis + rank : axis;
    shape.insert(shape.begin() + all.attributes["axis"].i, 1);
    const std::string row = part + "/row of " + to, dims = row + "/shape";
    u.constant(dims, std::make_shared<const TensorData>(TensorData::of_ints(shape, {rank})));
    u.emit(made("Reshape", {part, dims}, row));
    all.inputs.push_back(row);
  }
  u.emit(std::move(all));
}

void unroll_if(const Node& n, const Unrolling& u) {
  const std::string branch = truth(n.inputs.at(0), u) ? "then_branch" : "else_branch";
  const auto outputs = write_out(graph_of(n, branch), n.name + "/" + branch + "/", {}, u);
  if (outputs.size() != n.outputs.size()) throw Refusal("its branches have different numbers of outputs");
  for (size_t i = 0; i < outputs.size(); ++i) rename_as(outputs[i], n.outputs[i], u);
}

void unroll_loop(const Node& n, const Unrolling& u) {
  const Graph& body = graph_of(n, "body");
  const size_t carried = n.inputs.size() < 2 ? 0 : n.inputs.size() - 2;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1 ||
      body.outputs.size() != n.outputs.size() + 1)
    throw Refusal("its body has another number of inputs or outputs");
  const bool counted = !n.inputs.empty() && !n.inputs[0].empty();
  const int64_t trips = counted ? u.evaluate(n.inputs[0])->ints().at(0) : kMostIterations + 1;
  std::vector<std::string> state(n.inputs.begin() + (carried > 0 ? 2 : static_cast<std::ptrdiff_t>(n.inputs.size())),
                                 n.inputs.end());
  std::vector<std::vector<std::string>> scanned(body.outputs.size() - 1 - carried);
  const std::string condition = n.inputs.size() > 1 ? n.inputs[1] : "";
  bool goes_on = condition.empty() || truth(condition, u);
  for (int64_t i = 0; i < trips && goes_on; ++i) {
    if (i == kMostIterations) throw Refusal("it runs more than " + std::to_string(kMostIterations) + " iterations");
    const std::string prefix = n.name + "/" + std::to_string(i) + "/";
    Names names{{body.inputs[0].name, prefix + body.inputs[0].name},
                {body.inputs[1].name, prefix + body.inputs[1].name}};
    u.constant(names[body.inputs[0].name], std::make_shared<const TensorData>(TensorData::of_ints({i}, {})));
    u.constant(names[body.inputs[1].name],
               std::make_shared<const TensorData>(TensorData::of_ints({1}, {}, Type::boolean)));
    for (size_t k = 0; k < carried; ++k) names[body.inputs[k + 2].name] = state[k];
    const auto outputs = write_out(body, prefix, names, u);
    if (std::any_of(outputs.begin(), outputs.end(), u.is_refused)) throw Refusal("its body has an unsupported node");
    goes_on = truth(outputs[0], u);
    state.assign(outputs.begin() + 1, outputs.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(outputs[1 + carried + k]);
  }
  for (size_t k = 0; k < carried; ++k) rename_as(state[k], n.outputs[k], u);
  for (size_t k = 0; k < scanned.size(); ++k) stack(scanned[k], 0, n.outputs[carried + k], u);
}

/// An element of a list attribute, or its default if the list is left out.
int64_t listed(const Node& n, const char* name, size_t i) {
  if (n.attributes.count(name) == 0) return 0;
  const std::vector<int64_t>& all = attribute_of(n, name, AttributeType::integers).ints;
  return i < all.size() ? all[i] : 0;
}

void unroll_scan(const Node& n, int64_t opset, const Unrolling& u) {
  if (opset < 9) throw Refusal("its batches of opset 8 are not run");
  const Graph& body = graph_of(n, "body");
  const auto scans =
      static_cast<size_t>(std::max<int64_t>(0, attribute_of(n, "num_scan_inputs", AttributeType::integer).i));
  if (scans == 0 || scans > n.inputs.size() || body.inputs.size() != n.inputs.size() ||
      body.outputs.size() != n.outputs.size() || body.outputs.size() < n.inputs.size() - scans)
    throw Refusal("its body has another number of inputs or outputs");
  const size_t carried = n.inputs.size() - scans;
  std::vector<std::string> state(n.inputs.begin(), n.inputs.begin() + static_cast<std::ptrdiff_t>(carried));
  std::vector<std::vector<std::string>> scanned(body.outputs.size() - carried);
  int64_t steps = -1;
  std::vector<int64_t> axes;
  for (size_t k = 0; k < scans; ++k) {
    const Shape& shape = u.value(n.inputs[carried + k]).shape;
    const auto rank = static_cast<int64_t>(shape.size());
    int64_t axis = listed(n, "scan_input_axes", k);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) throw Refusal("found a scan axis of " + std::to_string(axis));
    if (steps >= 0 && steps != shape[static_cast<size_t>(axis)]) throw Refusal("its inputs have different lengths");
    steps = shape[static_cast<size_t>(axis)];
    axes.push_back(axis);
  }
  if (steps > kMostIterations) throw Refusal("it runs more than " + std::to_string(kMostIterations) + " iterations");
  for (int64_t i = 0; i < steps; ++i) {
    const std::string prefix = n.name + "/" + std::to_string(i) + "/";
    Names names;
    for (size_t k = 0; k < carried; ++k) names[body.inputs[k].name] = state[k];
    for (size_t k = 0; k < scans; ++k) {
      const std::string& name = body.inputs[carried + k].name;
      const int64_t at = listed(n, "scan_input_directions", k) == 1 ? steps - 1 - i : i;
      const std::string index = prefix + name + "/index";
      u.constant(index, std::make_shared<const TensorData>(TensorData::of_ints({at}, {})));
      Node row = made("Gather", {n.inputs[carried + k], index}, prefix + name);
      row.attributes["axis"].i = axes[k];
      names[name] = row.outputs[0];
      u.emit(std::move(row));
    }
    const auto outputs = write_out(body, prefix, names, u);
    if (std::any_of(outputs.begin(), outputs.end(), u.is_refused)) throw Refusal("its body has an unsupported node");
    state.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(carried));
    for (size_t k = 0; k < scanned.size(); ++k) scanned[k].push_back(outputs[carried + k]);
  }
  for (size_t k = 0; k < carried; ++k) rename_as(state[k], n.outputs[k], u);
  for (size_t k = 0; k < scanned.size(); ++k) {
    if (listed(n, "scan_output_directions", k) == 1) std::reverse(scanned[k].begin(), scanned[k].end());
    stack(scanned[k], listed(n, "scan_output_axes", k), n.outputs[carried + k], u);
  }
}

}  // namespace

bool is_control_flow(const Node& n) {
  return n.domain.empty() && (n.op == "If" || n.op == "Loop" || n.op == "Scan");
}

void unroll(const Node& n, int64_t opset, const Unrolling& u) {
  check_form(n, opset,
             n.op == "If"     ? "1 else_branch then_branch"
             : n.op == "Loop" ? "many body"
                              : "many body directions<9 num_scan_inputs scan_input_axes scan_input_directions "
                                "scan_output_axes scan_output_directions");
  if (n.op == "If") return unroll_if(n, u);
  if (n.op == "Loop") return unroll_loop(n, u);
  unroll_scan(n, opset, u);
}

}  // namespace kernbench::onnx
