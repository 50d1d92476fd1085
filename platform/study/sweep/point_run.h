// A point as a worker is given it, and what came of it: of sweeps, servers and tuners alike.
#pragma once

#include <string>

#include "kernbench/platform/study/sweep/axis.h"
#include "kernbench/platform/study/sweep/store.h"
#include "kernbench/platform/run/child/child_pool.h"

namespace kernbench::sweep {

/// The command line as a shell reads it.
std::string command_text(const Words& words);

/// Whether it is a run with --explain.
bool is_explained(const Words&);
/// The same run with it.
Words explained(Words);

/// With what every point is given: a report as JSON and, among `jobs` points at a time, one thread unless it has its
/// own: the processors are shared already, and results do not depend on threads.
Words worker_words(Words point, size_t jobs);

/// What it wrote to stdout is its report; where it is none, as other things stand among it, the point has failed.
PointResult result_of(const ChildPool::Ended&, double timeout_s, bool run);

}  // namespace kernbench::sweep
