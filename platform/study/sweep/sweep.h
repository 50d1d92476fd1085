// SPDX-License-Identifier: Apache-2.0
// `kernbench sweep`: a run, model or probe for each point of a plan, several concurrently, as a table.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "kernbench/platform/study/sweep/metrics.h"
#include "kernbench/platform/study/sweep/plan.h"
#include "kernbench/platform/study/sweep/table.h"

namespace kernbench::sweep {

struct SweepOptions {
  Plan plan;
  unsigned jobs = 0;  ///< concurrent processes; 0: one per processor
  Form form = Form::csv;
  std::string version;               ///< of kernbench, for the store
  std::string store;                 ///< file; empty: none
  bool stored_only = false;          ///< simulates nothing, only reads the store
  size_t shard = 1, shards = 1;      ///< every shards-th point, from the shard-th on
  double timeout_s = 0;              ///< per point; 0: unlimited
  unsigned retries = 1;              ///< for a point ended by a signal or the timeout
  std::vector<std::string> metrics;  ///< columns; none: sim_ns and verified
  std::vector<Objective> sort;       ///< at most one; none: the plan's order
  std::vector<Objective> pareto;     ///< none: all points
};

struct SweepHooks {
  /// A point has been added to the table; `fault` is its first line on stderr, usually none.
  std::function<void(const std::string& point, const std::string& fault)> ended;
  std::function<void(size_t points, size_t of, size_t simulated)> progress;
  std::function<void(const std::string& line)> tell;
  std::function<void(const std::string& svg)> picture;     ///< empty: not requested
  std::function<void(const std::string& html)> page;       ///< of all points; empty: not requested
  std::function<void(const std::string& bytes)> database;  ///< the table's database; empty: not requested
};

/// Number of points of the sweep. InputError as in run_sweep, except for errors in the store.
size_t points_of_sweep(const SweepOptions&, const SweepHooks&);

/// Writes the table in the plan's order, or sorted, independent of the number of processes. Returns the worst exit
/// status of its points: 2, else 1, else 0. InputError for invalid options; Stopped after a signal.
int run_sweep(const SweepOptions&, std::ostream& table, const SweepHooks&);

}  // namespace kernbench::sweep
