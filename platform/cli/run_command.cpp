#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/phase2/eval/isa.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/io/whole_file.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/log/versions.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/phase2/tool/output_files.h"
#include "kernbench/phase2/tool/version.h"
#include "kernbench/platform/cli/progress.h"
#include "kernbench/platform/cli/run_command.h"
#include "kernbench/platform/cli/topology_places.h"
#include "kernbench/platform/energy/meter.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/observe/hop_log.h"
#include "kernbench/platform/observe/html_report.h"
#include "kernbench/platform/observe/trace.h"
#include "kernbench/platform/observe/transaction_recorder.h"
#include "kernbench/platform/observe/waveform.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/tools/host_phases.h"
#include "kernbench/platform/tools/host_program.h"
#include "kernbench/platform/tools/run.h"
#include "kernbench/platform/topology/read/energy_reader.h"
#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::cli {

namespace {

/// What a reader of the log must know of the run.
OpLogHeader log_header(const Platform& platform, const RunCommand& o,
                       const std::vector<std::pair<std::string, std::string>>& given, LaunchMode launch) {
  OpLogHeader h;
  const topology::Graph& graph = platform.graph();
  for (const auto& node : graph.nodes) h.components.push_back(node.id);
  for (const auto& pe : graph.pes) h.pes.push_back(pe.id);
  JsonWriter w(h.configuration, JsonWriter::Layout::compact, JsonWriter::Reals::decimal);
  w.open('{').field("kernbench", version()).key("versions").open('{');
  w.field("systemc", sc_core::sc_version_string);
  for (const auto& [name, version] : library_versions()) w.field(name, version);
  w.close('}').field("topology", graph.name).key("timing").open('{');
  w.field("links", graph.timing.links.name()).field("response", name_of(graph.timing.response));
  w.field("header_bytes", graph.timing.header_bytes).field("flit_bytes", graph.timing.flit_bytes).close('}');
  w.field("ns_per_mm", graph.ns_per_mm);
  if (o.program.empty()) {
    w.field("kernel", o.kernel);
  } else {
    w.field("program", o.program);
  }
  w.key("params").open('{');
  const Params params = o.program.empty() ? kernel_params(KernelRegistry::instance().at(o.kernel), given)
                                          : program_params(ProgramRegistry::instance().at(o.program), given);
  for (const auto& [name, value] : params.values()) w.field(name, to_text(value));
  w.close('}').field("tensors", o.tensors).field("seed", o.seed).field("pes", o.pes).field("device", o.device);
  if (o.ranks != "all") w.field("ranks", o.ranks);
  w.field("launch", name_of(launch)).field("transfer", o.transfer);
  w.field("materialize", graph.materialize_outputs ? "outputs" : "none");
  if (o.address != "physical") w.field("address", o.address);
  if (!o.topology.settings.empty()) w.field("set", o.topology.settings);
  if (!o.topology.scales.empty()) w.field("scale", o.topology.scales);
  if (!o.energy.empty()) w.field("energy", o.energy);
  if (o.hops) w.field("hops", true);
  w.field("topology_file", o.topology.text()).close('}');
  h.isa = o.isa;
  return h;
}

void check_output_files(const RunCommand& o, const RunOptions& r) {
  OutputFiles files;
  files.add("--oplog", o.oplog);
  files.add("--memory", o.memory_file());
  files.add("--trace", o.trace);
  files.add("--wiring", o.wiring);
  files.add("--report", o.report);
  files.add("--activity", o.activity);
  files.add("--ftr", o.recording.file);
  for (const std::string& file : o.vcd.files()) files.add("--vcd", file);
  for (const auto& [name, file] : r.dumps) files.add("--dump " + name, file);
}

RunOptions run_options(const RunCommand& o) {
  if (o.kernel.empty() == o.program.empty())
    throw InputError("run: needs --kernel NAME, --program NAME or --ttir FILE, one of them");
  if (!o.memory.empty() && o.oplog.empty()) throw InputError("--memory: a memory file needs --oplog beside it");
  if (o.hops && o.oplog.empty()) throw InputError("--oplog-hops: needs --oplog beside it");
  if (!o.wiring.empty() && o.kernel.empty()) throw InputError("--wiring: is of a kernel; found a program");
  RunOptions r;
  r.kernel = o.kernel;
  r.program = o.program;
  r.wiring_file = o.wiring;
  for (const std::string& p : o.params) r.params.push_back(name_and_value("--param", p, "NAME=VALUE"));
  for (const std::string& t : o.tensors) r.tensors.push_back(name_and_value("--tensor", t, "NAME=FILE.npy"));
  for (const std::string& d : o.dumps) r.dumps.push_back(name_and_value("--dump", d, "NAME=FILE.npy"));
  for (const std::string& e : o.expected) r.expected.push_back(name_and_value("--expected", e, "NAME=FILE.npy"));
  r.seed = o.seed;
  r.pes = o.pes;
  r.device = o.device;
  r.ranks = o.ranks;
  if (o.launch == "host") r.launch = LaunchMode::host;
  if (o.launch == "direct") r.launch = LaunchMode::direct;
  r.timed_transfer = o.transfer == "timed";
  if (o.address == "virtual") r.addresses = AddressMode::virtual_;
  r.verify = o.verify;
  r.debug_verify = o.debug_verify;
  r.check_races = o.check_races;
  r.isa = isa_of(o.isa);
  r.threads = o.threads;
  r.corrupt = o.corrupt;
  check_output_files(o, r);
  return r;
}

/// The table of --energy, else the topology's; null where neither has one.
std::shared_ptr<const energy::EnergyTable> energy_table(const Platform& platform, const RunCommand& o) {
  if (!o.energy.empty()) return topology::read_energy_file(energy_file(o.energy), component_catalog());
  if (!platform.graph().energy && !o.activity.empty())
    throw InputError("--activity: needs --energy beside it, or a topology with an energy section");
  return platform.graph().energy;
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

  Observers(Platform& platform, const RunCommand& o, std::shared_ptr<const energy::EnergyTable> table)
      : meter(table ? std::make_unique<energy::Meter>(platform, std::move(table)) : nullptr),
        activity(o.activity.empty() ? nullptr : std::make_unique<WholeFile>(o.activity)),
        trace(o.trace.empty() ? nullptr : std::make_unique<Trace>(platform, o.trace)),
        waveform(o.vcd.attach(platform, meter.get())),
        recorder(o.recording.attach(platform)),
        hops(o.hops ? std::make_unique<HopLog>(platform) : nullptr),
        explainer(o.explain || !o.report.empty()
                      ? std::make_unique<insight::Explainer>(platform, o.format == "json" || !o.report.empty())
                      : nullptr),
        page(o.report.empty() ? nullptr : std::make_unique<HtmlReport>(platform, o.report)) {}
  /// Where memory was short: of those that keep what has happened, also where a run fails.
  void forget() const {
    if (trace) trace->forget();
    if (recorder) recorder->forget();
  }
};

/// What was typed.
std::vector<std::string> command_words() {
  std::vector<std::string> words = {"kernbench"};
  words.insert(words.end(), sc_core::sc_argv() + 1, sc_core::sc_argv() + sc_core::sc_argc());
  return words;
}

/// Says what bounds the run: `whole` is all that was simulated, a RunReport or what it is a part of. The page needs the
/// explanation, which the report on stdout has only where it was asked for.
template <class Whole>
void explain(RunReport& r, const Whole& whole, const Observers& observers, const RunCommand& o,
             const std::string& configuration) {
  if (!observers.explainer) return;
  r.insight = observers.explainer->explain(figures_of(r));
  if (!observers.page) return;
  observers.page->host(host_phases(whole));
  observers.page->write(r, command_words(), configuration);
  if (!o.explain) r.insight.reset();
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
  spdlog::info("simulated {:.3f} ns in {:.3f} s, replayed in {:.3f} s", r.end_ns, r.phase1_s, r.phase2_s);
  for (const std::string& note : r.notes) spdlog::info(note);
  if (!r.warning.empty()) tell("kernbench: " + r.warning);
  write();
  return r.passed && r.races.empty() ? 0 : 1;
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

namespace {

/// Of a Triton kernel: makes it, and runs that.
int run_triton(RunCommand o) {
  try {
    o.triton_launch = o.triton.make_kernel(&o);
  } catch (const NpyError& e) {
    throw InputError(e.what());
  }
  o.triton = {};
  return run(o);
}

}  // namespace

int run(const RunCommand& o) {
  if (o.triton.asked()) return run_triton(o);
  o.triton.check_unasked();
  RunOptions r = run_options(o);
  o.limits.begin();
  try {
    o.topology.plugins.load();
    // A wrong name is told before anything is built.
    if (o.program.empty()) {
      KernelRegistry::instance().at(o.kernel);
    } else {
      ProgramRegistry::instance().at(o.program);
    }
    Platform& platform = o.topology.build();
    spdlog::info("elaborated");
    auto table = energy_table(platform, o);
    const auto stops = o.limits.watch(platform.timeline());
    Progress progress;
    progress.watch(platform.timeline());
    r.on_replay_progress = progress.replay_observer();
    if (!o.oplog.empty()) {
      // Both files are this run's before one of them is emptied.
      if (!o.memory_file().empty()) r.memory_file = std::make_unique<WrittenFile>(o.memory_file());
      r.log = make_op_log(o.oplog);
    } else if (o.watcher) {
      r.log = std::make_unique<Handed>(o.watcher);
    }
    if (r.log || !o.report.empty()) r.header = log_header(platform, o, r.params, choose_launch_way(platform, r).mode);
    const std::string configuration = r.header.configuration;
    const Observers observers(platform, o, std::move(table));
    r.meter = observers.meter.get();
    r.number_ops = observers.trace || observers.waveform || observers.recorder;
    try {
      if (!o.program.empty()) {
        ProgramReport done = run_program(platform, std::move(r));
        explain(done.run, done, observers, o, configuration);
        if (observers.trace) observers.trace->host(done);
        return report(done.run, observers, progress,
                      [&] { (o.format == "json" ? write_program_json : write_program_text)(std::cout, done); });
      }
      RunReport done = run_kernel(platform, std::move(r));
      if (o.triton_launch) add_programs(*o.triton_launch, &done);
      explain(done, done, observers, o, configuration);
      if (observers.trace) observers.trace->host(done);
      return report(done, observers, progress,
                    [&] { (o.format == "json" ? write_run_json : write_run_text)(std::cout, done); });
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
