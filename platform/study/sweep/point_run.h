// SPDX-License-Identifier: Apache-2.0
// A point's run in a child process and its result, for sweeps, servers and tuners.
#pragma once

#include <string>

#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/study/sweep/axis.h"
#include "kernbench/platform/study/sweep/store.h"

namespace kernbench::sweep {

/// The command line in shell syntax.
std::string command_text(const Words& words);

/// Whether it is a run with --explain.
bool is_explained(const Words&);
/// Adds --explain to the run.
Words explained(Words);

/// Work of a forked process: simulates the point. Among `jobs` concurrent points it uses one thread unless its options
/// set the number, because all processors are in use. Results do not depend on threads.
int simulate_point(const Words& point, size_t jobs);

/// The ended point's result.
PointResult result_of(const ChildPool::Ended&, double timeout_s, bool run);

}  // namespace kernbench::sweep
