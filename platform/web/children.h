// SPDX-License-Identifier: Apache-2.0
// The processes of a page: runs, which wait for their turn, and questions, which do not. Linux ends a child with the
// thread that made it, so all are made by one: the first.
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
    double elapsed_s = 0;  ///< since it runs
  };

  /// `program` with its arguments, in `folder`; at most `jobs` runs at a time. SIGINT, SIGTERM and SIGHUP are blocked
  /// from here on, in threads that are made later too. RunError.
  Children(std::string program, std::string folder, size_t jobs);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Any thread's.
  void start(Run);
  /// Any thread's: waits until the process has ended. RunError once work() has returned.
  ChildPool::Ended ask(const std::vector<std::string>& arguments);
  Place place(const std::string& run) const;
  /// Takes a run out of the queue, or ends it as Ctrl-C does. False: it neither waits nor runs.
  bool stop(const std::string& run);

  /// The first thread's: starts processes and waits for them until one of the signals comes; which. All have ended
  /// then.
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
    std::promise<ChildPool::Ended> answer;  // of a question
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
  ChildPool pool_;  // the first thread's
  int wake_ = -1;
  size_t next_id_ = 0;
  mutable std::mutex mutex_;
  bool over_ = false;
  std::deque<Run> waiting_;
  std::deque<Question> questions_;
  std::list<Started> started_;
  std::vector<size_t> to_stop_;  // of started_
};

}  // namespace kernbench::web
