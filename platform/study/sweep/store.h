// SPDX-License-Identifier: Apache-2.0
// The points that have been simulated, kept in a file: none is simulated twice, by whatever processes.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kernbench::sweep {

/// What came of a point.
struct PointResult {
  int status = 0;          ///< exit status; 128 + the signal that ended it; 124: it took longer than it may
  std::string error;       ///< the first line on stderr
  nlohmann::json metrics;  ///< the figures of a run, the list of a probe's results; null where it failed
  double wall_s = 0;       ///< of the simulation
  std::string run = {};    ///< which run it was, as JSON (spec/run_document.h); empty: it came to no report
  /// It would come out the same again: neither a signal nor the clock nor a want of memory ended it.
  bool final() const;
  /// It is of a run that was not done with --explain, and `explained` metrics are asked for.
  bool lacks(bool explained) const;
};

/// An SQLite database and, beside it, FILE-owners: a file of locks by which processes know of each other whether they
/// still run. Any number of processes of one machine may use a store, by whatever symbolic links, and may be killed, at
/// any moment. InputError for a file that is no store, is another kernbench's, or has a second name by a hard link;
/// with row and column for one that is damaged. RunError where the system does not do what is asked, such as a full
/// disk.
class Store {
 public:
  /// Made where it is not there. A machine that loses its power takes with it what it has put in within the last
  /// `sync_s` seconds, and no more.
  Store(const std::string& file, const std::string& version, double sync_s = 10);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Of a point that has ended; `final` ones alone if asked for.
  std::optional<PointResult> find(const std::string& key, bool final);

  enum class Claim { mine, done, others };
  /// To be called before a point is simulated. mine: nobody else simulates it until put(), or until this process has
  /// ended; done: it is final, and has what --explain brings if that is asked for; others: another process that runs
  /// is at it.
  Claim claim(const std::string& key, const std::string& command, bool explained = false);
  /// Of a point that was claimed. What is final stays.
  void put(const std::string& key, const PointResult&);

  struct Merged {
    size_t added = 0, there = 0;
  };
  /// Takes the points of another store over, all or none. RunError where both have a final one with other results.
  Merged merge(const std::string& file);

  /// All that may lie on the disk for a store of that name, the store first.
  static std::vector<std::string> files(const std::string& file);
  /// Whether a file is a store, of whatever version.
  static bool is_store(const std::string& file);
  /// Its points that have ended, by key. InputError.
  static std::vector<PointResult> read(const std::string& file);

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace kernbench::sweep
