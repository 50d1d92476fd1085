// SPDX-License-Identifier: Apache-2.0
// A run as a function: a spec in, a record out. All commands with a table of options (platform/run/spec/run_spec.h) use
// it: run, model, traffic, pipeline, probe, collectives.
//
//   kernbench::spec::RunSpec spec;  // of `kernbench run`
//   spec.set("topology", "small.yaml");
//   spec.set("kernel", "gemm");
//   const kernbench::RunRecord r = kernbench::run(spec);
//   std::cout << r.number("sim_ns") << "\n";
//
// The spec's options add observers, energy, insight, remedies and the HTML page. The library prints no report;
// docs/logging.md describes its log messages.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/phase2/rooms.h"
#include "kernbench/platform/run/record/record.h"

namespace kernbench::phase2 {
class OpLogSink;
struct ReplayProgress;
}  // namespace kernbench::phase2
namespace kernbench::core {
class Timeline;
}
namespace kernbench::work {
struct CollectiveRow;
}

namespace kernbench {

class Platform;

/// The caller's callbacks. All may be empty.
struct RunHooks {
  /// Called for each line beside the report, immediately. Empty: the record has them (RunRecord::told).
  std::function<void(const std::string& line)> tell;
  /// Called before the simulation. The returned object lives until the simulation has ended.
  std::function<std::shared_ptr<void>(Timeline&)> watch;
  std::function<void(const ReplayProgress&)> on_replay_progress;
  std::function<void(const CollectiveRow&, size_t of)> row;  ///< called for each row of `collectives`, immediately
  std::shared_ptr<OpLogSink> log;                            ///< gets the log's records, if the spec has no op log
  /// Fills in RunRecord::document; traffic and pipeline then read their input again.
  bool document = true;
  std::string topology_text;  ///< text of the topology; empty: the file is read
  bool shared_threads =
      false;  ///< a sweep or service passes --threads to all its runs: no warning if a run has no use for it
};

/// Simulates in a forked copy of this process. So it can be called repeatedly, from a program without sc_main, and
/// beside a simulation of the caller, but not from a process of a simulation. InputError or RunError with the message
/// of the command line; Stopped if a signal ends the run.
RunRecord run(const spec::RunSpec&);
/// Simulates on the caller's platform, in this process. The platform must match the spec's topology and its options.
/// InputError for --max-wall, which ends a process. Exceptions of the model pass through.
RunRecord run(const spec::RunSpec&, Platform&, const RunHooks& = {});
/// Creates the platform and simulates in this process, which is possible once. For programs that do nothing else:
/// signals and --max-wall end the process.
RunRecord run_here(const spec::RunSpec&, const RunHooks&);

/// Simulates each spec in its own process: RunEach.
void run_each(const std::vector<spec::RunSpec>&, unsigned jobs,
              const std::function<void(size_t, const RunRecord&)>& done);

}  // namespace kernbench
