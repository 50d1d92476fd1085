// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/host_program.h"

#include <algorithm>

#include "kernbench/platform/elaborate/run_watch.h"
#include "kernbench/platform/elaborate/simulation.h"
#include "kernbench/platform/elaborate/stopped.h"
#include "kernbench/platform/host/program.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/record/advice.h"
#include "kernbench/platform/run/run_parts.h"

namespace kernbench {
namespace {

/// A run in steps, like KernelRun of run.cpp: placement and log, phase 1, times, phase 2.
class ProgramRun : public LoggedRun {
 public:
  ProgramRun(Platform& platform, RunOptions options)
      : LoggedRun(platform, std::move(options)),
        spec_(named_program(o_)),
        params_(program_params(spec_, o_.params)),
        program_(platform, spec_, params_, o_, context_options()) {}

  ProgramReport run() {
    place_inputs();
    attach_logs(spec_.materializes, placed());
    simulate();
    report_times();
    if (o_.check_races) report_races(report_.run);
    if (replayed()) compute_outputs();
    report_.run.wall_s = wall_s();
    return std::move(report_);
  }

 private:
  static ProgramSpec named_program(const RunOptions& o) {
    const ProgramSpec& spec = o.own_program ? *o.own_program : ProgramRegistry::instance().at(o.program);
    check_names("program " + spec.name, spec.tensor_specs(), o);
    return with_optional(spec, [&](const std::string& name) { return names_tensor(o, name); });
  }
  host::ContextOptions context_options() {
    return {o_.launch, o_.timed_transfer, o_.addresses, o_.check_races ? &history_ : nullptr,
            [this](const ProgramTensor& t) { place_input(t); }};
  }

  void place_inputs();
  void place_input(const ProgramTensor&);
  std::vector<PlacedTensor> placed();
  void simulate();
  void report_times();
  void compute_outputs();
  void verify_outputs(const TensorMap& outputs, const MemoryImage&);

  const ProgramSpec spec_;  ///< without optional tensors that are absent
  const Params params_;
  host::Program program_;
  TensorMap inputs_;
  ProgramReport report_;
};

void ProgramRun::place_inputs() {
  if (o_.addresses == AddressMode::virtual_) require_mmus(platform_, program_.context().pes().pes);
  settle_judge("program " + spec_.name, spec_.reference, spec_.tensor_specs(), params_);
  for (const ProgramTensor& t : spec_.tensors) {
    if (!t.late) place_input(t);
  }
}

void ProgramRun::place_input(const ProgramTensor& t) {
  const bool computes = replayed() || o_.log || o_.memory_file || spec_.materializes;
  if (t.may_be_zeros && !computes && t.is_input() && !given(o_.tensors, t.name)) {
    if (!begun_) program_.context().place_zeros(t.name);  // later no reader sees what lies there
    return;
  }
  const host::LayoutLevel::Kind over_ranks = program_.context().places(t.name).layout().rank().kind;
  const auto source = element_source(t, params_, o_);
  if (source && !verified() && (program_.context().num_ranks() == 1 || over_ranks == host::LayoutLevel::Kind::shard)) {
    program_.context().place(t.name, *source);
    return;
  }
  for (auto& [name, value] : make_inputs({&t}, params_, o_)) {
    program_.context().place(name, value);
    if (verified()) inputs_[name] = std::move(value);  // else it is not needed, and a layer's weights are large
  }
}

std::vector<PlacedTensor> ProgramRun::placed() {
  std::vector<PlacedTensor> all;
  for (const ProgramTensor& t : spec_.tensors) {
    if (t.late) continue;
    const host::TensorPlaces& places = program_.context().places(t.name);
    if (!places.layout().partial()) all.push_back(places.placed(t.is_output()));
  }
  return all;
}

void ProgramRun::simulate() {
  const auto start = Clock::now();
  begun_ = true;
  program_.start(true);
  {
    const RunWatch::Call call(platform_.machine().runs());
    kernbench::simulate();
  }
  report_.run.phase1_s = seconds_since(start);
  throw_if_stopped(platform_.machine());
  const auto& times = program_.context().pe_times();
  const auto launched = std::count_if(times.begin(), times.end(), [](const auto& t) { return t.launched; });
  close_logs(program_.context().end_ns(), static_cast<size_t>(launched));
  report_.run.energy = energy_;
  program_.check();
}

void ProgramRun::report_times() {
  const host::Context& context = program_.context();
  report_.run.kernel = spec_.name;
  report_.run.topology = platform_.graph().name;
  for (const auto& [name, value] : params_.values()) report_.run.params.emplace_back(name, to_text(value));
  report_.run.launch = name_of(context.launch_mode());
  report_.run.launch_note = context.launch_note();
  report_.run.timed_transfer = o_.timed_transfer;
  report_.run.addresses = o_.addresses;
  report_.run.end_ns = context.end_ns();
  report_.ranks = context.num_ranks();
  report_.tensors = context.most_stored();
  report_.ops.assign(context.streams().operations().begin(), context.streams().operations().end());
  std::vector<size_t> launched;
  for (size_t i = 0; i < context.pes().pes.size(); ++i) {
    const host::Context::PeTimes& t = context.pe_times()[i];
    if (!t.launched) continue;
    launched.push_back(context.pes().pes[i]);
    report_.run.pes.push_back({platform_.graph().pes[launched.back()].id, t.start_ns, t.end_ns, t.scalar_ns});
  }
  report_.run.engines = engine_reports(platform_, launched, report_.run.end_ns);
  report_.run.queues = queue_traffic(platform_, launched);
  report_.run.memories = memory_reports(platform_);
  report_.run.notes = engine_notes(platform_, launched);
  log_notes(report_.run);
  report_.run.events = platform_.timeline().events();
  std::vector<TimedLaunch> launches;
  for (const host::Operation& op : report_.ops) {
    if (op.kind != host::Operation::Kind::launch || op.open > 0) continue;
    launches.push_back({op.name + " at " + to_string(op.where), op.notes,
                        *std::max_element(op.end_ns.begin(), op.end_ns.end()) - op.start_ns});
  }
  report_.run.advice = advice_of(launches);
}

/// Phase 2: writes the program's outputs to files and verifies them.
void ProgramRun::compute_outputs() {
  const ReplayResult result = replay_log(report_.run);
  TensorMap outputs;
  for (const ProgramTensor& t : spec_.tensors) {
    if (t.is_output()) outputs[t.name] = program_.context().places(t.name).read_back(result.memory);
  }
  for (const auto& [name, shape] : o_.output_shapes) outputs.at(name).shape = shape;
  write_outputs(outputs);
  if (verified()) verify_outputs(outputs, result.memory);
}

void ProgramRun::verify_outputs(const TensorMap& outputs, const MemoryImage& memory) {
  report_.run.verified = true;
  for (const auto& [name, expected] : judge(spec_.reference, params_, inputs_)) {
    const HostTensor& value = outputs.at(name);
    TensorReport t = verify(name, value.dtype, value.shape, value.bytes.data(), expected);
    const std::string unlike = program_.context().places(name).unlike_copies(memory);
    if (t.passed && !unlike.empty()) {
      t.passed = false;
      t.reason = unlike;
    }
    report_.run.passed = report_.run.passed && t.passed;
    report_.run.tensors.push_back(std::move(t));
  }
}

}  // namespace

ProgramReport run_program(Platform& platform, RunOptions o) {
  return LoggedRun::run_or_leave(std::make_shared<ProgramRun>(platform, std::move(o)));
}

}  // namespace kernbench
