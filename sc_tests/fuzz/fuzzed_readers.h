// SPDX-License-Identifier: Apache-2.0
// The readers of what comes from outside, each as a function from bytes to what it understood: for the test in ctest,
// for libFuzzer's targets and for fuzz_read, which compares builds. A new reader gets a line in the list of its file, a
// mutator, a folder of small good inputs in corpus/ and a line in readers.json.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/sc_tests/fuzz/mutators.h"

namespace kernbench::fuzz {

struct FuzzedReader {
  std::string name;  ///< its folder in corpus/, and fuzz_<name>
  /// What was understood, as text. Refused for a fault that is told as this project tells faults; anything else that
  /// leaves it is a finding.
  std::string (*read)(const std::string& input);
  std::string (*mutate)(std::string input, Random&);
};

/// The reader told what is wrong with its input.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// All of them, by name.
const std::vector<FuzzedReader>& fuzzed_readers();
/// The one of that name. std::out_of_range.
const FuzzedReader& fuzzed_reader(const std::string& name);

// Each file's own; fuzzed_readers() puts them together.
std::vector<FuzzedReader> readers_of_phase2();
std::vector<FuzzedReader> readers_of_topologies();
std::vector<FuzzedReader> readers_of_work();
std::vector<FuzzedReader> readers_of_requests();  ///< where there is cpp-httplib
std::vector<FuzzedReader> readers_of_graphs();    ///< where there are Protocol Buffers

/// The input as a file, for readers that take a name; in memory where the system has /dev/shm. With what SQLite puts
/// beside it, it goes with the object.
class InputFile {
 public:
  explicit InputFile(const std::string& content);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace kernbench::fuzz
