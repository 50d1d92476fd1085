// SPDX-License-Identifier: Apache-2.0
// Points that wait for a process or have one. If there is a store, each point is claimed in it and its result is stored
// there.
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
    size_t jobs = 1;       ///< concurrent points
    double timeout_s = 0;  ///< per point; 0: unlimited
    bool spared = false;   ///< SIGINT, which a terminal sends to all processes, does not end points
    bool runs = true;      ///< or probes
    unsigned retries = 0;  ///< for a point ended by a signal or the timeout
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
  /// Starts no further points.
  void stop() { stopped_ = true; }
  size_t waiting() const { return waiting_.size(); }
  size_t at_work() const { return workers_.size(); }
  /// Whether points are running or waiting.
  bool busy() const { return at_work() > 0 || (!stopped_ && waiting() > 0); }

  /// Starts waiting points until `jobs` run. Returns points that need no process: another process has simulated them,
  /// or (not_started) the system could not create a process.
  std::vector<Done> start_some();
  /// The next point that ends. Returns nothing after a signal (StopSignals::take() has it), if one of `others` is ready
  /// (ChildPool::wait), when `patience` is over, or if start_some() must be called again.
  std::optional<Done> wait(std::chrono::milliseconds patience, std::vector<pollfd>* others = nullptr);

  /// Alternates both until all points are done, or after stop() until none runs. Calls `pause` at least every second.
  /// RunError if the system cannot create a process.
  void run(const std::function<void(Done&)>& take, const std::function<void(int signal)>& on_signal,
           const std::function<void()>& pause);

 private:
  Store::Claim claim(size_t id, const Words&);

  const Options o_;
  std::deque<size_t> waiting_;
  std::map<size_t, unsigned> tries_;
  std::set<std::string> keys_at_work_;  // in the store
  bool stopped_ = false;
  ChildPool workers_;
};

}  // namespace kernbench::sweep
