// SPDX-License-Identifier: Apache-2.0
// The processes of a page: runs, which are queued, and queries, which are not. Linux ends a child with the thread that
// created it, so the first thread creates all.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "kernbench/platform/run/child/child_pool.h"

namespace kernbench::web {

class Children {
 public:
  struct Run {
    std::string name;
    std::vector<std::string> arguments;
    std::string out, err;                                  ///< files
    std::function<void(int status, double wall_s)> ended;  ///< called by work()
  };
  enum class State { none, waiting, running };
  struct Place {
    State state = State::none;
    double elapsed_s = 0;  ///< since its start
  };

  /// `program` with its arguments, in `folder`; at most `jobs` concurrent runs. Blocks SIGINT, SIGTERM and SIGHUP from
  /// now on, also in later threads. RunError.
  Children(std::string program, std::string folder, size_t jobs);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Callable from any thread.
  void start(Run);
  /// Callable from any thread: waits until the process has ended. RunError after work() has returned.
  ChildPool::Ended ask(const std::vector<std::string>& arguments);
  Place place(const std::string& run) const;
  /// Removes a run from the queue, or ends it like Ctrl-C. False: it neither waits nor runs.
  bool stop(const std::string& run);

  /// Called by the first thread: starts processes and waits for them until one of the signals comes, which it returns.
  /// All children have ended then.
  int work();

 private:
  struct Question {
    std::vector<std::string> arguments;
    std::promise<ChildPool::Ended> answer;
  };
  struct Started {
    size_t id = 0;  // in the pool
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    Run run;                                // of a run: its name is not empty
    std::promise<ChildPool::Ended> answer;  // of a query
  };

  void wake() const;
  void start_what_waits();
  void start_run(Run);
  void start_question(Question);
  void take(ChildPool::Ended);
  static void end(const Run&, int status, double wall_s);
  size_t started(bool runs) const;
  void end_all();

  const std::string program_, folder_;
  const size_t jobs_;
  ChildPool pool_;  // used by the first thread only
  int wake_ = -1;
  size_t next_id_ = 0;
  mutable std::mutex mutex_;
  bool over_ = false;
  std::deque<Run> waiting_;
  std::deque<Question> questions_;
  std::list<Started> started_;
  std::vector<size_t> to_stop_;  // ids in started_
};

}  // namespace kernbench::web
