// SPDX-License-Identifier: Apache-2.0
// A progress line on stderr. On a terminal it rewrites itself. If KERNBENCH_PROGRESS is "lines", it writes a new line
// per second for another program. It does not use SystemC, because a replay shows it too.
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

/// The beginning of such a new line.
constexpr const char* kProgressMark = "progress: ";

/// If results go to the same terminal, the line is removed before std::cout writes: it is tied to cout.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Whether a reader exists; otherwise nothing is ever shown.
  bool visible() const { return terminal_ || lines_; }
  /// Whether the line is due for an update: after the first second, five times per second or once.
  bool due();
  void show(const std::string& text);
  /// Removes the line.
  void clear();
  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void restart() { start_ = Clock::now(); }
  /// A callback that shows the progress of Phase 2; empty if nothing is shown. This object must outlive it.
  std::function<void(const ReplayProgress&)> replay_observer();

 private:
  using Clock = std::chrono::steady_clock;

  /// For a stream that is flushed before another one writes.
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
