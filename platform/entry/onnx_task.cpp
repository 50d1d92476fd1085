// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/op/named_values.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/models/model_machine.h"
#include "kernbench/platform/onnx/graph_program.h"
#include "kernbench/platform/onnx/graph_report.h"
#include "kernbench/platform/onnx/reader.h"
#include "kernbench/platform/run/run.h"

namespace kernbench {
namespace {

using onnx::TensorData;
using Tensors = std::map<std::string, std::shared_ptr<const TensorData>>;

/// As that type, or as the file's type. InputError.
NpyArray array_of(const std::string& file, std::optional<DType> dtype = {}) {
  try {
    return dtype ? read_npy_as(file, *dtype) : read_npy(file);
  } catch (const NpyError& e) {
    throw InputError(e.what());
  }
}

/// FILE.pb, or FILE.npy with the tensor's type from the graph.
std::shared_ptr<const TensorData> tensor_of(const std::string& file, const onnx::Port* port) {
  if (std::filesystem::path(file).extension() != ".npy") {
    TensorData t = onnx::read_tensor(file);
    // ONNX's test suite stores bfloat16 as uint16.
    if (port && port->type == onnx::Type::bfloat16 && t.type == onnx::Type::uint16) t.type = port->type;
    return std::make_shared<const TensorData>(std::move(t));
  }
  const bool as_port = port && onnx::dtype_of(port->type).has_value();
  const NpyArray a = as_port ? array_of(file, onnx::dtype_of(port->type).value()) : array_of(file);
  TensorData t{as_port ? port->type : onnx::type_of(a.dtype), onnx::Shape(a.shape.begin(), a.shape.end()), a.bytes};
  if (t.type == onnx::Type::boolean) {
    for (uint8_t& b : t.bytes) b = b != 0;
  }
  return std::make_shared<const TensorData>(std::move(t));
}

const onnx::Port* port_of(const std::vector<onnx::Port>& ports, const std::string& name) {
  for (const onnx::Port& p : ports) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

/// input_0.pb, input_1.pb, … of a folder, for the ports that are no initializers, in order. Other numbers are errors.
Tensors numbered(const std::string& folder, const std::string& what, const std::vector<onnx::Port>& ports,
                 const onnx::Graph& graph) {
  Tensors all;
  size_t count = 0;
  const auto path_of = [&](size_t i) { return std::filesystem::path(folder) / fmt::format("{}_{}.pb", what, i); };
  for (const onnx::Port& p : ports) {
    if (what == "input" && graph.constants.count(p.name) > 0) continue;
    const auto file = path_of(count++);
    if (!std::filesystem::exists(file))
      throw InputError(fmt::format("--test-data: {} has no {}", folder, file.filename().string()));
    if (!onnx::dtype_of(p.type)) continue;  // the plan rejects it by name
    all[p.name] = tensor_of(file.string(), &p);
  }
  if (const auto more = path_of(count); std::filesystem::exists(more))
    throw InputError(
        fmt::format("--test-data: {} has {}, the model has {} {}s", folder, more.filename().string(), count, what));
  return all;
}

class OnnxRun : public OwnProgram {
 public:
  explicit OnnxRun(const spec::RunSpec& spec) : plan_wanted_(spec.flag("plan")) {
    model_ = onnx::read_model(spec.text("model"));
    request_.seed = spec.whole("seed");
    if (spec.given("test-data")) {
      const std::string folder = spec.text("test-data");
      if (!std::filesystem::is_directory(folder)) throw InputError("--test-data: " + folder + " is no folder");
      request_.inputs = numbered(folder, "input", model_.graph.inputs, model_.graph);
      expected_ = numbered(folder, "output", model_.graph.outputs, model_.graph);
    }
    for (const auto& [name, file] : spec.named("tensor"))
      request_.inputs[name] = tensor_of(file, port_of(model_.graph.inputs, name));
    for (const auto& [name, file] : spec.named("expected")) {
      expected_[name] = tensor_of(file, port_of(model_.graph.outputs, name));
      request_.wanted.insert(name);
    }
    for (const auto& [name, file] : spec.named("dump")) request_.wanted.insert(name);
    for (const auto& [name, text] : spec.named("dim")) request_.dims[name] = size_of_dim(name, text);
    request_.every_node = spec.flag("verify");
  }

  const ProgramSpec* make(Platform& platform, RunOptions* r) override {
    r->ranks = "1";
    const models::CubesOfRank shape = models::cubes_for(platform, *r);
    request_.machine = {shape.cubes, shape.pes};
    plan_ = onnx::plan_model(model_, request_);
    for (const auto& [name, value] : plan_->worked_out) expected_.emplace(name, value);
    r->tensors.clear();  // the plan has copied them
    r->expected.clear();
    tell_outputs(r);
    program_ = std::make_unique<onnx::GraphProgram>(
        model_.file, plan_, expected_, [&](DType dtype) { return models::peaks_for(platform, *r, dtype); });
    r->verify = r->verify || program_->verifies();
    return &program_->spec();
  }

  void finish(ProgramReport& p) override {
    p.run.model = onnx::graph_figures(*program_, p);
    for (const auto& [file, value] : without_elements_) write_npy(file, {value->dtype(), onnx::dims_of(*value), {}});
  }

  void write(std::ostream& out, const ProgramReport& p, bool json) const override {
    if (json) {
      write_graph_json(out, *program_, p);
    } else {
      write_graph_text(out, *program_, p, plan_wanted_);
    }
  }

 private:
  /// In the program a scalar is [1], and others may be matrices; an empty tensor has no counterpart.
  void tell_outputs(RunOptions* r) {
    for (const onnx::Value* v : plan_->outputs) {
      if (v->elements() > 0) {
        if (v->shape.size() <= kMaxRank) r->output_shapes[v->name] = v->shape.empty() ? Dims() : onnx::dims_of(*v);
        continue;
      }
      const auto of_value = [&](const auto& dump) { return dump.first == v->name; };
      for (const auto& dump : r->dumps) {
        if (of_value(dump)) without_elements_.emplace_back(dump.second, v);
      }
      r->dumps.erase(std::remove_if(r->dumps.begin(), r->dumps.end(), of_value), r->dumps.end());
    }
  }
  static int64_t size_of_dim(const std::string& name, const std::string& text) {
    char* end = nullptr;
    const long long n = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end || n < 0 || n > onnx::kMostElements)
      throw InputError("--dim " + name + ": found '" + text + "', expected a whole number");
    return n;
  }

  const bool plan_wanted_;
  onnx::Model model_;
  onnx::PlanRequest request_;
  Tensors expected_;
  std::shared_ptr<const onnx::Plan> plan_;
  std::vector<std::pair<std::string, const onnx::Value*>> without_elements_;  ///< files of dumps of such values
  std::unique_ptr<onnx::GraphProgram> program_;
};

}  // namespace

std::shared_ptr<OwnProgram> make_onnx_program(const spec::RunSpec& spec) {
  return std::make_shared<OnnxRun>(spec);
}

}  // namespace kernbench
