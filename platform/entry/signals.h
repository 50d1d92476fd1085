// SPDX-License-Identifier: Apache-2.0
// What signals do to the program: one line that says where it was, and an exit status.
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

/// Installs handlers, on a stack of their own.
///  - A kernel that overflows its stack or crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) ends the program with a
///    line that names its PE, itself and its source line, and exit status 1. So does a plug-in that crashes while it is
///    loaded or unloaded. Any other fault is left to the system.
///  - SIGINT, SIGTERM and SIGHUP end the program with exit status 128 + their number: where a timeline is watched, by
///  its
///    stop(), so that logs end well; at once where that takes longer than a second, at the second signal, and
///    elsewhere, and before this is called. Who was started with one of them ignored goes on ignoring it.
void install_signal_handlers();

/// While it lives, the signals that end the program stop this timeline.
class StopsOnSignals {
 public:
  explicit StopsOnSignals(Timeline&);
  ~StopsOnSignals();
  StopsOnSignals(const StopsOnSignals&) = delete;
  StopsOnSignals& operator=(const StopsOnSignals&) = delete;
};

/// SIGALRM after so many seconds of wall time (> 0), which ends the program like SIGINT, with exit status 1.
void limit_wall_time(double seconds);

/// The line on stderr of a call that ends or copies the program: of a kernel, of a plug-in that is loaded or unloaded,
/// or of anybody else. `does`: "ends the program by exit". Safe in a signal handler.
void say_end_of_kernel(const RunningKernel*, const char* does, int argument);

/// A thread that a kernel has begun and that still runs, as one line; empty: there is none. Null unless the program
/// looks for such (platform/cli/ends_of_kernels.cpp).
extern std::string (*thread_left_by_a_kernel)();
/// Which kernel began the calling thread; null: none did. Safe in a signal handler. Null as above.
extern const char* (*thread_of_a_kernel)();

}  // namespace kernbench
