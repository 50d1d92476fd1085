// SPDX-License-Identifier: Apache-2.0
// A sweep's progress, in a file beside its store. Other machines may read it during the sweep, unlike the store itself
// on a network file system.
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
  uint64_t done = 0;       ///< of these, ended now or earlier
  uint64_t failed = 0;     ///< of these, with nonzero exit status
  uint64_t simulated = 0;  ///< by this sweep
  double elapsed_s = 0;    ///< of this sweep
  bool ended = false;      ///< the sweep has ended, complete or not
  double age_s = 0;        ///< since the last write, by the file system's clock; not in the file

  bool complete() const { return done == points; }
  /// Points per second of this sweep; 0: none simulated yet.
  double rate() const { return elapsed_s > 0 ? static_cast<double>(simulated) / elapsed_s : 0; }
};

/// Reads the file of a store. InputError if it is missing or has another format.
SweepProgress read_progress(const std::string& store);

class ProgressFile {
 public:
  explicit ProgressFile(const std::string& store);
  /// Writes the result of `now` if the last write is old enough or the sweep has `ended`; fills in host and elapsed_s.
  /// Errors of the file system are ignored, because the sweep does not need the file.
  void update(bool ended, const std::function<SweepProgress()>& now);

 private:
  using Clock = std::chrono::steady_clock;
  std::string file_;
  Clock::time_point start_ = Clock::now(), next_ = start_;
};

}  // namespace kernbench::sweep
