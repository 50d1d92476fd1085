// SPDX-License-Identifier: Apache-2.0
// `run --explain=verify`: of all changes of one thing (single_changes.h) those that the run's own causes suggest, what
// these predict of each, and what it brings when it is simulated.
#pragma once

#include <vector>

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/run/record/record.h"
#include "kernbench/platform/study/what_if/single_changes.h"

namespace kernbench::study {

/// Of what is predicted to save most, of what saves as much what costs nothing first, and no more than three for one
/// reason, the first `most`: each done again in a process of its own. The best stands first, of what is as good what is
/// free. A prediction is exact where only rates change and no order does; else `about`. Stopped where a signal ends
/// them. If the best saves less than a tenth, others are tried, up to 60 runs in all. The best changes by a factor are
/// tried again with that factor until it brings less than 1 %. What saves less than 0.5 % is left out.
std::vector<insight::Insight::Remedy> tried_proposals(const std::vector<SingleChange>&, const insight::Insight&,
                                                      const LaunchNotes&, const spec::RunSpec&, size_t most,
                                                      const RunEach& run_each);

}  // namespace kernbench::study
