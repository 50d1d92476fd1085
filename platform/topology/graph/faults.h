// SPDX-License-Identifier: Apache-2.0
// Errors of a file, collected so that the user sees all of them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace kernbench::topology {

/// Position in the YAML, for messages. Lines from 1; 0: unknown.
struct SourcePos {
  std::string file;
  int line = 0;
};

/// One error of a topology file. what(): "file:line: field: what was found; what is legal".
struct Fault {
  SourcePos where;
  std::string field;
  std::string message;
  std::string to_string() const;
};

/// All errors of a file at once.
class TopologyError : public std::runtime_error {
 public:
  explicit TopologyError(std::vector<Fault>);
  const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

class FaultList {
 public:
  explicit FaultList(std::string file) : file_(std::move(file)) {}

  /// `message`: the found value, and the legal values.
  void add(int line, const std::string& field, const std::string& message);
  bool empty() const { return faults_.empty(); }
  size_t count() const { return faults_.size() + suppressed_; }
  const std::string& file() const { return file_; }
  /// Throws TopologyError if there is any error.
  void throw_if_any();

 private:
  std::string file_;
  std::vector<Fault> faults_;
  size_t suppressed_ = 0;  // errors beyond a readable number
};

/// Shortest exact decimal form; integers without a point.
std::string number_text(double v);

}  // namespace kernbench::topology
