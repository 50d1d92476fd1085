// SPDX-License-Identifier: Apache-2.0
// Early reservation: the conditions under which a link mode may reserve a message's place immediately, instead of
// waiting on the timeline. ahead_of_time.md in this folder explains why this is exact and how the conditions are known
// in advance.
#pragma once

#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/memory_target.h"

namespace kernbench::ahead_of_time {

/// At the first link. The initiator is the only sender, and none of its messages waits. A read precedes a write that is
/// granted at the same instant (§9), so no other message can precede this one.
inline bool first_in_turn(const FabricTransaction& x, const Link& first) {
  return !x.write && first.waiting == 0 && first.sole_sender == &x.initiator->owner();
}

/// At a link or a memory: everything that goes there comes by `from`, in the order in which it left there.
inline bool next_in_turn(const Link& next, const Link* from) {
  return from && next.sole_sender == from;
}
inline bool next_in_turn(const MemoryTarget& memory, const Link* from) {
  return from && memory.sole_sender() == from;
}

/// At a memory, if links keep no order: everything that goes there is this initiator's, and none of it waits.
inline bool next_in_turn(const MemoryTarget& memory, const FabricTransaction& x) {
  return !x.write && memory.sole_sender() == &x.initiator->owner() && memory.requests_waiting() == 0;
}

/// Whether flits that leave `from` become ready at a node in that order. (A message's first flit waits for the overhead
/// and the others do not. So if flits of several messages are mixed, one may overtake.)
inline bool flits_keep_order(const Link& from, double overhead_ns) {
  return from.unmixed || overhead_ns == 0;
}

}  // namespace kernbench::ahead_of_time
