// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/child/stop_signals.h"

#include <cstring>
#include <iterator>

namespace kernbench {

StopSignals::StopSignals() {
  stop_signal = 0;
  sigset_t held;
  sigemptyset(&held);
  for (const int s : kStopSignals) sigaddset(&held, s);
  sigprocmask(SIG_BLOCK, &held, &before_);
  for (size_t i = 0; i < std::size(kStopSignals); ++i) {
    struct sigaction noted {};
    noted.sa_handler = [](int number) { stop_signal = number; };
    sigaction(kStopSignals[i], nullptr, &actions_[i]);
    if (actions_[i].sa_handler != SIG_IGN) sigaction(kStopSignals[i], &noted, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(kStopSignals); ++i) sigaction(kStopSignals[i], &actions_[i], nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int StopSignals::take() {
  const int number = stop_signal;
  stop_signal = 0;
  return number;
}

std::string stopped_by(int signal) {
  return std::string("stopped by SIG") + sigabbrev_np(signal);
}

}  // namespace kernbench
