// SPDX-License-Identifier: Apache-2.0
// The simulating commands: each calls run() (platform/entry/run.h) with its own table of options.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/phase2/tool/faults.h"
#include "kernbench/platform/cli/commands.h"
#include "kernbench/platform/cli/progress.h"
#include "kernbench/platform/cli/spec_options.h"
#include "kernbench/platform/entry/run.h"
#include "kernbench/platform/entry/system.h"
#include "kernbench/platform/run/spec/run_document.h"
#include "kernbench/platform/work/collective_table.h"

namespace kernbench::cli {
namespace {

constexpr const char* kChecksHelp =
    "Checks of every run; the last line summarizes them (docs/probe.md):\n"
    "  laws of the model; exit status 1 if one fails:\n"
    "    formula     an isolated transaction takes its closed form and waits for nothing\n"
    "    parts       overhead, drain, wire, store-and-forward and queueing sum to the latency\n"
    "    hops        the hops of its path sum to the latency\n"
    "    read-write  over symmetric links a read takes as long as a write, each without its\n"
    "                store-and-forward (not with --links flit)\n"
    "    size        more bytes never take less time (--sweep)\n"
    "    peak        PEs never exceed the bandwidth of memories and links (--saturate)\n"
    "  expectations of a plausible machine; exit status 1 if one fails and --check is given:\n"
    "    distance    an HBM slice that is farther away in mm and hops never answers earlier\n"
    "    best-worst  the fastest slice is faster than the slowest, if distances differ\n"
    "    fairness    PEs that read one slice get shares within 5 % of the mean, where equal shares leave a fifth\n"
    "                of every link before the memory to spare (--saturate with --links flit)";

struct Simulation {
  CLI::App* command;
  std::shared_ptr<spec::RunSpec> spec;
};

Simulation add_simulation(CLI::App& app, const char* name, const char* help) {
  return {app.add_subcommand(name, help), std::make_shared<spec::RunSpec>(spec::table_of(name))};
}

std::function<void()> options_of(const Simulation& s) {
  return [s] { add_options(*s.command, *s.spec); };
}

/// The run checks them again; here they are checked before --log is opened.
std::function<void(CommandFiles&)> all_files_of(const Simulation& s) {
  return [spec = s.spec](CommandFiles& files) {
    if (files.has_outputs()) add_files(files, *spec);
  };
}

/// The table is written row by row, except for JSON, which starts with the run's document.
int collectives(const spec::RunSpec& spec) {
  const bool grows = spec.text("format") != "json";
  std::optional<RowWriter> table;  // nothing is printed before the input has been checked
  Progress progress;
  size_t rows = 0;
  RunHooks hooks = hooks_with(progress);
  hooks.watch = {};
  hooks.row = [&](const CollectiveRow& row, size_t of) {
    progress.clear();
    if (grows && !table) table.emplace(collective_writer(std::cout, spec.text("format"), spec::RunDocument()));
    if (grows) table->row(row);
    progress.show(fmt::format("{} of {} done", ++rows, of));
  };
  const RunRecord r = run_here(spec, hooks);
  progress.clear();
  if (grows) {
    table->end("");
  } else {
    r.write(std::cout);
  }
  return r.status;
}

}  // namespace

RunHooks hooks_with(Progress& progress) {
  RunHooks hooks;
  hooks.document = false;  // reports create their own
  hooks.tell = [&progress](const std::string& line) {
    progress.clear();
    tell(line);
  };
  hooks.watch = [&progress](Timeline& timeline) {
    progress.watch(timeline);
    return nullptr;
  };
  hooks.on_replay_progress = progress.replay_observer();
  return hooks;
}

int simulate(const spec::RunSpec& spec, const std::string& topology_text, std::shared_ptr<OpLogSink> log) {
  Progress progress;
  RunHooks hooks = hooks_with(progress);
  hooks.topology_text = topology_text;
  hooks.log = std::move(log);
  const RunRecord r = run_here(spec, hooks);
  progress.clear();
  r.write(std::cout);
  return r.status;
}

namespace {

Command simulation(CLI::App& app, const char* name, const char* help) {
  const Simulation s = add_simulation(app, name, help);
  return {s.command, [spec = s.spec] { return simulate(*spec); }, all_files_of(s), options_of(s)};
}

}  // namespace

Command add_run(CLI::App& app) {
  return simulation(app, "run",
                    "Run a kernel or a program on the PEs of a system; report its time and verify its results");
}

Command add_model(CLI::App& app) {
  return simulation(app, "model",
                    "Run prefill and decode of a decoder model, or an ONNX graph; report times by layer and resources");
}

Command add_traffic(CLI::App& app) {
  return simulation(app, "traffic", "Replay memory requests on a system and print the times of each");
}

Command add_pipeline(CLI::App& app) {
  return simulation(app, "pipeline", "Run composites, simple commands and programs of calls on PEs, for timing only");
}

Command add_probe(CLI::App& app) {
  const Command c = simulation(app, "probe", "Send transactions through an idle system and show where their time goes");
  c.app->footer(kChecksHelp);
  return c;
}

Command add_collectives(CLI::App& app) {
  const Simulation s = add_simulation(app, "collectives", "Measure collectives by size, in the form of nccl-tests");
  return {s.command, [spec = s.spec] { return collectives(*spec); }, all_files_of(s), options_of(s)};
}

}  // namespace kernbench::cli
