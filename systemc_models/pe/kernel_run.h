// SPDX-License-Identifier: Apache-2.0
// A run of a kernel on a PE as those see it who start it and wait for its end; who runs it: kernel_runner.h. Plain C++:
// no SystemC here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kernbench/phase2/op/op.h"

namespace kernbench {
class PeBackend;
}

namespace kernbench::pe {

/// Of which launch a kernel is.
struct LaunchId {
  uint32_t number = kNoLaunch;  ///< of a program's, from 0: what records say
  std::string what;             ///< "launch 3 (gemm)"; empty: nobody has named it
  std::string kernel;           ///< its name; empty: it has none
};

/// What a PE runs.
using KernelBody = std::function<void(PeBackend&)>;

/// How a launch ended; told once, when the kernel has returned and all its commands are complete, or at a fault.
struct KernelOutcome {
  double start_ns = 0, end_ns = 0;
  double scalar_ns = 0;  ///< of it, the kernel's scalar work: tl.elapse, and reading what it loaded
  std::string fault;     ///< one line; empty if none
};

}  // namespace kernbench::pe
