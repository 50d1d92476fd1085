// `run --explain=verify`: of all changes of one thing (single_changes.h) those that the run's own causes suggest, what
// these predict of each, and what it brings when it is simulated.
#pragma once

#include <vector>

#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/tools/single_changes.h"

namespace kernbench {

/// The first `most`: what is predicted to save most, of what saves within 5 % of the run of it what costs nothing
/// first, and no more than two for one reason. A prediction is exact where only rates change and no order does; else
/// `about`.
std::vector<insight::Insight::Remedy> proposals(const std::vector<SingleChange>&, const insight::Insight&, size_t most);

/// Does the run again with each change, in a process of its own, and sets what it took: what is best then stands first,
/// of what is as good what is free. Stopped where a signal ends them.
void simulate(std::vector<insight::Insight::Remedy>&, const std::vector<SingleChange>&, const spec::RunSpec&,
              double sim_ns);

}  // namespace kernbench
