// SPDX-License-Identifier: Apache-2.0
// The current line of a user's source, by debug information.
#pragma once

namespace kernbench {

/// Call it once, before any other function here.
void prepare_source_lines();

/// Calls `found(file, line)` for the innermost frame of the calling thread's stack whose source belongs neither to this
/// project nor to the system. Returns whether there is one; false without debug information or the library. It looks
/// through a signal's frame and is safe in a signal handler (the library maps memory instead of allocating).
bool find_source_line(void (*found)(const char* file, int line));

}  // namespace kernbench
