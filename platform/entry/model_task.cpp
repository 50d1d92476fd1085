// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>

#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/energy/meter.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/models/expert_layer.h"
#include "kernbench/platform/models/model_file.h"
#include "kernbench/platform/models/model_machine.h"
#include "kernbench/platform/models/model_report.h"
#include "kernbench/platform/onnx/reader.h"
#include "kernbench/platform/run/run.h"

namespace kernbench {
namespace {

using spec::RunSpec;

DType dtype_of(const RunSpec& spec, const models::ModelSpec& m) {
  const std::string name = spec.text("dtype");
  for (const DType t : {DType::f32, DType::f16, DType::bf16}) {
    if (name_of(t) == name) return t;
  }
  return m.dtype;
}

/// The type from --weights, --kv or --activations, else from the model's field of that name. Types of more than 8 bits
/// must equal --dtype, because products mix no wide types.
DType type_beside(const RunSpec& spec, const models::ModelSpec& m, const char* option, const std::string& word,
                  DType dtype) {
  const std::string name = spec.given(option) ? spec.text(option) : word;
  if (name.empty()) return dtype;
  const DType type = *parse_dtype(name == "f8" ? "f8e4m3" : name);
  if (type != dtype && size_of(type) > 1)
    throw InputError(fmt::format("{}{}: found {} beside --dtype {}; legal beside it: {}, or a type of 8 bits or less",
                                 spec.given(option) ? "--" : m.file + ": ", option, name, name_of(dtype),
                                 name_of(dtype)));
  return type;
}

std::vector<int64_t> numbers_of(const std::string& option, const std::string& text) {
  std::vector<int64_t> all;
  for (const std::string& word : parts_between(',', text)) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size())
      throw InputError(fmt::format("{}: found {}, expected numbers as 0,2,1,3", option, in_quotes(word)));
    all.push_back(number);
  }
  return all;
}

models::Plan plan_of(const RunSpec& spec, const models::ModelSpec& m, Told& tell) {
  models::Plan p;
  for (const std::string& text : spec.list("phase")) p.phases.push_back(models::parse_phase(text));
  if (p.phases.empty())
    p.phases.push_back(models::parse_phase("prefill:" + std::to_string(std::min<int64_t>(512, m.positions))));
  p.expert_groups = static_cast<int64_t>(spec.whole("ep"));
  p.ranks = static_cast<int64_t>(spec.whole("tp")) * p.expert_groups;
  if (spec.given("expert-order")) p.expert_order = numbers_of("--expert-order", spec.text("expert-order"));
  p.routed = spec.text("routing") == "top_k";
  p.stages = static_cast<int64_t>(spec.whole("pp"));
  p.layers = m.layers;
  if (spec.given("layers")) p.layers = static_cast<int64_t>(spec.whole("layers"));
  if (p.layers > m.layers)
    throw InputError("--layers: found " + spec.text("layers") + ", the model has " + std::to_string(m.layers));
  p.repeat = spec.flag("repeat");
  p.dtype = dtype_of(spec, m);
  p.weights = type_beside(spec, m, "weights", m.weights, p.dtype);
  p.kv = type_beside(spec, m, "kv", m.kv, p.dtype);
  p.activations = type_beside(spec, m, "activations", m.activations, p.dtype);
  if (spec.given("kv") &&
      std::none_of(p.phases.begin(), p.phases.end(), [](const auto& f) { return f.has_sequences(); }))
    tell("kernbench: warning: --kv: a prefill has no cache; the option has no effect without a decode or mixed phase");
  if (spec.given("verify-layer")) {
    if (spec.given("layers") || p.repeat)
      throw InputError("--verify-layer: simulates one layer only; found --layers or --repeat with it");
    p.only_layer = static_cast<int64_t>(std::min<uint64_t>(spec.whole("verify-layer"), INT64_MAX));
  }
  models::check_plan(m, p);
  return p;
}

/// Whether the model's name is that of an ONNX graph. InputError for an option that only applies to the other kind.
bool is_onnx(const RunSpec& spec) {
  const bool onnx = std::filesystem::path(spec.text("model")).extension() == ".onnx";
  for (const char* option : {"dim", "test-data", "plan"}) {
    if (!onnx && spec.given(option)) throw InputError("--" + std::string(option) + ": is of ONNX graphs, FILE.onnx");
  }
  for (const char* option : {"phase", "layers", "repeat", "verify-layer", "dtype", "weights", "kv", "activations", "tp",
                             "pp", "ep", "expert-order", "routing"}) {
    if (onnx && spec.given(option))
      throw InputError("--" + std::string(option) + ": is of decoders; found an ONNX graph");
  }
  return onnx;
}

class Model : public OwnProgram {
 public:
  Model(models::ModelSpec model, models::Plan plan, bool verify)
      : model_(std::move(model)), plan_(std::move(plan)), verify_(verify) {}

  const ProgramSpec* make(Platform& platform, RunOptions* r) override {
    r->verify = r->verify || verify_;
    const models::ModelMachine machine = machine_for(platform, model_, plan_, r);
    program_ = std::make_unique<models::ModelProgram>(model_, plan_, machine.pes_of_rank);
    check_given_choices(*r);
    program_->take_files({r->tensors.begin(), r->tensors.end()});
    capacity_ = place_to_fit(program_.get(), machine.room);
    peaks_ = machine.peaks;
    return capacity_.fits() ? &program_->spec() : nullptr;
  }

  void measure(ProgramReport& p, const energy::Meter* meter) const override {
    if (!capacity_.fits()) return;
    p.run.repeated = models::repeated_parts(*program_, p);
    for (const RunReport::Repeated& part : p.run.repeated)
      p.run.repeated_joules += meter ? (part.times - 1) * meter->joules_between(part.from_ns, part.to_ns) : 0;
  }

  void finish(ProgramReport& p) override {
    report_ = capacity_.fits() ? report_of(*program_, capacity_, peaks_, p) : report_of(*program_, capacity_);
    if (capacity_.fits()) p.run.model = model_figures(report_);
  }

  std::vector<std::pair<std::string, std::string>> better() const override {
    const std::vector<int64_t> order = program_->even_order();
    if (order.empty()) return {};
    return {{"expert-order", fmt::format("{}", fmt::join(order, ","))}};
  }

  void write(std::ostream& out, const ProgramReport& p, bool json) const override {
    (json ? models::write_model_json : models::write_model_text)(out, report_, p);
  }

 private:
  /// Checked before anything runs; otherwise a kernel would report the error during the run.
  void check_given_choices(const RunOptions& r) const {
    for (const auto& [name, file] : r.tensors) {
      const ProgramTensor* t = program_->spec().tensor(name);
      if (t == nullptr || name.find(".choice") == std::string::npos) continue;
      const Params none;
      const NpyArray a = read_npy_tensor(file, name, t->dtype(none), t->shape(none));
      HostTensor value(a.dtype, a.shape);
      value.bytes = a.bytes;
      models::check_choices("--tensor " + name + ": " + file, value, model_.experts);
    }
  }

  const models::ModelSpec model_;
  const models::Plan plan_;
  const bool verify_;
  std::unique_ptr<models::ModelProgram> program_;
  models::Capacity capacity_;
  models::Peaks peaks_;
  models::ModelReport report_;
};

}  // namespace

std::set<std::string> external_files([[maybe_unused]] const std::string& model) {
#ifndef KERNBENCH_WITHOUT_ONNX
  if (std::filesystem::path(model).extension() == ".onnx" && std::filesystem::is_regular_file(model))
    return onnx::external_files(model);
#endif
  return {};
}

ModelOfSpec model_of(const RunSpec& spec, Told& tell) {
  if (std::filesystem::path(spec.text("model")).extension() == ".onnx")
    throw InputError("--model: found an ONNX graph; requests need a decoder");
  const models::ModelSpec model = models::read_model(spec.text("model"));
  return {model, plan_of(spec, model, tell)};
}

std::shared_ptr<OwnProgram> make_model_program(const RunSpec& spec, Told& tell) {
  if (is_onnx(spec)) {
#ifdef KERNBENCH_WITHOUT_ONNX
    throw InputError(spec.text("model") + ": this kernbench was built without Protocol Buffers, no ONNX");
#else
    return make_onnx_program(spec);
#endif
  }
  const models::ModelSpec model = models::read_model(spec.text("model"));
  return std::make_shared<Model>(model, plan_of(spec, model, tell), spec.given("verify-layer"));
}

}  // namespace kernbench
