// A progress line on stderr, where that is a terminal.
#pragma once

#include <chrono>
#include <functional>

namespace kernbench {

class Timeline;
struct ReplayProgress;

namespace cli {

class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  /// Shows simulated time and events per second, from the second second on. The timeline must not outlive this object's
  /// simulation.
  void watch(Timeline&);
  /// The same for Phase 2; empty where nothing is shown.
  std::function<void(const ReplayProgress&)> replay_observer();
  /// Removes the line.
  void clear();

 private:
  bool due();

  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace cli
}  // namespace kernbench
