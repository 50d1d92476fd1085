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
  /// As for a kernel: `kernel` is the program's name. Times of a PE: its first start, its last end, the scalar work of
  /// all its launches. end_ns is the end of the last operation.
  RunReport run;
  uint32_t ranks = 0;
  host::Context::Stored tensors;     ///< peak memory of its tensors
  std::vector<host::Operation> ops;  ///< in enqueue order
};

/// Runs RunOptions::program, once per platform. InputError, BadParam, NpyError and RunError as in run_kernel() and
/// host::Context.
ProgramReport run_program(Platform&, RunOptions);

void write_program_text(std::ostream&, const ProgramReport&);
/// JSON as in collectives rules §13.8.
void write_program_json(std::ostream&, const ProgramReport&);

}  // namespace kernbench
