// SPDX-License-Identifier: Apache-2.0
// Runs a simulation to its end.
#pragma once

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

/// sc_start(). Fatal errors of processes become RunError with their own text; SystemC would wrap them in a report of
/// several lines. std::bad_alloc if memory was short; the models' last operation may then be incomplete.
void simulate();
/// RunError inside a process of the simulation, because simulations cannot be nested.
void require_no_process();
/// The same with sc_start(ns), which may pause earlier.
void simulate_for(double ns);

}  // namespace kernbench::elaborate
