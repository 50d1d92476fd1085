#include "kernbench/platform/tools/host_program.h"

#include <chrono>
#include <optional>

#include "kernbench/phase2/check/reference_check.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/host/program.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/run_parts.h"

namespace kernbench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

/// One run, step by step, as KernelRun of run.cpp: what is placed and logged, Phase 1, its times, Phase 2.
class ProgramRun {
 public:
  ProgramRun(Platform& platform, RunOptions options)
      : platform_(platform),
        o_(std::move(options)),
        spec_(named_program(o_)),
        params_(program_params(spec_, o_.params)),
        program_(platform, spec_, params_, o_, context_options()),
        records_(o_.debug_verify) {}

  ProgramReport run() {
    place_inputs();
    attach_logs();
    simulate();
    report_times();
    if (o_.check_races) {
      report_.run.races_checked = true;
      report_.run.races = find_races(history_);
      for (const auto& pe : platform_.graph().pes) report_.run.pe_names.push_back(pe.id);
    }
    if (replayed()) compute_outputs();
    report_.run.wall_s = seconds_since(begin_);
    return std::move(report_);
  }

 private:
  static const ProgramSpec& named_program(const RunOptions& o) {
    const ProgramSpec& spec = ProgramRegistry::instance().at(o.program);
    check_names("program " + spec.name, spec.tensor_specs(), o);
    return spec;
  }
  host::ContextOptions context_options() {
    return {o_.launch, o_.timed_transfer, o_.addresses, o_.check_races ? &history_ : nullptr};
  }
  bool verified() const { return o_.verify || o_.debug_verify; }
  bool replayed() const { return verified() || !o_.dumps.empty(); }

  void place_inputs();
  void attach_logs();
  void simulate();
  void report_times();
  void compute_outputs();
  void verify_outputs(const TensorMap& outputs, const MemoryImage&);

  const Clock::time_point begin_ = Clock::now();
  Platform& platform_;
  RunOptions o_;
  CommandHistory history_;
  const ProgramSpec& spec_;
  const Params params_;
  host::Program program_;
  TensorMap inputs_;
  MemoryImage at_start_;
  std::unique_ptr<MemoryFileWriter> memory_;
  ReplayLog records_;
  std::optional<TeeLog> tee_;
  ProgramReport report_;
};

void ProgramRun::place_inputs() {
  if (o_.addresses == AddressMode::virtual_) require_mmus(platform_, program_.context().pes().pes);
  inputs_ = make_inputs(spec_.tensor_specs(), params_, o_);
  for (const auto& [name, value] : inputs_) program_.context().place(name, value);
}

void ProgramRun::attach_logs() {
  if (spec_.materializes || platform_.system().pending_values()) platform_.system().keep_pending_values(o_.isa);
  at_start_ = platform_.system().image().snapshot();
  if (!o_.memory_file.empty()) memory_ = std::make_unique<MemoryFileWriter>(o_.memory_file, at_start_);
  // The memory file first: a log that says it is complete has a complete memory file beside it.
  tee_.emplace(std::initializer_list<OpLogSink*>{memory_.get(), o_.log.get(), replayed() ? &records_ : nullptr});
  for (const ProgramTensor& t : spec_.tensors) {
    const host::TensorPlaces& places = program_.context().places(t.name);
    if (!places.layout().partial()) o_.header.tensors.push_back(places.placed(t.role == TensorSpec::Role::out));
  }
  tee_->begin(o_.header);
  if (!tee_->empty() || o_.number_ops) platform_.attach_log(&*tee_);
  if (o_.check_races) platform_.pes().attach_history(history_);
}

void ProgramRun::simulate() {
  const auto start = Clock::now();
  program_.start();
  sc_core::sc_start();
  report_.run.phase1_s = seconds_since(start);
  if (!tee_->failure().empty()) throw RunError(tee_->failure());
  tee_->close();
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
  report_.ops.assign(context.streams().operations().begin(), context.streams().operations().end());
  std::vector<size_t> launched;
  for (size_t i = 0; i < context.pes().pes.size(); ++i) {
    const host::Context::PeTimes& t = context.pe_times()[i];
    if (!t.launched) continue;
    launched.push_back(context.pes().pes[i]);
    report_.run.pes.push_back({platform_.graph().pes[launched.back()].id, t.start_ns, t.end_ns, t.scalar_ns});
  }
  report_.run.engines = engine_reports(platform_, launched, report_.run.end_ns);
  report_.run.notes = engine_notes(platform_, launched);
  report_.run.events = platform_.timeline().events();
}

/// Phase 2: what the program made, into files and before the judge.
void ProgramRun::compute_outputs() {
  const auto start = Clock::now();
  ReplayOptions options;
  options.threads = o_.threads;
  options.isa = o_.isa;
  options.progress = o_.on_replay_progress;
  if (o_.debug_verify) options.check = reference_check(o_.header.pes);
  const ReplayResult result = replay(records_.records(), at_start_, options);
  report_.run.phase2_s = seconds_since(start);
  TensorMap outputs;
  for (const ProgramTensor& t : spec_.tensors) {
    if (t.role == TensorSpec::Role::out) outputs[t.name] = program_.context().places(t.name).read_back(result.memory);
  }
  if (!o_.corrupt.empty()) {
    for (uint8_t& b : outputs.at(o_.corrupt).bytes) b ^= 0x5a;
  }
  for (const auto& [name, file] : o_.dumps) {
    const HostTensor& t = outputs.at(name);
    write_npy(file, t.dtype, t.shape, t.bytes.data());
  }
  if (verified()) verify_outputs(outputs, result.memory);
}

void ProgramRun::verify_outputs(const TensorMap& outputs, const MemoryImage& memory) {
  report_.run.verified = true;
  const auto expected = spec_.reference(params_, inputs_);
  for (const auto& [name, value] : outputs) {
    TensorReport t = verify(name, value.dtype, value.shape, value.bytes.data(), reference_values(expected.at(name)));
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
  return ProgramRun(platform, std::move(o)).run();
}

}  // namespace kernbench
