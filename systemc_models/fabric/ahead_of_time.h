// SPDX-License-Identifier: Apache-2.0
// Where order is decided ahead of time: all questions that a link mode asks before it lets a message take a place at
// once instead of waiting on the timeline for its turn. Why that is exact, and who knows the answers beforehand:
// ahead_of_time.md, beside this file.
#pragma once

#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::ahead_of_time {

/// At the first link: the initiator alone sends there, none of its messages waits, and a read goes before a write that
/// is granted at the same instant (§9), so none can come before this one.
inline bool first_in_turn(const FabricTransaction& x, const Link& first) {
  return !x.write && first.waiting == 0 && first.sole_sender == &x.initiator->owner();
}

/// At a link, or at a memory: all that goes there comes by `from`, in the order in which it left there.
inline bool next_in_turn(const Link& next, const Link* from) {
  return from && next.sole_sender == from;
}
inline bool next_in_turn(const MemoryTarget& memory, const Link* from) {
  return from && memory.sole_sender() == from;
}

/// At a memory, where links keep no order: all that goes there is this initiator's, and nothing of it waits.
inline bool next_in_turn(const MemoryTarget& memory, const FabricTransaction& x) {
  return !x.write && memory.sole_sender() == &x.initiator->owner() && memory.requests_waiting() == 0;
}

/// Flits that come out of `from` become ready at a node in that order. (A message's first flit waits for the overhead,
/// the others do not: of messages whose flits are mixed, one may overtake.)
inline bool flits_keep_order(const Link& from, double overhead_ns) {
  return from.unmixed || overhead_ns == 0;
}

}  // namespace kernbench::ahead_of_time
