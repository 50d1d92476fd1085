// SPDX-License-Identifier: Apache-2.0
// The folder that a page shows: topologies, models, and runs. A run is a folder NAME.run in it:
//
//   request.json  what was asked for (run_request.h)
//   run.json      what `kernbench run --format json` printed, or `kernbench model`
//   stderr.txt    what it said, and its progress
//   report.html   its report
//   end.json      how it ended; a run that has none and does not run was cut off
//
// No name leads out of the folder, by no link either.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/web/run_request.h"

namespace kernbench::web {

/// What is known of a run that still goes on.
struct RunProgress {
  std::string text;              ///< "simulated 12.000 us, …", or empty
  std::optional<double> left_s;  ///< none: nothing tells
};

/// A regular file that was opened for reading.
class OpenFile {
 public:
  explicit OpenFile(int fd, size_t size) : fd_(fd), size_(size) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  size_t size() const { return size_; }
  /// How many bytes there were; 0 behind its end, or where they cannot be read.
  size_t read(size_t from, char* to, size_t size) const;
  /// Its first, or last, bytes, at most so many.
  std::string first(size_t most) const;
  std::string last(size_t most) const;

 private:
  std::string part(size_t from, size_t size) const;
  int fd_;
  size_t size_;
};

class RunFolder {
 public:
  /// InputError where there is no such folder.
  explicit RunFolder(const std::string& folder);
  const std::string& path() const { return path_; }

  /// Names of the .yaml files in it, but for models, and in its folder topologies, sorted.
  std::vector<std::string> topologies() const;
  /// Of the files in it that `kernbench model` takes, sorted: ONNX graphs, and what says `model_type`.
  std::vector<std::string> models() const;
  /// Names of its runs, the latest first.
  std::vector<std::string> runs() const;
  bool has_run(const std::string& name) const;
  /// A new run's folder with its request; nothing is left of it where that cannot be. RunError.
  std::string create(const RunRequest&) const;
  /// Of a run in it; none where it is missing or damaged.
  std::optional<RunRequest> request(const std::string& run) const;
  std::optional<RunEnd> end(const std::string& run) const;
  /// Reads the results of the run, which has ended, and keeps its end. RunError.
  void finish(const std::string& run, int status, double wall_s) const;
  /// The lines that it said, without its progress.
  std::vector<std::string> said(const std::string& run) const;
  /// Of a run that has gone on for so long: by what it says itself, or by an earlier run of the same work.
  RunProgress progress(const std::string& run, double elapsed_s) const;
  /// A file of a run, "report.html", not through a link; null where it is not there.
  std::shared_ptr<const OpenFile> open(const std::string& run, const std::string& file) const;
  /// The path of a run's file.
  std::string file(const std::string& run, const std::string& file) const;

 private:
  std::optional<double> expected_ns(const std::string& run) const;
  /// Of a .json or .yaml file in the folder.
  bool says_model_type(const std::string& file) const;
  /// The last bytes of a file of a run, at most so many; none where it is not there.
  std::optional<std::string> read(const std::string& run, const std::string& file, size_t most) const;

  std::string path_;
};

}  // namespace kernbench::web
