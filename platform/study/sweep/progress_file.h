// SPDX-License-Identifier: Apache-2.0
// How far a sweep is, in a file beside its store: another machine may read it while the sweep goes on, which it may not
// do with the store itself where that lies on a network's file system.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace kernbench::sweep {

struct SweepProgress {
  std::string host;
  uint64_t shard = 1, shards = 1;
  uint64_t plan = 0;       ///< points of all shards
  uint64_t points = 0;     ///< of this shard
  uint64_t done = 0;       ///< of them, those that have ended, now or before
  uint64_t failed = 0;     ///< of those, with an exit status other than 0
  uint64_t simulated = 0;  ///< by this sweep
  double elapsed_s = 0;    ///< of this sweep
  bool ended = false;      ///< the sweep has, be everything done or not
  double age_s = 0;        ///< since it was written, by the file system's clock; not in the file

  bool complete() const { return done == points; }
  /// Points a second of this sweep; 0: none has been simulated.
  double rate() const { return elapsed_s > 0 ? static_cast<double>(simulated) / elapsed_s : 0; }
};

/// Of a store's file. InputError where there is none, or it is of another form.
SweepProgress read_progress(const std::string& store);

class ProgressFile {
 public:
  explicit ProgressFile(const std::string& store);
  /// Writes what `now` says, where the last time was a while ago or it has `ended`; host and elapsed_s are filled in.
  /// What the file system refuses is left out: the sweep itself does not need it.
  void update(bool ended, const std::function<SweepProgress()>& now);

 private:
  using Clock = std::chrono::steady_clock;
  std::string file_;
  Clock::time_point start_ = Clock::now(), next_ = start_;
};

}  // namespace kernbench::sweep
