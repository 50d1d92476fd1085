// SPDX-License-Identifier: Apache-2.0
// An elaborated topology: the compiled graph, the system that its blocks share, the blocks as modules, the routes of
// memory traffic, and the PEs. The host (platform/launch) uses it; Platform contains both.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/platform/elaborate/elaboration.h"
#include "kernbench/platform/elaborate/host_observer.h"
#include "kernbench/platform/elaborate/pes.h"
#include "kernbench/platform/elaborate/routes.h"
#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::core {
class OpLogger;
class Timeline;
}  // namespace kernbench::core
namespace kernbench::phase2 {
class OpLogSink;
}
namespace kernbench {
class Platform;
}
namespace kernbench::memory {
class System;
}

namespace kernbench::elaborate {

class RunWatch;

class Machine {
 public:
  /// Call it inside a module under construction. std::runtime_error (one line) if an impl cannot be created.
  explicit Machine(topology::Graph graph);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const topology::Graph& graph() const { return graph_; }
  System& system() { return *system_; }
  Timeline& timeline();
  /// Time of its timeline.
  double now_ns();
  Elaboration& blocks() { return blocks_; }
  Routes& routes() { return routes_; }
  Pes& pes() { return pes_; }
  RunWatch& runs() { return *runs_; }
  HostObservers& host_observers() { return host_observers_; }

  /// For a run to completion: instants may be processed without the kernel (Timeline::run_ahead), unless foreign blocks
  /// may read the kernel's time.
  void run_ahead();

  /// Simulates collectives on these PEs for `algorithm=best`, as LaunchCosts::simulated_ns; unset: unsupported.
  using Trials = std::function<std::vector<double>(const CollectiveTrial&, const std::vector<size_t>& pes)>;
  void set_trials(Trials trials) { trials_ = std::move(trials); }
  const Trials& trials() const { return trials_; }

  /// Attaches an op log to all blocks (null: none). Not during a simulation.
  void attach_log(OpLogSink* sink);

 private:
  const topology::Graph graph_;
  const std::unique_ptr<System> system_;
  Elaboration blocks_;
  Routes routes_;
  Pes pes_;
  const std::unique_ptr<RunWatch> runs_;
  HostObservers host_observers_;
  Trials trials_;
  std::unique_ptr<OpLogger> logger_;
};

/// The machine of a platform, for code without SystemC.
Machine& machine_of(Platform&);

}  // namespace kernbench::elaborate
