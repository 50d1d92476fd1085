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
  sc_core::sc_event changed;           ///< notified when an operation ends and the program waits for it
  std::map<uint32_t, Stream> readers;  ///< by rank: streams for copies that only wait for a tensor's writers
  uint32_t tensors_made = 0, events_made = 0;
};

/// Runs a call of the program at that line. Error messages start with the line.
template <class Work>
auto Context::at(const char* file, int line, const Work& work) const {
  last_call_ = {file, line};
  return located(last_call_, work);
}

}  // namespace kernbench::host
