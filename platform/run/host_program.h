// `kernbench run --program`: a program beside the simulation, from tensors in to verified tensors out.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "kernbench/platform/host/context.h"
#include "kernbench/platform/host/streams.h"
#include "kernbench/platform/run/run.h"

namespace kernbench {

struct ProgramReport {
  /// As of a kernel: `kernel` is the program's name; a PE's times are its first start, last end, and the scalar work of
  /// all its launches; end_ns is the end of the last operation.
  RunReport run;
  uint32_t ranks = 0;
  host::Context::Stored tensors;     ///< the most that its tensors took at a time
  std::vector<host::Operation> ops;  ///< in the order of enqueueing
};

/// Runs once per platform: RunOptions::program. InputError, BadParam, NpyError and RunError as run_kernel(), and as
/// host::Context says.
ProgramReport run_program(Platform&, RunOptions);

void write_program_text(std::ostream&, const ProgramReport&);
/// Collectives contract §13.8.
void write_program_json(std::ostream&, const ProgramReport&);

}  // namespace kernbench
