// SPDX-License-Identifier: Apache-2.0
// `kernbench tune`: the best point of a plan, or its front, by successive halving: all points on a small machine, the
// better ones on a larger one, the best few on the whole (docs/optimisers.md).
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
  std::vector<double> weights;  ///< of `by`, ranked_by(); none: the best by one, or the front by several
  unsigned jobs = 0;            ///< processes at a time; 0: one a processor
  double budget = 0.05;         ///< share of the plan's simulation, 0 to 1; never less than two whole points
  uint64_t seed = 1;            ///< of which points are tried, where the budget is not enough for all
  double timeout_s = 0;         ///< of a point; 0: none
  std::string version;          ///< of kernbench, for the store
  std::string store;            ///< file; empty: none
  Form form = Form::text;
};

struct TuneHooks {
  std::function<int(const Words&)> describe;  ///< prints Shrinking::to_json() of one, in a copy
  std::function<void(const std::string& line)> tell;
  std::function<void(size_t rung, size_t rungs, size_t points, size_t of)> progress;
};

/// PEs of each rung of a machine of so many: 1, 16, 256, … and all of them, four times the one before at least.
std::vector<size_t> rungs_of(size_t pes);

/// How many of `points` each rung tries: the cost of a point there is its share of `rungs.back()`, that of all together
/// at most `budget` (2 or more). The whole machine tries `finalists` at most, for half of it.
std::vector<size_t> points_of_rungs(const std::vector<size_t>& rungs, size_t points, double budget, size_t finalists);

/// Writes a row for each point that was tried, rung by rung, the best first. 1 where none ran through on the whole
/// machine. InputError; Stopped where a signal comes.
int run_tuner(const TuneOptions&, std::ostream& table, const TuneHooks&);

}  // namespace kernbench::sweep
