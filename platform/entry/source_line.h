// SPDX-License-Identifier: Apache-2.0
// The line of a user's source that the program stands in, by its debug information.
#pragma once

namespace kernbench {

/// To be called once, before anything else here.
void prepare_source_lines();

/// Calls `found(file, line)` for the innermost frame of the calling thread's stack whose source is neither this
/// project's own nor the system's, and says whether there is one. Through a signal's frame, too; safe in a signal
/// handler (the library maps memory instead of allocating). Without debug information, or the library: false.
bool find_source_line(void (*found)(const char* file, int line));

}  // namespace kernbench
