// SPDX-License-Identifier: Apache-2.0
// A simulation to its end.
#pragma once

#include "kernbench/phase2/rooms.h"

namespace kernbench::elaborate {

/// sc_start(). What a process could not go on from comes out as RunError, in its own words; SystemC would put them into
/// a report of several lines. std::bad_alloc where memory was short: what the models have done last may be a part.
void simulate();
/// RunError in a process of the simulation, which cannot be simulated once more from there.
void require_no_process();
/// The same by sc_start(ns): as long as that, unless it pauses before.
void simulate_for(double ns);

}  // namespace kernbench::elaborate
