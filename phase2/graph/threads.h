// SPDX-License-Identifier: Apache-2.0
// The number of threads that this process can start.
#pragma once

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// Returns `wanted` (>= 1, including the calling thread), or fewer if the system refuses threads. It tries to start
/// them, because a library that starts threads internally ends the program if one is refused.
int threads_to_be_had(int wanted);

}  // namespace kernbench::phase2
