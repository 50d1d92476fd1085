// SPDX-License-Identifier: Apache-2.0
// The pool of child processes for points of sweeps, servers and tuners, what-if studies, tables of collectives, and
// runs of a page. A child is a fork of this process, which is already linked and initialized, or another program. Its
// memory and its end do not affect other processes. No child outlives this process.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/run/child/child_process.h"
#include "kernbench/platform/run/child/stop_signals.h"

namespace kernbench {

/// Number of concurrent processes: `jobs`; if 0, one per processor.
unsigned processes(unsigned jobs);

class ChildPool {
 public:
  /// Kills a child that runs longer than `timeout_s` (0: unlimited). `spared`: SIGINT, which a terminal sends to all
  /// processes, does not end forked children. All functions must be called by the first thread.
  explicit ChildPool(double timeout_s = 0, bool spared = false);
  /// Ends the remaining children: SIGTERM, soon SIGKILL.
  ~ChildPool();
  ChildPool(const ChildPool&) = delete;
  ChildPool& operator=(const ChildPool&) = delete;

  size_t size() const { return running_.size(); }
  /// Runs `work` in a fork of this process with empty stdin; it returns the exit status. RunError if it cannot be
  /// started. Not after threads have been started.
  void start(size_t id, const std::function<int()>& work);
  struct Program {
    std::string file;
    std::vector<std::string> arguments;
    std::string folder;    ///< its working directory; empty: this process's
    std::string out, err;  ///< files for its output; empty: kept for Ended
  };
  /// The same for a program. If it cannot be started, `err` has the reason and the status is 1.
  void start(size_t id, const Program&);
  /// To a running child.
  void signal(size_t id, int number) const;

  struct Ended {
    size_t id = 0;
    int status = 0;  ///< exit status, 128 + signal, or kTookTooLong
    std::string out, err;
    double wall_s = 0;
    /// The first line on stderr: the reason of a failure.
    std::string first_line() const { return err.substr(0, err.find('\n')); }
  };
  static constexpr int kTookTooLong = 124;
  /// The next child that ends. None after a signal (StopSignals::take() has it), after `patience` without an event, or
  /// if one of `others` is ready, whose revents are then set.
  std::optional<Ended> wait(std::chrono::milliseconds patience, std::vector<pollfd>* others = nullptr);

 private:
  using Clock = std::chrono::steady_clock;
  class Output;
  struct Running;
  void start(std::unique_ptr<Running>, bool spared, const std::function<int()>& work);
  void signal_all(int number) const;

  const double timeout_s_;
  const bool spared_;
  const ChildStatuses told_;
  const StopSignals stop_signals_;
  std::vector<std::unique_ptr<Running>> running_;
};

/// Starts all, at most `jobs` (>= 1) at a time. Calls `done` in their order, as soon as a child and all before it have
/// ended. RunError if one cannot be started. Stopped after SIGINT, SIGTERM or SIGHUP; then, and if `done` throws,
/// running children are ended.
void run_in_order(size_t count, size_t jobs, const std::function<int(size_t)>& work,
                  const std::function<void(const ChildPool::Ended&)>& done);

/// The same with results: work(0) … work(count - 1), and done(index, result). Exceptions of `work` are rethrown here
/// with kind and text: InputError or RunError. RunError also if a child dies. Output of `work` to stderr appears on
/// stderr.
void run_forked(size_t count, size_t jobs, const std::function<std::string(size_t)>& work,
                const std::function<void(size_t, const std::string&)>& done);

/// For a forked child: discards its writes to files that the parent had open.
void silence_open_files();

}  // namespace kernbench
