// SPDX-License-Identifier: Apache-2.0
// The signals that end a process with children.
#pragma once

#include <csignal>
#include <string>

namespace kernbench {

/// While it exists, SIGINT, SIGTERM and SIGHUP are blocked and only taken between waits, so that the process ends its
/// children first. Ignored signals stay ignored.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  /// The previous mask, for waits and for children.
  const sigset_t& before() const { return before_; }
  /// The signal that came since the last call; 0: none.
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
