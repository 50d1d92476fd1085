// SPDX-License-Identifier: Apache-2.0
// How many threads this process may have.
#pragma once

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

/// `wanted` (>= 1), the caller's among them, or fewer where the system refuses to start as many. It tries: what starts
/// threads of its own behind a library's interface ends the program where one is refused.
int threads_to_be_had(int wanted);

}  // namespace kernbench::phase2
