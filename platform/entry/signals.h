// SPDX-License-Identifier: Apache-2.0
// Effects of signals on the program: one line with the place, and an exit status.
#pragma once

#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::pe {
class RunningKernel;
}
namespace kernbench::core {
class Timeline;
}

namespace kernbench {

/// Installs handlers on their own stack.
/// - A kernel that overflows its stack or crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) ends the program with exit
///   status 1. One line names its PE, the kernel and the source line. The same holds for a plug-in that crashes while
///   it is loaded or unloaded. All other faults are left to the system.
/// - SIGINT, SIGTERM and SIGHUP end the program with exit status 128 + their number. If a timeline is watched, its
///   stop() is called, so that logs are completed. The program ends at once if that takes longer than a second, at the
///   second signal, and if no timeline is watched. A signal that was ignored at the program's start stays ignored.
void install_signal_handlers();

/// While it exists, signals that end the program stop this timeline.
class StopsOnSignals {
 public:
  explicit StopsOnSignals(Timeline&);
  ~StopsOnSignals();
  StopsOnSignals(const StopsOnSignals&) = delete;
  StopsOnSignals& operator=(const StopsOnSignals&) = delete;
};

/// SIGALRM after that many seconds of wall time (> 0); it ends the program like SIGINT, with exit status 1.
void limit_wall_time(double seconds);

/// The message for a call that ends or forks the program, by a kernel, by a plug-in during loading or unloading, or by
/// other code. `does`: "ends the program by exit". Safe in a signal handler.
void say_end_of_kernel(const RunningKernel*, const char* does, int argument);

/// Finds a running thread that a kernel has started, as one line; empty: none. Null unless the program checks this
/// (platform/cli/ends_of_kernels.cpp).
extern std::string (*thread_left_by_a_kernel)();
/// Which kernel began the calling thread; null: none did. Safe in a signal handler. Null as above.
extern const char* (*thread_of_a_kernel)();

}  // namespace kernbench
