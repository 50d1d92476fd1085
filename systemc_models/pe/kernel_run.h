// SPDX-License-Identifier: Apache-2.0
// A kernel's run on a PE, as seen by the code that starts it and waits for its end. kernel_runner.h runs it. Plain C++,
// no SystemC.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kernbench/phase2/op/op.h"

namespace kernbench {
class PeBackend;
}

namespace kernbench::pe {

/// The launch of a kernel.
struct LaunchId {
  uint32_t number = kNoLaunch;  ///< in a program, from 0; used in records
  std::string what;             ///< "launch 3 (gemm)"; empty: unnamed
  std::string kernel;           ///< name of the kernel; empty: none
};

/// A function that a PE runs.
using KernelBody = std::function<void(PeBackend&)>;

/// Result of a launch. Reported once: when the kernel has returned and all its commands are complete, or at a fault.
struct KernelOutcome {
  double start_ns = 0, end_ns = 0;
  double scalar_ns = 0;  ///< part of it for scalar work: tl.elapse, and reading loaded elements
  std::string fault;     ///< one line; empty if none
  bool aborted = false;  ///< the fault is an abort from outside
};

}  // namespace kernbench::pe
