#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/log/versions.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/version.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/progress.h"
#include "kernbench/platform/cli/run_command.h"
#include "kernbench/platform/cli/topology_places.h"
#include "kernbench/platform/cli/triton_options.h"
#include "kernbench/platform/energy/meter.h"
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

namespace kernbench::cli {

namespace {

/// What a reader of the log must know of the run.
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

/// The table of --energy, else the topology's; null where neither has one.
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

/// What was asked for of them.
struct Observers {
  std::unique_ptr<energy::Meter> meter;  // first: others show its powers
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
        waveform(WaveformCliOptions(spec).attach(platform, meter.get())),
        recorder(RecordingOptions(spec).attach(platform)),
        hops(spec.flag("oplog-hops") ? std::make_unique<HopLog>(platform) : nullptr),
        explainer(explainer_of(platform, spec)),
        page(made_for<HtmlReport>(spec, "report", platform)) {}
  /// Where memory was short: of those that keep what has happened, also where a run fails.
  void forget() const {
    if (trace) trace->forget();
    if (recorder) recorder->forget();
  }
};

/// What to change, of what the run's causes suggest, simulated.
std::vector<insight::Insight::Remedy> tried_remedies(const spec::RunSpec& spec, const Platform& platform,
                                                     const insight::Insight& found, const LaunchNotes& launch) {
  constexpr size_t kTried = 12;
  const auto changes = single_changes(platform.graph(), component_catalog(), spec);
  return tried_proposals(changes, found, launch, spec, kTried);
}

/// Says what bounds the run: `whole` is all that was simulated, a RunReport or what it is a part of. The page needs the
/// explanation, which the report on stdout has only where it was asked for.
template <class Whole>
void explain(RunReport& r, const Whole& whole, const Platform& platform, const Observers& observers,
             const spec::RunSpec& spec) {
  if (!observers.explainer) return;
  auto insight = std::make_shared<insight::Insight>(*observers.explainer->explain(figures_of(r)));
  if (!r.advice.empty()) insight->verdict.push_back(r.advice + ".");
  if (r.energy) {
    for (const std::string& told : energy::out_of_bounds(*r.energy)) insight->verdict.push_back(told);
  }
  if (spec.text("explain") == "verify") insight->remedies = tried_remedies(spec, platform, *insight, r.launch_notes);
  r.insight = std::move(insight);
  if (!observers.page) return;
  observers.page->host(host_phases(whole));
  const bool all = spec.flag("report-causes");
  observers.page->causes(observers.explainer->causes(all ? std::string::npos : HtmlReport::kMostCauses));
  observers.page->write(r);
  if (!spec.flag("explain")) r.insight.reset();
}

/// What is left to do for either kind of run when it is over; the exit status.
template <class Write>
int report(const RunReport& r, const Observers& observers, Progress& progress, const Write& write) {
  if (observers.trace && observers.meter) observers.trace->power(*observers.meter);
  if (observers.trace) observers.trace->close();
  if (observers.waveform) observers.waveform->close();
  if (observers.activity) {
    observers.activity->write(energy::activity_csv(*r.energy));
    observers.activity->keep();
  }
  if (observers.recorder) observers.recorder->close();
  progress.clear();
  for (const std::string& line : r.prints) tell(line);
  if (!r.warning.empty()) tell("kernbench: " + r.warning);
  if (!r.advice.empty()) tell("kernbench: " + r.advice);
  write();
  return r.passed && r.races.empty() ? 0 : 1;
}

/// Whether a launch may ask for the quickest algorithm.
bool asks_for_best(const RunOptions& r) {
  return std::any_of(r.params.begin(), r.params.end(), [](const auto& p) { return p.second == "best"; }) ||
         (!r.program.empty() && ProgramRegistry::instance().at(r.program).chooses_best);
}

/// Hands on to a sink that somebody else keeps.
class Handed : public OpLogSink {
 public:
  explicit Handed(std::shared_ptr<OpLogSink> to) : to_(std::move(to)) {}
  void begin(const OpLogHeader& h) override { to_->begin(h); }
  void record(OpRecord&& r) override { to_->record(std::move(r)); }
  void close() override { to_->close(); }

 private:
  std::shared_ptr<OpLogSink> to_;
};

}  // namespace

int run(const RunCommand& o) {
  RunOptions r = run_options(o.spec);
  if (o.spec.given("isa")) r.isa = isa_of(o.spec.text("isa"));
  const bool json = wants_json(o.spec);
  std::shared_ptr<triton::Launch> triton;
  try {
    if (!o.own) triton = make_triton_kernel(o.spec, &r);
  } catch (const NpyError& e) {
    throw InputError(e.what());
  }
  check_output_files(o.spec);
  const LimitOptions limits(o.spec);
  limits.begin();
  try {
    TopologyOptions topology(o.spec);
    topology.yaml = o.topology_text;
    topology.plugins.load();
    // A wrong name is told before anything is built.
    if (o.own) {
      // It is made for the platform.
    } else if (r.program.empty()) {
      KernelRegistry::instance().at(r.kernel);
    } else {
      ProgramRegistry::instance().at(r.program);
    }
    Platform& platform = topology.build();
    auto table = energy_table(platform, o.spec);
    auto document = spec::RunDocument::of(o.spec, version(), topology_file(topology.file),
                                          energy_file(o.spec.text("energy")), o.topology_text);
    if (o.own && !(r.own_program = o.own->make(platform, &r))) {
      ProgramReport none;
      none.run.document = std::move(document);
      none.run.topology = platform.graph().name;
      o.own->write(std::cout, none, json);
      return 1;
    }
    resolve(document, platform, r);
    std::optional<CollectiveTrials> trials;  // before anybody watches the platform
    if (asks_for_best(r)) trials.emplace(platform, machine_of(document), topology::default_cache_folder());
    const auto stops = limits.watch(platform.timeline());
    Progress progress;
    progress.watch(platform.timeline());
    r.on_replay_progress = progress.replay_observer();
    if (o.spec.given("oplog")) {
      // Both files are this run's before one of them is emptied.
      if (const std::string file = memory_file(o.spec); !file.empty())
        r.memory_file = std::make_unique<WrittenFile>(file);
      r.log = make_op_log(o.spec.text("oplog"));
    } else if (o.watcher) {
      r.log = std::make_unique<Handed>(o.watcher);
    }
    if (r.log) r.header = log_header(platform, document, std::string(name_of(r.isa)));
    const Observers observers(platform, o.spec, std::move(table));
    r.meter = observers.meter.get();
    r.number_ops = observers.trace || observers.waveform || observers.recorder;
    const auto finish = [&](RunReport& run, const auto& whole, const auto& write) {
      run.document = std::move(document);
      run.tells_topology = o.spec.flag("report-topology");
      explain(run, whole, platform, observers, o.spec);
      if (observers.trace) observers.trace->host(whole);
      return report(run, observers, progress, [&] { write(std::cout, whole); });
    };
    try {
      if (o.own) {
        ProgramReport done = run_program(platform, std::move(r));
        return finish(done.run, done, [&](std::ostream& out, const ProgramReport&) { o.own->write(out, done, json); });
      }
      if (!r.program.empty()) {
        ProgramReport done = run_program(platform, std::move(r));
        return finish(done.run, done, json ? write_program_json : write_program_text);
      }
      RunReport done = run_kernel(platform, std::move(r));
      if (triton) add_programs(*triton, &done);
      return finish(done, done, json ? write_run_json : write_run_text);
    } catch (const std::bad_alloc&) {
      observers.forget();
      throw;
    }
  } catch (const BadParam& e) {
    throw InputError(e.what());
  } catch (const NpyError& e) {
    throw InputError(e.what());
  } catch (const OpLogError& e) {
    throw InputError(e.what());
  }
}

}  // namespace kernbench::cli
