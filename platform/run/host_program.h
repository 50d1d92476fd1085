// SPDX-License-Identifier: Apache-2.0
// `kernbench run --program`: a program beside the simulation, from input tensors to verified output tensors.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "kernbench/platform/host/context.h"
#include "kernbench/platform/host/streams.h"
#include "kernbench/platform/run/run.h"

namespace kernbench {

struct ProgramReport {
  /// As for a kernel: `kernel` is the program's name; the times of a PE are its first start, its last end, and the
  /// scalar work of all its launches; end_ns is the end of the last operation.
  RunReport run;
  uint32_t ranks = 0;
  host::Context::Stored tensors;     ///< peak memory of its tensors
  std::vector<host::Operation> ops;  ///< in the order of enqueueing
};

/// Runs RunOptions::program, once for each platform. InputError, BadParam, NpyError and RunError as run_kernel(), and
/// as host::Context.
ProgramReport run_program(Platform&, RunOptions);

void write_program_text(std::ostream&, const ProgramReport&);
/// Collectives rules §13.8.
void write_program_json(std::ostream&, const ProgramReport&);

}  // namespace kernbench
