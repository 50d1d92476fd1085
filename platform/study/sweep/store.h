// SPDX-License-Identifier: Apache-2.0
// A file with all simulated points, so that no process simulates a point twice.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kernbench::sweep {

/// A point's result.
struct PointResult {
  int status = 0;          ///< exit status; 128 + signal; 124: timeout
  std::string error;       ///< the first line on stderr
  nlohmann::json metrics;  ///< the figures of a run, or the list of a probe's results; null on failure
  double wall_s = 0;       ///< of the simulation
  std::string run = {};    ///< the run's description as JSON (spec/run_document.h); empty: no report
  /// Repeating it gives the same result: it was not ended by a signal, the timeout or lack of memory.
  bool final() const;
  /// It is a run without --explain, but `explained` metrics are needed.
  bool lacks(bool explained) const;
};

/// An SQLite database and beside it FILE-owners, whose locks show which processes still run. Any number of processes of
/// one machine may use a store, through any symbolic links, and may be killed at any time. InputError for a file that
/// is no store, belongs to another version of kernbench, or has a second hard link; with row and column for a damaged
/// file. RunError for errors of the system such as a full disk.
class Store {
 public:
  /// Creates the store if it does not exist. A loss of power loses at most the results of the last `sync_s` seconds.
  Store(const std::string& file, const std::string& version, double sync_s = 10);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// An ended point; if asked, only a `final` one.
  std::optional<PointResult> find(const std::string& key, bool final);

  enum class Claim { mine, done, others };
  /// Call it before a point is simulated. mine: reserved until put() or the end of this process. done: final, with
  /// --explain's metrics if needed. others: another live process simulates it.
  Claim claim(const std::string& key, const std::string& command, bool explained = false);
  /// Stores a claimed point. A final result is not replaced.
  void put(const std::string& key, const PointResult&);

  struct Merged {
    size_t added = 0, there = 0;
  };
  /// Adds the points of another store, all or none. RunError if a point is final in both with different results.
  Merged merge(const std::string& file);

  /// All files that a store of that name may have, the store first.
  static std::vector<std::string> files(const std::string& file);
  /// Whether a file is a store of any version.
  static bool is_store(const std::string& file);
  /// The ended points, by key. InputError.
  static std::vector<PointResult> read(const std::string& file);

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace kernbench::sweep
