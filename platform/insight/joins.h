// SPDX-License-Identifier: Apache-2.0
// The causes of a run as a page carries them, to time the run anew under other costs: what waits for one thing alone
// is no moment of its own there, but a cost more of what waits for it. What is left are joins, which come with the
// last of several causes (run_graph.h).
#pragma once

#include <cstddef>
#include <string>

#include "kernbench/platform/insight/run_graph.h"

namespace kernbench::insight {

/// Of the run up to the moment `end`. Bytes, of which observe/page/retimer.cpp is the reader; numbers are varints
/// (seven bits a byte, the lowest first), times doubles in ns, little-endian:
///   costs (count); of each its parts (count), of each part a byte, its Resource, and a time
///   joins (count) beside join 0, the begin of the run; causes of all (count); of each join, in order, its causes
///     (count), of each how many joins before, and a cost
///   turns (count): a server has served what was ready by one before what was ready by another; of each, twice, a join
///     and a cost behind it
///   the end: a join and a cost behind it; the begin: a time
/// Empty where they are more than `most`.
std::string packed_joins(const RunGraph&, Moment end, size_t most);

}  // namespace kernbench::insight
