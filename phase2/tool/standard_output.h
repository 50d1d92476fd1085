// SPDX-License-Identifier: Apache-2.0
// The end of what a command writes to stdout.
#pragma once

namespace kernbench::cli {

/// Writes what is left. The status of a command that ended with `status`: where stdout could not take all of it (a full
/// disk), one line on stderr, and 1 for a status of 0.
int close_stdout(int status);

}  // namespace kernbench::cli
