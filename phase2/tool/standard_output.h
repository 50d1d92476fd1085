// SPDX-License-Identifier: Apache-2.0
// The end of what a command writes to stdout.
#pragma once

namespace kernbench::cli {

/// Flushes stdout. Returns the status of a command that ended with `status`. If stdout cannot take everything (a full
/// disk), it writes one line to stderr and turns a status of 0 into 1.
int close_stdout(int status);

}  // namespace kernbench::cli
