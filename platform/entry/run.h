// A run is a function: a spec in, a record out. All commands with a table of options (platform/run/spec/run_spec.h) are
// done by it: run, model, traffic, pipeline, probe, collectives.
//
//   kernbench::spec::RunSpec spec;  // of `kernbench run`
//   spec.set("topology", "small.yaml");
//   spec.set("kernel", "gemm");
//   const kernbench::RunRecord r = kernbench::run(spec);
//   std::cout << r.number("sim_ns") << "\n";
//
// Observers, energy, insight, remedies and the page come by the spec's options. The library prints no report; its log
// messages are docs/logging.md's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/run/record/record.h"

namespace kernbench {

class OpLogSink;
class Platform;
class Timeline;
struct CollectiveRow;
struct ReplayProgress;

/// What a caller takes part in. All may be empty.
struct RunHooks {
  /// A line beside the report, as soon as it is there. Empty: the record has them (RunRecord::told).
  std::function<void(const std::string& line)> tell;
  /// Called before the simulation. What it returns lives until the simulation has ended.
  std::function<std::shared_ptr<void>(Timeline&)> watch;
  std::function<void(const ReplayProgress&)> on_replay_progress;
  std::function<void(const CollectiveRow&, size_t of)> row;  ///< of `collectives`, as soon as it is there
  std::shared_ptr<OpLogSink> log;                            ///< gets the log's records if the spec asks for no op log
  /// RunRecord::document, for which traffic and pipeline read their input once more.
  bool document = true;
  std::string topology_text;  ///< the topology, if it is known already; else the file is read
};

/// Simulates in a process of its own: a copy of this one. So it may be called as often as wanted, from a program
/// without sc_main and beside a simulation of the caller's, but not from a process of a simulation. InputError or
/// RunError with the line that the command line prints; Stopped if a signal ends it.
RunRecord run(const spec::RunSpec&);
/// Simulates on a platform of the caller's, in this process. The platform must be the one that the spec's topology and
/// its options describe. InputError for --max-wall, which ends a process. Throws what the model throws.
RunRecord run(const spec::RunSpec&, Platform&, const RunHooks& = {});
/// Makes the platform and simulates in this process, which can do it once. For programs that do nothing else: signals
/// and --max-wall end the process.
RunRecord run_here(const spec::RunSpec&, const RunHooks&);

/// Each spec in a process of its own: RunEach.
void run_each(const std::vector<spec::RunSpec>&, unsigned jobs,
              const std::function<void(size_t, const RunRecord&)>& done);

}  // namespace kernbench
