// SPDX-License-Identifier: Apache-2.0
// A point as a worker is given it, and what came of it: of sweeps, servers and tuners alike.
#pragma once

#include <string>

#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/study/sweep/axis.h"
#include "kernbench/platform/study/sweep/store.h"

namespace kernbench::sweep {

/// The command line as a shell reads it.
std::string command_text(const Words& words);

/// Whether it is a run with --explain.
bool is_explained(const Words&);
/// The same run with it.
Words explained(Words);

/// The work of a copy of this process: simulates the point. Among `jobs` points at a time it has one thread unless it
/// names a number: the processors are shared already, and results do not depend on threads.
int simulate_point(const Words& point, size_t jobs);

/// What came of it.
PointResult result_of(const ChildPool::Ended&, double timeout_s, bool run);

}  // namespace kernbench::sweep
