// SPDX-License-Identifier: Apache-2.0
// The parts of a program's Context, for the files that implement it.
#pragma once

#include <map>
#include <systemc>

#include "kernbench/platform/host/program_copies.h"
#include "kernbench/platform/host/program_launches.h"
#include "kernbench/platform/host/program_tensors.h"
#include "kernbench/platform/platform.h"

namespace kernbench::host {

struct Context::Parts {
  Parts(Platform& platform, const ProgramSpec& spec, const ProgramPes& pes, const ContextOptions& options,
        Streams& streams)
      : tensors(platform, pes),
        launches(platform, spec, pes, options, streams, clocks, fault),
        copies(platform.hosts().launch_host(), options.timed_transfer, streams, clocks, fault) {}
  StreamClocks clocks;
  FirstFault fault;
  ProgramTensors tensors;
  ProgramLaunches launches;
  ProgramCopies copies;
  sc_core::sc_event changed;           ///< an operation has ended, and the program waits for that
  std::map<uint32_t, Stream> readers;  ///< by rank: where copies stand that wait for a tensor's writers alone
  uint32_t tensors_made = 0, events_made = 0;
};

/// Runs a call of the program at that line. Its faults begin with the line.
template <class Work>
auto Context::at(const char* file, int line, const Work& work) const {
  last_call_ = {file, line};
  return located(last_call_, work);
}

}  // namespace kernbench::host
