// A line on stderr that renews itself, where that is a terminal; where KERNBENCH_PROGRESS is "lines", a new line a
// second for another program to read. Knows no SystemC: a replay shows it too.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace kernbench {

struct ReplayProgress;

namespace cli {

/// What such a new line begins with.
constexpr const char* kProgressMark = "progress: ";

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  /// Whether somebody looks; otherwise nothing is ever shown.
  bool visible() const { return terminal_ || lines_; }
  /// Whether the line is due for renewal: from the second second on, five times a second, or once.
  bool due();
  void show(const std::string& text);
  /// Removes the line.
  void clear();
  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void restart() { start_ = Clock::now(); }
  /// Shows the progress of Phase 2; empty where nothing is shown. This object must outlive it.
  std::function<void(const ReplayProgress&)> replay_observer();

 private:
  using Clock = std::chrono::steady_clock;
  bool lines_, terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace cli
}  // namespace kernbench
