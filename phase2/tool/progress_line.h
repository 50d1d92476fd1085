// SPDX-License-Identifier: Apache-2.0
// A line on stderr that renews itself, where that is a terminal; where KERNBENCH_PROGRESS is "lines", a new line a
// second for another program to read. Knows no SystemC: a replay shows it too.
#pragma once

#include <chrono>
#include <functional>
#include <ostream>
#include <streambuf>
#include <string>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

struct ReplayProgress;

}  // namespace kernbench::phase2
namespace kernbench {
namespace cli {

/// What such a new line begins with.
constexpr const char* kProgressMark = "progress: ";

/// Where results go to the same terminal, the line makes room for them before std::cout writes: it is tied to cout.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
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

  /// Of a stream that is flushed before another one writes.
  class RoomMaker : public std::streambuf {
   public:
    explicit RoomMaker(ProgressLine& line) : line_(line) {}

   protected:
    int sync() override;

   private:
    ProgressLine& line_;
  };

  bool lines_, terminal_;
  bool shown_ = false;
  RoomMaker room_maker_{*this};
  std::ostream before_results_{&room_maker_};
  std::ostream* tied_before_ = nullptr;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace cli
}  // namespace kernbench
