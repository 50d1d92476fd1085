// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/run.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>

#include "kernbench/kernel_api/context.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/text_stream.h"
#include "kernbench/platform/elaborate/deadlock.h"
#include "kernbench/platform/elaborate/stopped.h"
#include "kernbench/platform/launch/host_run.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/launch/launch_preparation.h"
#include "kernbench/platform/launch/launch_queues.h"
#include "kernbench/platform/launch/pe_selection.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/record/advice.h"
#include "kernbench/platform/run/record/figures.h"
#include "kernbench/platform/run/run_parts.h"
#include "kernbench/platform/run/wiring_view.h"

namespace kernbench {

namespace {

/// A run in steps: placement and log, phase 1, times, phase 2.
class KernelRun : public LoggedRun {
 public:
  KernelRun(Platform& platform, RunOptions options)
      : LoggedRun(platform, std::move(options)),
        spec_(named_kernel(o_)),
        pes_(choose_pes(platform.machine(), o_)),
        programs_(programs_of(platform.machine(), pes_)),
        prepared_(
            prepare_launch(platform.machine(), spec_, kernel_params(spec_, o_.params), pes_, programs_.front().launch)),
        params_(prepared_.params),
        way_(choose_launch_way(platform, o_)) {
    if (!o_.wiring_file.empty()) draw_wiring();
    begin_ns_ = platform_.timeline().now_ns();
    events_before_ = platform_.timeline().events();
    if (begin_ns_ == 0) return;
    engines_before_ = engine_reports(platform_, pes_, begin_ns_);
    memories_before_ = memory_reports(platform_);
    queues_before_ = queue_traffic(platform_, pes_);
  }
  ~KernelRun() {
    try {
      unmap_tensors();
    } catch (const std::bad_alloc&) {
      // The ranges stay mapped; a later run with the same ranges would get an error.
    }
  }

  RunReport run() {
    place_inputs();
    attach_logs(spec_.materializes, deployment_->placed());
    const HostOutcome host = simulate_launch();
    report_times(host);
    if (o_.check_races) report_races(report_);
    if (replayed()) compute_outputs();
    report_.wall_s = wall_s();
    return std::move(report_);
  }

 private:
  static KernelSpec named_kernel(const RunOptions& o) {
    const KernelSpec& spec = KernelRegistry::instance().at(o.kernel);
    check_names("kernel " + spec.name, tensors_of(spec), o);
    return with_optional(spec, [&](const std::string& name) { return names_tensor(o, name); });
  }
  static std::vector<const TensorSpec*> tensors_of(const KernelSpec& spec) {
    std::vector<const TensorSpec*> v;
    for (const TensorSpec& t : spec.tensors) v.push_back(&t);
    return v;
  }

  void draw_wiring() const;
  void place_inputs();
  HostPlan host_plan();
  void map_tensors(HostPlan&);
  std::vector<size_t> mapped_pes() const;
  void unmap_tensors();
  HostOutcome simulate_launch();
  void report_times(const HostOutcome&);
  void compute_outputs();
  void verify_outputs(const TensorMap& outputs);

  const KernelSpec spec_;  ///< without optional tensors that are absent
  const std::vector<size_t> pes_;
  const std::vector<tl::Program> programs_;
  const PreparedLaunch prepared_;
  const Params& params_;
  LaunchWay way_;
  std::optional<Deployment> deployment_;
  std::optional<LaunchQueues> queues_;
  std::optional<HostRun> host_;
  std::shared_ptr<TensorMap> inputs_;  ///< shared with memory
  RunReport report_;
  double begin_ns_ = 0;
  uint64_t events_before_ = 0;
  std::vector<EngineReport> engines_before_;  ///< empty for the first run
  std::vector<QueueTraffic> queues_before_;
  std::vector<MemoryReport> memories_before_;
};

void KernelRun::draw_wiring() const {
  if (!spec_.queues) throw InputError("--wiring: kernel " + spec_.name + " has no queues");
  WholeFile file(o_.wiring_file);
  const LaunchShape& launch = *programs_.front().launch;
  TextOutput picture;
  write_wiring_svg(picture, platform_.graph().name + ": " + spec_.name, launch, spec_.queues(params_, launch));
  file.write(picture.str());
  file.keep();
}

void KernelRun::place_inputs() {
  if (o_.addresses == AddressMode::virtual_) require_mmus(platform_, pes_);
  settle_judge("kernel " + spec_.name, spec_.reference, tensors_of(spec_), params_);
  // Before the inputs are created, because it detects tensors that do not fit.
  deployment_.emplace(platform_.machine(), platform_.hosts().allocators(), spec_, params_, pes_, o_.addresses);
  queues_.emplace(platform_.machine(), platform_.hosts().allocators(), spec_, params_, *programs_.front().launch, pes_);
  std::vector<const TensorSpec*> whole;
  for (const TensorSpec* t : tensors_of(spec_)) {
    const auto source = element_source(*t, params_, o_);
    if (source && !verified() && deployment_->lies_once(t->name))
      deployment_->fill(t->name, *source);
    else
      whole.push_back(t);
  }
  inputs_ = std::make_shared<TensorMap>(make_inputs(whole, params_, o_));
  for (const auto& [name, value] : *inputs_)
    deployment_->upload(name, std::shared_ptr<const HostTensor>(inputs_, &value));
}

/// The host's steps: the launch, and timed transfers.
HostPlan KernelRun::host_plan() {
  HostPlan plan;
  plan.way = way_;
  plan.launch.id.kernel = spec_.name;
  plan.launch.pes = pes_;
  plan.launch.ports = queues_->ports();
  plan.launch.kernel = [this](size_t i) {
    return [this, i](PeBackend& backend) {
      tl::Context context(backend, programs_[i]);
      spec_.function(context, deployment_->args(i));
      context.finish();  // unused loads and composites are checked too
    };
  };
  for (const TensorSpec& t : spec_.tensors) {
    if (!o_.timed_transfer) break;
    for (const Deployment::Range& r : deployment_->ranges(t.name)) {
      if (t.is_input()) {
        plan.uploads.push_back({{}, r.address, r.nbytes});
      }
      if (t.is_output()) {
        plan.downloads.push_back({{}, r.address, r.nbytes});
      }
    }
  }
  map_tensors(plan);
  return plan;
}

/// By messages of the host if transfers are timed, else at once.
void KernelRun::map_tensors(HostPlan& plan) {
  const bool timed_maps = o_.timed_transfer && o_.addresses == AddressMode::virtual_;
  const std::vector<size_t> pes = mapped_pes();
  for (const auto& mapping : deployment_->mappings()) {
    if (timed_maps) {
      plan.maps.push_back({{}, mapping});
      continue;
    }
    const HostResponse r = HostMmu::map_now(platform_.machine(), {{}, mapping}, pes);
    if (!r.ok()) throw RunError(r.text);
  }
}

/// The others use physical addresses only.
std::vector<size_t> KernelRun::mapped_pes() const {
  std::vector<size_t> mapped;
  std::copy_if(pes_.begin(), pes_.end(), std::back_inserter(mapped),
               [&](size_t p) { return platform_.pes().pe(p).mmu; });
  return mapped;
}

/// Without cost, even if mapping had one: the ranges return to the allocators, and a later run may get them.
void KernelRun::unmap_tensors() {
  if (!deployment_ || deployment_->mappings().empty()) return;
  const std::vector<size_t> pes = mapped_pes();
  for (const auto& mapping : deployment_->mappings())
    HostMmu::unmap_now(platform_.machine(), {{}, mapping->range.virtual_addr, mapping->nbytes}, pes);
}

HostOutcome KernelRun::simulate_launch() {
  HostPlan plan = host_plan();
  const auto start = Clock::now();
  begun_ = true;
  host_.emplace(platform_.hosts().launch_host(), std::move(plan));
  const HostOutcome& host = host_->run();
  report_.phase1_s = seconds_since(start);
  check_logs();
  if (!host.complete && host.fault.empty() && platform_.system().fault().empty())
    throw_if_left(platform_.machine(), "kernel " + spec_.name);
  close_logs(host.end_ns - begin_ns_, pes_.size());
  report_.energy = energy_;
  if (!host.fault.empty()) throw RunError(host.fault);
  if (!platform_.system().fault().empty()) throw RunError(platform_.system().fault());
  if (!host.complete) throw stuck_error(stuck_report(platform_.machine()));
  return host;
}

void KernelRun::report_times(const HostOutcome& host) {
  report_.kernel = spec_.name;
  report_.topology = platform_.graph().name;
  report_.launch_notes = prepared_.notes;
  for (const auto& [name, value] : params_.values()) report_.params.emplace_back(name, to_text(value));
  for (size_t i = 0; i < pes_.size(); ++i) {
    const KernelOutcome& pe = host.launch.outcomes[i];
    report_.pes.push_back(
        {platform_.graph().pes[pes_[i]].id, pe.start_ns - begin_ns_, pe.end_ns - begin_ns_, pe.scalar_ns});
  }
  report_.launch = name_of(way_.mode);
  report_.launch_note = way_.note;
  report_.timed_transfer = o_.timed_transfer;
  report_.addresses = o_.addresses;
  report_.map_ns = host.map_ns;
  report_.upload_ns = host.upload_ns;
  report_.download_ns = host.download_ns;
  report_.begin_ns = begin_ns_;
  report_.start_ns = host.launch.start_ns - begin_ns_;
  report_.end_ns = host.end_ns - begin_ns_;
  report_.engines = since(engine_reports(platform_, pes_, host.end_ns), engines_before_, report_.end_ns);
  report_.queues = since(queue_traffic(platform_, pes_), queues_before_);
  report_.memories = since(memory_reports(platform_), memories_before_);
  report_.notes = engine_notes(platform_, pes_);
  log_notes(report_);
  report_.events = platform_.timeline().events() - events_before_;
  TimedLaunch launch{spec_.name, prepared_.notes, report_.end_ns - report_.start_ns, 0, 0};
  for (const TensorSpec& t : spec_.tensors) {
    if (t.is_input())
      launch.operand_bytes += static_cast<uint64_t>(t.shape(params_).elements()) * size_of(t.dtype(params_));
  }
  const auto read =
      std::find_if(figures().begin(), figures().end(), [](const Figure& f) { return f.name == "bytes_read"; });
  launch.read_bytes = static_cast<uint64_t>(std::get<int64_t>(read->of(report_)));
  report_.advice = advice_of({launch});
}

/// Phase 2: writes the run's outputs to files and verifies them.
void KernelRun::compute_outputs() {
  const ReplayResult result = replay_log(report_);
  TensorMap outputs;
  for (const TensorSpec& t : spec_.tensors) {
    if (t.is_output()) outputs[t.name] = deployment_->read_back(t.name, result.memory);
  }
  write_outputs(outputs);
  if (verified()) verify_outputs(outputs);
}

void KernelRun::verify_outputs(const TensorMap& outputs) {
  report_.verified = true;
  for (const auto& [name, expected] : judge(spec_.reference, params_, *inputs_)) {
    const HostTensor& value = outputs.at(name);
    report_.tensors.push_back(verify(name, value.dtype, value.shape, value.bytes.data(), expected));
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
  return LoggedRun::run_or_leave(std::make_shared<KernelRun>(platform, std::move(o)));
}

}  // namespace kernbench
