// SPDX-License-Identifier: Apache-2.0
// `run --explain=verify`: selects single changes (single_changes.h) that the run's causal graph suggests, predicts
// their effect, and simulates them.
#pragma once

#include <vector>

#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/run/record/record.h"
#include "kernbench/platform/study/what_if/single_changes.h"

namespace kernbench::study {

/// Simulates the first 20 proposals, each in a separate process. Proposals are sorted by predicted saving, then by
/// cost, with at most three per reason. Results are sorted by saving; among equal ones a free change comes first. A
/// prediction is exact if only rates change and no order does, else it says why not. If the best saves less than a
/// tenth, others are tried. The best factor changes are repeated until a step gains less than 1 %. With `all` every
/// change is tried, else at most 60 runs. Changes that save less than 0.5 % are omitted. Stopped after a signal.
std::vector<insight::Insight::Remedy> tried_proposals(const std::vector<SingleChange>&, const insight::Insight&,
                                                      const LaunchNotes&, const spec::RunSpec&, bool all,
                                                      const RunEach& run_each);

}  // namespace kernbench::study
