// SPDX-License-Identifier: Apache-2.0
// Points that wait for a process, and points that have one: each is claimed in a store, where one is given, and its
// result kept there.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernbench/platform/run/child/child_pool.h"
#include "kernbench/platform/study/sweep/axis.h"
#include "kernbench/platform/study/sweep/store.h"

namespace kernbench::sweep {

class PointQueue {
 public:
  struct Options {
    size_t jobs = 1;       ///< points at a time
    double timeout_s = 0;  ///< of a point; 0: none
    bool spared = false;   ///< SIGINT, which a terminal sends to all, does not end points
    bool runs = true;      ///< or probes
    unsigned retries = 0;  ///< of a point that a signal or the timeout ended
    Store* store = nullptr;
    std::function<Words(size_t id)> words;      ///< a point's command line
    std::function<std::string(size_t id)> key;  ///< its key in the store
  };
  struct Done {
    enum class How { simulated, stored, not_started };
    size_t id;
    PointResult result;
    How how;
  };

  explicit PointQueue(Options);

  void add(size_t id) { waiting_.push_back(id); }
  /// None is started any more.
  void stop() { stopped_ = true; }
  size_t waiting() const { return waiting_.size(); }
  size_t at_work() const { return workers_.size(); }
  /// Something is to be waited for.
  bool busy() const { return at_work() > 0 || (!stopped_ && waiting() > 0); }

  /// Gives those that wait a process while there are fewer than `jobs`. Those that need none are done: somebody else
  /// has simulated them, or (not_started) the system gives no process.
  std::vector<Done> start_some();
  /// The next that ends; nothing where a signal comes first (StopSignals::take() says which), one of `others` is ready
  /// (ChildPool::wait), `patience` is over, or start_some() is to be called again.
  std::optional<Done> wait(std::chrono::milliseconds patience, std::vector<pollfd>* others = nullptr);

  /// Both in turns until all are done, or after stop() until none is at work. `pause` is called at least every second.
  /// RunError where the system gives no process.
  void run(const std::function<void(Done&)>& take, const std::function<void(int signal)>& on_signal,
           const std::function<void()>& pause);

 private:
  Store::Claim claim(size_t id, const Words&);

  const Options o_;
  std::deque<size_t> waiting_;
  std::map<size_t, unsigned> tries_;
  std::set<std::string> keys_at_work_;  // of the store
  bool stopped_ = false;
  ChildPool workers_;
};

}  // namespace kernbench::sweep
