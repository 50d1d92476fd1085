#include "kernbench/platform/tools/run.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>

#include "kernbench/kernel_api/context.h"
#include "kernbench/phase2/check/reference_check.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/oplog_json.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/host_run.h"
#include "kernbench/platform/launch/launch_preparation.h"
#include "kernbench/platform/launch/launch_queues.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/run_parts.h"

namespace kernbench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

/// One run, step by step: what is placed and logged, Phase 1, its times, Phase 2.
class KernelRun {
 public:
  KernelRun(Platform& platform, RunOptions options)
      : platform_(platform),
        o_(std::move(options)),
        spec_(named_kernel(o_)),
        pes_(choose_pes(platform.machine(), o_)),
        programs_(programs_of(platform.machine(), pes_)),
        prepared_(prepare_launch(platform.machine(), spec_, kernel_params(spec_, o_.params), pes_,
                                 programs_.front().launch)),
        params_(prepared_.params),
        way_(choose_launch_way(platform, o_)),
        records_(o_.debug_verify) {}

  RunReport run() {
    place_inputs();
    attach_logs();
    const HostOutcome host = simulate_launch();
    report_times(host);
    if (o_.check_races) report_races();
    if (replayed()) compute_outputs();
    report_.wall_s = seconds_since(begin_);
    return std::move(report_);
  }

 private:
  static const KernelSpec& named_kernel(const RunOptions& o) {
    const KernelSpec& spec = KernelRegistry::instance().at(o.kernel);
    check_names("kernel " + spec.name, tensors_of(spec), o);
    return spec;
  }
  static std::vector<const TensorSpec*> tensors_of(const KernelSpec& spec) {
    std::vector<const TensorSpec*> v;
    for (const TensorSpec& t : spec.tensors) v.push_back(&t);
    return v;
  }
  bool verified() const { return o_.verify || o_.debug_verify; }
  bool replayed() const { return verified() || !o_.dumps.empty(); }

  void place_inputs();
  void attach_logs();
  HostPlan host_plan();
  void map_tensors(HostPlan&);
  HostOutcome simulate_launch();
  void report_times(const HostOutcome&);
  void report_races();
  void compute_outputs();
  void verify_outputs(const TensorMap& outputs);

  const Clock::time_point begin_ = Clock::now();
  Platform& platform_;
  RunOptions o_;
  const KernelSpec& spec_;
  const std::vector<size_t> pes_;
  const std::vector<tl::Program> programs_;
  const PreparedLaunch prepared_;
  const Params& params_;
  LaunchWay way_;
  std::optional<Deployment> deployment_;
  std::optional<LaunchQueues> queues_;
  TensorMap inputs_;
  MemoryImage at_start_;
  std::unique_ptr<MemoryFileWriter> memory_;
  ReplayLog records_;
  std::optional<TeeLog> tee_;
  CommandHistory history_;
  RunReport report_;
};

void KernelRun::place_inputs() {
  if (o_.addresses == AddressMode::virtual_) require_mmus(platform_, pes_);
  // Before the inputs are made: it knows what does not fit.
  deployment_.emplace(platform_.machine(), platform_.hosts().allocators(), spec_, params_, pes_, o_.addresses);
  queues_.emplace(platform_.machine(), platform_.hosts().allocators(), spec_, params_, *programs_.front().launch, pes_);
  inputs_ = make_inputs(tensors_of(spec_), params_, o_);
  for (const auto& [name, value] : inputs_) deployment_->upload(name, value);
}

void KernelRun::attach_logs() {
  if (spec_.materializes || platform_.system().pending_values()) platform_.system().keep_pending_values(o_.isa);
  at_start_ = platform_.system().image().snapshot();
  if (!o_.memory_file.empty()) memory_ = std::make_unique<MemoryFileWriter>(o_.memory_file, at_start_);
  // The memory file first: a log that says it is complete has a complete memory file beside it.
  tee_.emplace(std::initializer_list<OpLogSink*>{memory_.get(), o_.log.get(), replayed() ? &records_ : nullptr});
  o_.header.tensors = deployment_->placed();
  tee_->begin(o_.header);
  if (!tee_->empty() || o_.number_ops) platform_.attach_log(&*tee_);
  if (o_.check_races) platform_.pes().attach_history(history_);
}

/// What the host does: the launch, and the transfers that take time.
HostPlan KernelRun::host_plan() {
  HostPlan plan;
  plan.way = way_;
  plan.launch.pes = pes_;
  plan.launch.ports = queues_->ports();
  plan.launch.kernel = [this](size_t i) {
    return [this, i](PeBackend& backend) {
      tl::Context context(backend, programs_[i]);
      spec_.function(context, deployment_->args(i));
      context.finish();  // loads and composites that nobody waited for are checked too
    };
  };
  for (const TensorSpec& t : spec_.tensors) {
    if (!o_.timed_transfer) break;
    for (const Deployment::Range& r : deployment_->ranges(t.name)) {
      if (t.role == TensorSpec::Role::in) {
        plan.uploads.push_back({{}, r.address, r.nbytes});
      } else {
        plan.downloads.push_back({{}, r.address, r.nbytes});
      }
    }
  }
  map_tensors(plan);
  return plan;
}

/// By messages of the host where transfers take time, else at once.
void KernelRun::map_tensors(HostPlan& plan) {
  const bool timed_maps = o_.timed_transfer && o_.addresses == AddressMode::virtual_;
  std::vector<size_t> mapped_pes;  // the others know physical addresses only
  std::copy_if(pes_.begin(), pes_.end(), std::back_inserter(mapped_pes),
               [&](size_t p) { return platform_.pes().pe(p).mmu; });
  for (const auto& mapping : deployment_->mappings()) {
    if (timed_maps) {
      plan.maps.push_back({{}, mapping});
      continue;
    }
    const HostResponse r = HostMmu::map_now(platform_.machine(), {{}, mapping}, mapped_pes);
    if (!r.ok()) throw RunError(r.text);
  }
}

HostOutcome KernelRun::simulate_launch() {
  HostPlan plan = host_plan();
  const auto start = Clock::now();
  HostOutcome host = simulate(platform_.hosts().launch_host(), std::move(plan));
  report_.phase1_s = seconds_since(start);
  if (!tee_->failure().empty()) throw RunError(tee_->failure());
  tee_->close();
  if (!host.fault.empty()) throw RunError(host.fault);
  if (!platform_.system().fault().empty()) throw RunError(platform_.system().fault());
  if (!host.complete) throw_nothing_can_move(platform_);
  return host;
}

void KernelRun::report_times(const HostOutcome& host) {
  report_.kernel = spec_.name;
  report_.topology = platform_.graph().name;
  report_.launch_notes = prepared_.notes;
  for (const auto& [name, value] : params_.values()) report_.params.emplace_back(name, to_text(value));
  for (size_t i = 0; i < pes_.size(); ++i) {
    const KernelRunner::Outcome& pe = host.launch.outcomes[i];
    report_.pes.push_back({platform_.graph().pes[pes_[i]].id, pe.start_ns, pe.end_ns, pe.scalar_ns});
  }
  report_.launch = name_of(way_.mode);
  report_.launch_note = way_.note;
  report_.timed_transfer = o_.timed_transfer;
  report_.addresses = o_.addresses;
  report_.map_ns = host.map_ns;
  report_.upload_ns = host.upload_ns;
  report_.download_ns = host.download_ns;
  report_.start_ns = host.launch.start_ns;
  report_.end_ns = host.end_ns;
  report_.engines = engine_reports(platform_, pes_, report_.end_ns);
  report_.notes = engine_notes(platform_, pes_);
  report_.events = platform_.timeline().events();
}

void KernelRun::report_races() {
  report_.races_checked = true;
  report_.races = find_races(history_);
  for (const auto& pe : platform_.graph().pes) report_.pe_names.push_back(pe.id);
}

/// Phase 2: what the run made, into files and before the judge.
void KernelRun::compute_outputs() {
  const auto start = Clock::now();
  ReplayOptions options;
  options.threads = o_.threads;
  options.isa = o_.isa;
  options.progress = o_.on_replay_progress;
  if (o_.debug_verify) options.check = reference_check(o_.header.pes);
  const ReplayResult result = replay(records_.records(), at_start_, options);
  report_.phase2_s = seconds_since(start);
  TensorMap outputs;
  for (const TensorSpec& t : spec_.tensors) {
    if (t.role == TensorSpec::Role::out) outputs[t.name] = deployment_->read_back(t.name, result.memory);
  }
  if (!o_.corrupt.empty()) {
    for (uint8_t& b : outputs.at(o_.corrupt).bytes) b ^= 0x5a;
  }
  for (const auto& [name, file] : o_.dumps) {
    const HostTensor& t = outputs.at(name);
    write_npy(file, t.dtype, t.shape, t.bytes.data());
  }
  if (verified()) verify_outputs(outputs);
}

void KernelRun::verify_outputs(const TensorMap& outputs) {
  report_.verified = true;
  const auto expected = spec_.reference(params_, inputs_);
  for (const auto& [name, value] : outputs) {
    report_.tensors.push_back(
        verify(name, value.dtype, value.shape, value.bytes.data(), reference_values(expected.at(name))));
    report_.passed = report_.passed && report_.tensors.back().passed;
  }
}

}  // namespace

LaunchWay choose_launch_way(Platform& platform, const RunOptions& o) {
  try {
    return choose_launch_way(platform.hosts().launch_host(), choose_pes(platform.machine(), o), o.launch);
  } catch (const HostPathError& e) {
    throw InputError(std::string("--launch host: ") + e.what());
  }
}

RunReport run_kernel(Platform& platform, RunOptions o) {
  return KernelRun(platform, std::move(o)).run();
}

}  // namespace kernbench
