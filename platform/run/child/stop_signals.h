// SPDX-License-Identifier: Apache-2.0
// The signals that end a process which has children.
#pragma once

#include <csignal>
#include <string>

namespace kernbench {

/// While it lives, SIGINT, SIGTERM and SIGHUP are blocked, to be taken between two waits only: so that the process ends
/// its children first. One that was ignored goes on being ignored.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  /// As they were blocked before: for waits, and for children.
  const sigset_t& before() const { return before_; }
  /// The number of one that came since the last call; else 0.
  static int take();

 private:
  static constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};
  static inline volatile std::sig_atomic_t stop_signal = 0;
  sigset_t before_{};
  struct sigaction actions_[3]{};
};

/// "stopped by SIGINT".
std::string stopped_by(int signal);

}  // namespace kernbench
