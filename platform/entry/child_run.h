// SPDX-License-Identifier: Apache-2.0
// run() in copies of this process, for callers with a pool of their own.
#pragma once

#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/run/record/record.h"

namespace kernbench {

/// The work of a copy: simulates what `spec` returns, and writes the record to stdout, its report if `with_report`. The
/// exit status.
int simulate_in_copy(const std::function<spec::RunSpec()>& spec, bool with_report);

/// The record of a copy that has ended. `timeout_s`: the pool's.
RunRecord record_of(const ChildPool::Ended&, double timeout_s = 0);

}  // namespace kernbench
