// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <type_traits>

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/eval/isa_option.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/log/version.h"
#include "kernbench/phase2/log/versions.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/energy/meter.h"
#include "kernbench/platform/entry/system.h"
#include "kernbench/platform/entry/task.h"
#include "kernbench/platform/entry/topology_places.h"
#include "kernbench/platform/entry/triton_task.h"
#include "kernbench/platform/insight/explainer.h"
#include "kernbench/platform/observe/hop_log.h"
#include "kernbench/platform/observe/html_report.h"
#include "kernbench/platform/observe/trace.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/collective_trials.h"
#include "kernbench/platform/run/host_phases.h"
#include "kernbench/platform/run/host_program.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/run/run_of_spec.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/study/what_if/proposals.h"
#include "kernbench/platform/topology/build/mesh_cache.h"
#include "kernbench/platform/topology/read/energy_reader.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench {

namespace {

/// The run's data for readers of the log.
OpLogHeader log_header(const Platform& platform, const spec::RunDocument& document, const std::string& isa) {
  OpLogHeader h;
  const topology::Graph& graph = platform.graph();
  for (const auto& node : graph.nodes) h.components.push_back(node.id);
  for (const auto& pe : graph.pes) h.pes.push_back(pe.id);
  h.configuration = to_json([&](Fields& f) {
    f("run", [&] { spec::describe(f, document, true); })("versions", [&] {
      f("systemc", sc_core::sc_version_string);
      for (const auto& [name, version] : library_versions()) f(name, version);
    });
  });
  h.isa = isa;
  return h;
}

/// The table of --energy, else the topology's; null if neither exists.
std::shared_ptr<const energy::EnergyTable> energy_table(const Platform& platform, const spec::RunSpec& spec) {
  if (spec.given("energy")) return topology::read_energy_file(energy_file(spec.text("energy")), component_catalog());
  if (!platform.graph().energy && spec.given("activity"))
    throw InputError("--activity: needs --energy beside it, or a topology with an energy section");
  return platform.graph().energy;
}

template <class T, class... More>
std::unique_ptr<T> made_for(const spec::RunSpec& spec, const char* option, More&... more) {
  return spec.given(option) ? std::make_unique<T>(more..., spec.text(option)) : nullptr;
}

std::unique_ptr<Trace> trace_of(Platform& platform, const spec::RunSpec& spec) {
  const TimeWindow window = window_of(spec, "trace");
  return spec.given("trace") ? std::make_unique<Trace>(platform, spec.text("trace"), window) : nullptr;
}

std::unique_ptr<insight::Explainer> explainer_of(Platform& platform, const spec::RunSpec& spec) {
  if (!spec.flag("explain") && !spec.given("report")) return nullptr;
  const bool details = spec.text("format") == "json" || spec.given("report") || spec.given("predict");
  return std::make_unique<insight::Explainer>(platform, details, spec.list("predict"));
}

/// The requested observers.
struct Observers {
  std::unique_ptr<energy::Meter> meter;  // first, because others use its powers
  std::unique_ptr<WholeFile> activity;
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Waveform> waveform;
  std::unique_ptr<TransactionRecorder> recorder;
  std::unique_ptr<HopLog> hops;
  std::unique_ptr<insight::Explainer> explainer;
  std::unique_ptr<HtmlReport> page;

  Observers(Platform& platform, const spec::RunSpec& spec, std::shared_ptr<const energy::EnergyTable> table)
      : meter(table ? std::make_unique<energy::Meter>(platform, std::move(table)) : nullptr),
        activity(made_for<WholeFile>(spec, "activity")),
        trace(trace_of(platform, spec)),
        waveform(waveform_of(spec, platform, meter.get())),
        recorder(recorder_of(spec, platform)),
        hops(spec.flag("oplog-hops") ? std::make_unique<HopLog>(platform) : nullptr),
        explainer(explainer_of(platform, spec)),
        page(made_for<HtmlReport>(spec, "report", platform)) {}
  /// Call it if memory was short. Discards the observers that keep their file after a failed run.
  void forget() const {
    if (trace) trace->forget();
    if (recorder) recorder->forget();
  }
};

constexpr std::string_view kAll = "all";  ///< of --explain

/// Simulates the changes that the run's causal graph suggests.
std::vector<insight::Insight::Remedy> tried_remedies(const spec::RunSpec& spec, const Platform& platform,
                                                     const insight::Insight& found, const LaunchNotes& launch,
                                                     const OwnProgram* own) {
  auto changes = single_changes(platform.graph(), component_catalog(), spec, SystemOptions(spec).text());
  if (own) {
    SingleChange better;
    better.options = own->better();
    better.of_what = SingleChange::Of::spread;
    better.factor = 1;
    better.cost = CostClass::free;
    if (!better.options.empty()) changes.push_back(std::move(better));
  }
  return tried_proposals(changes, found, launch, spec, spec.text("explain") == kAll, run_each);
}

/// Explains the bottleneck. `whole` is the complete result: a RunReport or its container. The page always needs the
/// explanation, the report only on request.
template <class Whole>
void explain(RunReport& r, const Whole& whole, const Platform& platform, const Observers& observers,
             const spec::RunSpec& spec, const OwnProgram* own, std::vector<std::string>* verdict) {
  if (!observers.explainer) return;
  auto insight = std::make_shared<insight::Insight>(*observers.explainer->explain(figures_of(r)));
  if (!r.advice.empty()) insight->verdict.push_back(r.advice + ".");
  if (r.energy) {
    for (const std::string& told : energy::out_of_bounds(*r.energy)) insight->verdict.push_back(told);
  }
  if (const std::string how = spec.text("explain"); how == "verify" || how == kAll)
    insight->remedies = tried_remedies(spec, platform, *insight, r.launch_notes, own);
  *verdict = insight->verdict;
  r.insight = std::move(insight);
  if (!observers.page) return;
  observers.page->host(host_phases(whole));
  const bool all = spec.flag("report-events");
  observers.page->causes(observers.explainer->causes(all ? std::string::npos : HtmlReport::kMostCauses));
  observers.page->write(r);
  if (!spec.flag("explain")) r.insight.reset();
}

void close_files(const RunReport& r, const Observers& observers) {
  if (observers.trace && observers.meter) observers.trace->power(*observers.meter);
  if (observers.trace) observers.trace->close();
  if (observers.waveform) observers.waveform->close();
  if (observers.activity) {
    observers.activity->write(energy::activity_csv(*r.energy));
    observers.activity->keep();
  }
  if (observers.recorder) observers.recorder->close();
}

/// Whether a launch may use algorithm=best.
bool asks_for_best(const RunOptions& r) {
  return std::any_of(r.params.begin(), r.params.end(), [](const auto& p) { return p.second == "best"; }) ||
         (!r.program.empty() && ProgramRegistry::instance().at(r.program).chooses_best);
}

/// Forwards to a sink with another owner.
class Handed : public OpLogSink {
 public:
  explicit Handed(std::shared_ptr<OpLogSink> to) : to_(std::move(to)) {}
  void begin(const OpLogHeader& h) override { to_->begin(h); }
  void record(OpRecord&& r) override { to_->record(std::move(r)); }
  void close() override { to_->close(); }

 private:
  std::shared_ptr<OpLogSink> to_;
};

/// A kernel, a program, or a model's program.
class RunTask : public Task {
 public:
  RunTask(const spec::RunSpec& spec, const RunHooks& hooks)
      : spec_(spec), hooks_(hooks), own_(spec.table().command == "model" ? make_model_program(spec, tell_) : nullptr) {
    options_ = run_options(spec);
    if (spec.given("isa")) options_.isa = isa_of(spec.text("isa"));
    json_ = wants_json(spec);
    if (!own_) triton_ = make_triton_kernel(spec, &options_);
  }

  /// An unknown name is reported before anything is built.
  void check() const override {
    if (own_) return;  // its program is created for the platform
    if (options_.program.empty()) {
      KernelRegistry::instance().at(options_.kernel);
    } else {
      ProgramRegistry::instance().at(options_.program);
    }
  }

  RunRecord run(Platform& platform) override {
    RunOptions r = std::move(options_);
    auto table = energy_table(platform, spec_);
    auto document = spec::RunDocument::of(spec_, version(), topology_file(spec_.text("topology")),
                                          energy_file(spec_.text("energy")), hooks_.topology_text);
    if (own_ && !(r.own_program = own_->make(platform, &r))) return no_room(std::move(document), platform);
    resolve(document, platform, r);
    std::optional<CollectiveTrials> trials;  // before observers are attached
    if (asks_for_best(r)) trials.emplace(platform, machine_of(document), topology::default_cache_folder());
    const auto watch = hooks_.watch ? hooks_.watch(platform.timeline()) : nullptr;
    r.on_replay_progress = hooks_.on_replay_progress;
    open_log(&r, platform, document);
    const Observers observers(platform, spec_, std::move(table));
    r.meter = observers.meter.get();
    r.number_ops = observers.trace || observers.waveform || observers.recorder;
    try {
      if (r.own_program || !r.program.empty()) {
        auto done = std::make_shared<ProgramReport>(run_program(platform, std::move(r)));
        return finish(done, done->run, platform, observers, std::move(document));
      }
      auto done = std::make_shared<RunReport>(run_kernel(platform, std::move(r)));
      if (triton_) add_programs(*triton_, done.get());
      return finish(done, *done, platform, observers, std::move(document));
    } catch (const std::bad_alloc&) {
      observers.forget();
      throw;
    }
  }

 private:
  void open_log(RunOptions* r, const Platform& platform, const spec::RunDocument& document) const {
    if (spec_.given("oplog")) {
      // Both files must be claimed before one of them is emptied.
      if (const std::string file = memory_file(spec_); !file.empty())
        r->memory_file = std::make_unique<WrittenFile>(file);
      r->log = make_op_log(spec_.text("oplog"));
    } else if (hooks_.log) {
      r->log = std::make_unique<Handed>(hooks_.log);
    }
    if (r->log) r->header = log_header(platform, document, std::string(name_of(r->isa)));
  }

  /// `whole` is a RunReport or contains one as `run`.
  template <class Whole>
  RunRecord finish(const std::shared_ptr<Whole>& whole, RunReport& run, Platform& platform, const Observers& observers,
                   spec::RunDocument document) {
    run.document = std::move(document);
    run.tells_topology = spec_.flag("report-topology");
    RunRecord record;
    if constexpr (std::is_same_v<Whole, ProgramReport>) {
      if (own_) own_->measure(*whole, observers.meter.get());
    }
    explain(run, *whole, platform, observers, spec_, own_.get(), &record.verdict);
    if constexpr (std::is_same_v<Whole, ProgramReport>) {
      if (own_) own_->finish(*whole);  // its report contains the verdict
    }
    if (observers.trace) observers.trace->host(*whole);
    close_files(run, observers);
    for (const std::string& line : run.prints) tell_(line);
    if (!run.warning.empty()) tell_("kernbench: " + run.warning);
    if (!run.advice.empty()) tell_("kernbench: " + run.advice);
    tell_idle_options(run, platform);
    record.status = run.passed && run.races.empty() ? 0 : 1;
    record.wall_s = run.wall_s;
    return with_report(std::move(record), whole, run);
  }

  /// Warns of given options without effect.
  void tell_idle_options(const RunReport& run, Platform& platform) {
    tell_empty_windows(spec_, platform, tell_);
    const auto idle = [&](const char* option, const char* without) {
      if (spec_.given(option))
        tell_(fmt::format("kernbench: warning: --{}: changes nothing without {}", option, without));
    };
    if (!run.verified) idle("corrupt", "a verification, --verify or --expected");
    if (run.phase2_s > 0 || platform.system().pending_values()) return;
    constexpr const char* kReplay = "a replay, as --verify, --expected and --dump bring it";
    idle("isa", kReplay);
    if (!hooks_.shared_threads) idle("threads", kReplay);
  }

  RunRecord no_room(spec::RunDocument document, const Platform& platform) {
    auto none = std::make_shared<ProgramReport>();
    none->run.document = std::move(document);
    none->run.topology = platform.graph().name;
    own_->finish(*none);
    RunRecord record;
    record.status = 1;
    return with_report(std::move(record), none, none->run);
  }

  template <class Whole>
  RunRecord with_report(RunRecord record, const std::shared_ptr<Whole>& whole, RunReport& run) {
    record.told = tell_.take();
    record.document = spec::json_of(run.document, false);
    for (const Figure& f : figures()) {
      if (FigureValue v = f.of(run); !std::holds_alternative<std::monostate>(v)) record.figures.emplace_back(f.name, v);
    }
    record.found = std::shared_ptr<const RunReport>(whole, &run);
    record.write = [whole, own = own_, json = json_](std::ostream& out) { write_whole(out, *whole, own.get(), json); };
    return record;
  }
  static void write_whole(std::ostream& out, const RunReport& r, const OwnProgram*, bool json) {
    (json ? write_run_json : write_run_text)(out, r);
  }
  static void write_whole(std::ostream& out, const ProgramReport& r, const OwnProgram* own, bool json) {
    if (own) return own->write(out, r, json);
    (json ? write_program_json : write_program_text)(out, r);
  }

  const spec::RunSpec& spec_;
  const RunHooks& hooks_;
  Told tell_{hooks_};
  const std::shared_ptr<OwnProgram> own_;  ///< replaces the options' program; may be null
  RunOptions options_;
  bool json_ = false;
  std::shared_ptr<triton::Launch> triton_;  ///< of --ttir
};

}  // namespace

std::unique_ptr<Task> run_task(const spec::RunSpec& spec, const RunHooks& hooks) {
  return std::make_unique<RunTask>(spec, hooks);
}

}  // namespace kernbench
