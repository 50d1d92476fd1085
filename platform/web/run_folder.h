// SPDX-License-Identifier: Apache-2.0
// The folder that a page shows: topologies, models, and runs. A run is a folder NAME.run with these files:
//
//   request.json  the request (run_request.h)
//   run.json      the output of `kernbench run --format json` or `kernbench model`
//   stderr.txt    messages and progress
//   report.html   its report
//   end.json      its result; a run without it that is not running was cut off
//
// No name leads out of the folder, not even through a link.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/platform/web/run_request.h"

namespace kernbench::web {

/// State of a running run.
struct RunProgress {
  std::string text;              ///< "simulated 12.000 us, …", or empty
  std::optional<double> left_s;  ///< none: unknown
};

/// A regular file opened for reading.
class OpenFile {
 public:
  explicit OpenFile(int fd, size_t size) : fd_(fd), size_(size) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  size_t size() const { return size_; }
  /// Number of bytes read; 0 after its end, or on an error.
  size_t read(size_t from, char* to, size_t size) const;
  /// At most that many bytes from the start, or the end.
  std::string first(size_t most) const;
  std::string last(size_t most) const;

 private:
  std::string part(size_t from, size_t size) const;
  int fd_;
  size_t size_;
};

class RunFolder {
 public:
  /// InputError if the folder does not exist.
  explicit RunFolder(const std::string& folder);
  const std::string& path() const { return path_; }

  /// Names of the .yaml files in it and in its folder topologies, without models, sorted.
  std::vector<std::string> topologies() const;
  /// Files that `kernbench model` accepts, sorted: ONNX graphs, and files with `model_type`.
  std::vector<std::string> models() const;
  /// Names of its runs, the latest first.
  std::vector<std::string> runs() const;
  bool has_run(const std::string& name) const;
  /// Creates a run's folder with its request; removes it on an error. RunError.
  std::string create(const RunRequest&) const;
  /// Of a run in it; none if missing or damaged.
  std::optional<RunRequest> request(const std::string& run) const;
  std::optional<RunEnd> end(const std::string& run) const;
  /// Reads the results of an ended run and stores them. RunError.
  void finish(const std::string& run, int status, double wall_s) const;
  /// Its messages without progress.
  std::vector<std::string> said(const std::string& run) const;
  /// Progress of a run after `elapsed_s`: from its messages, or from an earlier run of the same work.
  RunProgress progress(const std::string& run, double elapsed_s) const;
  /// A run's file, such as "report.html", without following links; null if missing.
  std::shared_ptr<const OpenFile> open(const std::string& run, const std::string& file) const;
  /// The path of a run's file.
  std::string file(const std::string& run, const std::string& file) const;

 private:
  std::optional<double> expected_ns(const std::string& run) const;
  /// Whether a .json or .yaml file in the folder has `model_type`.
  bool says_model_type(const std::string& file) const;
  /// The last bytes of a run's file, at most that many; empty if missing.
  std::optional<std::string> read(const std::string& run, const std::string& file, size_t most) const;

  std::string path_;
};

}  // namespace kernbench::web
