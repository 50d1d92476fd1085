// SPDX-License-Identifier: Apache-2.0
// What to say when a simulation was ended from outside.
#pragma once

#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

class Machine;

/// Nothing where the simulation has come to its end by itself. Else throws what says where each kernel is: RunError
/// where the limit of the timeline was reached or its stop's reason is SIGALRM (a limit of wall time), else Stopped
/// with the reason as its signal.
void throw_if_stopped(Machine&);
/// Where it has come back with `what` under way: the same, or RunError where somebody else has paused or stopped it.
void throw_if_left(Machine&, const std::string& what);

}  // namespace kernbench::elaborate
