// SPDX-License-Identifier: Apache-2.0
// `kernbench tune`: finds the best point of a plan, or its Pareto front, by successive halving: all points on a small
// machine, the better ones on a larger one, the best few on the full machine (docs/optimisers.md).
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "kernbench/platform/study/sweep/plan.h"
#include "kernbench/platform/study/sweep/table.h"

namespace kernbench::sweep {

struct TuneOptions {
  Plan plan;
  std::vector<Objective> by = {{"sim_ns", false}};
  std::vector<double> weights;  ///< of `by`, see ranked_by(); none: the best by one objective, or the Pareto front
  unsigned jobs = 0;            ///< concurrent processes; 0: one per processor
  double budget = 0.05;         ///< share of the full plan's cost, 0 to 1; at least two points on the full machine
  uint64_t seed = 1;            ///< selects the points if the budget does not allow all
  double timeout_s = 0;         ///< per point; 0: unlimited
  std::string version;          ///< of kernbench, for the store
  std::string store;            ///< file; empty: none
  Form form = Form::text;
};

struct TuneHooks {
  std::function<int(const Words&)> describe;  ///< prints Shrinking::to_json() of a point, in a child process
  std::function<void(const std::string& line)> tell;
  std::function<void(size_t rung, size_t rungs, size_t points, size_t of)> progress;
};

/// PEs of each rung: 1, 16, 256, …, and all PEs of the machine, which are at least four times the previous rung.
std::vector<size_t> rungs_of(size_t pes);

/// Number of points that each rung tries, out of `points`. A point's cost is its share of `rungs.back()`; the total is
/// at most `budget` (2 or more). The full machine tries at most `finalists`, with half of the budget.
std::vector<size_t> points_of_rungs(const std::vector<size_t>& rungs, size_t points, double budget, size_t finalists);

/// Writes a row for each tried point, rung by rung, the best first. Returns 1 if no point completed on the full
/// machine. InputError; Stopped after a signal.
int run_tuner(const TuneOptions&, std::ostream& table, const TuneHooks&);

}  // namespace kernbench::sweep
