// SPDX-License-Identifier: Apache-2.0
// The one pool of child processes: points of sweeps, servers and tuners, what-ifs, tables of collectives, runs of a
// page. Each child is a copy of this process, which has linked and started already, or a program; what it does to its
// memory, and how it ends, concerns no other. None outlives this process.
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

/// How many at a time: `jobs`; of 0, one a processor.
unsigned processes(unsigned jobs);

class ChildPool {
 public:
  /// A child that runs for longer than `timeout_s` (0: as long as it likes) is killed. `spared`: SIGINT, which a
  /// terminal sends to all, does not end copies. By the first thread, as everything of it.
  explicit ChildPool(double timeout_s = 0, bool spared = false);
  /// Ends those that are left: SIGTERM, soon SIGKILL.
  ~ChildPool();
  ChildPool(const ChildPool&) = delete;
  ChildPool& operator=(const ChildPool&) = delete;

  size_t size() const { return running_.size(); }
  /// `work` in a copy of this process as it is now, with stdin empty; it returns the exit status. RunError where none
  /// can be started. Not after threads have been started.
  void start(size_t id, const std::function<int()>& work);
  struct Program {
    std::string file;
    std::vector<std::string> arguments;
    std::string folder;    ///< in which it works; empty: this one's
    std::string out, err;  ///< files for what it writes; empty: kept, for Ended
  };
  /// The same of a program. Where it cannot be started it says so in `err` and ends with 1.
  void start(size_t id, const Program&);
  /// To a child that runs.
  void signal(size_t id, int number) const;

  struct Ended {
    size_t id = 0;
    int status = 0;  ///< exit status, 128 + the signal that ended it, or kTookTooLong
    std::string out, err;
    double wall_s = 0;
    /// Of what it said on stderr: why it failed.
    std::string first_line() const { return err.substr(0, err.find('\n')); }
  };
  static constexpr int kTookTooLong = 124;
  /// The next that ends; nothing where a signal comes first (StopSignals::take() says which) or nothing has happened
  /// for `patience`, or where one of `others` is ready too, whose revents are set.
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

/// Starts all of them, at most `jobs` (>= 1) at a time, and calls `done` in their order, for each as soon as it and all
/// before it have ended. RunError where none can be started; Stopped where SIGINT, SIGTERM or SIGHUP comes, or `done`
/// throws: those that run are then ended.
void run_in_order(size_t count, size_t jobs, const std::function<int(size_t)>& work,
                  const std::function<void(const ChildPool::Ended&)>& done);

/// The same of work with a result: work(0) … work(count - 1), and done(index, what it returned). What `work` throws is
/// thrown here as the same kind: InputError or RunError, with its text; RunError too where a copy dies. What it writes
/// to stderr is written there.
void run_forked(size_t count, size_t jobs, const std::function<std::string(size_t)>& work,
                const std::function<void(size_t, const std::string&)>& done);

/// In a copy: what is written to files that the process had open goes nowhere.
void silence_open_files();

}  // namespace kernbench
