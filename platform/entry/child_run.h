// SPDX-License-Identifier: Apache-2.0
// run() in forked processes, for callers that have their own process pool.
#pragma once

#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/run/record/record.h"

namespace kernbench {

/// Work of a forked process: simulates the result of `spec` and writes the record to stdout, with its report if
/// `with_report`. Returns the exit status.
int simulate_in_copy(const std::function<spec::RunSpec()>& spec, bool with_report);

/// The record of an ended process. `timeout_s`: the pool's limit.
RunRecord record_of(const ChildPool::Ended&, double timeout_s = 0);

}  // namespace kernbench
