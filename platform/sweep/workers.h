// Points at work: each in a copy of this process, which has linked and started already, so that what a point does to
// its memory, and how it ends, concerns no other.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/sweep/axis.h"
#include "kernbench/platform/tools/child_process.h"
#include "kernbench/platform/tools/stop_signals.h"

namespace kernbench::sweep {

/// How many at a time: `jobs`; of 0, one a processor.
unsigned processes(unsigned jobs);

class Workers {
 public:
  /// `work` does a command line in the copy, with stdin empty, and returns its exit status. A copy that runs for longer
  /// than `timeout_s` (0: as long as it likes) is killed. `spared`: SIGINT, which a terminal sends to all, does not end
  /// copies. RunError where none can be started. Not after threads have been started.
  Workers(std::function<int(const Words&)> work, double timeout_s, bool spared);
  /// Ends those that are left: SIGTERM, soon SIGKILL.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  size_t size() const { return running_.size(); }
  void start(size_t id, const Words& words);

  struct Ended {
    size_t id;
    int status;  ///< exit status, 128 + the signal that ended it, or kTookTooLong
    std::string out, err;
  };
  static constexpr int kTookTooLong = 124;
  /// The next that ends; nothing where a signal comes first (StopSignals::take() says which) or nothing has happened
  /// for `patience`, or where one of `others` is ready too, whose revents are set.
  std::optional<Ended> wait(std::chrono::milliseconds patience, std::vector<pollfd>* others = nullptr);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running;
  [[noreturn]] void become(const Running&, const Words&) const noexcept;
  void signal_all(int number) const;

  const std::function<int(const Words&)> work_;
  const double timeout_s_;
  const bool spared_;
  const ChildStatuses told_;
  const StopSignals stop_signals_;
  std::vector<std::unique_ptr<Running>> running_;
};

}  // namespace kernbench::sweep
