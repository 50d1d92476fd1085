// SPDX-License-Identifier: Apache-2.0
// `kernbench sweep`: a run, model or probe for every point of a plan, several at a time, as a table.
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
  unsigned jobs = 0;  ///< processes at a time; 0: one a processor
  Form form = Form::csv;
  std::string version;               ///< of kernbench, for the store
  std::string store;                 ///< file; empty: none
  bool stored_only = false;          ///< nothing is simulated: what the store has
  size_t shard = 1, shards = 1;      ///< every shards-th point, from the shard-th on
  double timeout_s = 0;              ///< of a point; 0: none
  unsigned retries = 1;              ///< of a point that a signal or the time has ended
  std::vector<std::string> metrics;  ///< columns; none: sim_ns and verified
  std::vector<Objective> sort;       ///< one, or none: the points' order
  std::vector<Objective> pareto;     ///< none: all points
};

struct SweepHooks {
  /// A point stands in the table; `fault` is the first line that it said on stderr, mostly none.
  std::function<void(const std::string& point, const std::string& fault)> ended;
  std::function<void(size_t points, size_t of, size_t simulated)> progress;
  std::function<void(const std::string& line)> tell;
  std::function<void(const std::string& svg)> picture;     ///< empty: none is wanted
  std::function<void(const std::string& html)> page;       ///< of all points; the same
  std::function<void(const std::string& bytes)> database;  ///< the table as one; the same
};

/// How many points the sweep has; InputError as run_sweep's, but for what its store says.
size_t points_of_sweep(const SweepOptions&, const SweepHooks&);

/// Writes the table in the points' order, or sorted, whatever the number of processes. Returns the worst exit status of
/// its points: 2, else 1, else 0. InputError for options that make no sweep; Stopped where a signal comes.
int run_sweep(const SweepOptions&, std::ostream& table, const SweepHooks&);

}  // namespace kernbench::sweep
