// SPDX-License-Identifier: Apache-2.0
// The causal graph of a run in the form that a page carries, to predict the run's time under other costs. An event with
// one dependency is merged into the cost of its successors. Only joins remain: events with several dependencies
// (run_graph.h).
#pragma once

#include <cstddef>
#include <string>

#include "kernbench/platform/insight/run_graph.h"

namespace kernbench::insight {

/// The graph of the run up to the event `end`. observe/page/retimer.cpp reads the bytes. Numbers are varints (seven
/// bits per byte, the lowest first), times doubles in ns, little-endian:
///   costs (count); for each its parts (count); for each part a byte, its Resource, and a time
///   joins (count) after join 0, the begin of the run; dependencies of all (count); for each join, in order, its
///     dependencies (count), each as the number of joins back, and a cost
///   arbitration orders (count): a server served one item before another; for both a join and a cost after it,
///     and how often
///   the end: a join and a cost after it; the begin: a time
/// Empty if longer than `most`.
std::string packed_joins(const RunGraph&, Moment end, size_t most);

}  // namespace kernbench::insight
