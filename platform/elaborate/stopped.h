// SPDX-License-Identifier: Apache-2.0
// Messages for a simulation that was ended from outside.
#pragma once

#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

class Machine;

/// Returns if the simulation ended by itself. Else throws a message with each kernel's place. The exception is RunError
/// if the timeline's limit was reached or the stop's reason is SIGALRM (a limit of wall time). Else it is Stopped, with
/// the reason as its signal.
void throw_if_stopped(Machine&);
/// For a return while `what` is in progress: the same, or RunError if other code paused or stopped the simulation.
void throw_if_left(Machine&, const std::string& what);

}  // namespace kernbench::elaborate
