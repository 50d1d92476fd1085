// SPDX-License-Identifier: Apache-2.0
// The readers of untrusted input, each as a function from bytes to its result. Used by the ctest test, by libFuzzer's
// targets and by fuzz_read, which compares builds. A new reader needs a line in the list of its file, a mutator, a
// folder of small good inputs in corpus/ and a line in readers.json.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "kernbench/sc_tests/fuzz/mutators.h"

namespace kernbench::fuzz {

struct FuzzedReader {
  std::string name;  ///< its folder in corpus/, and fuzz_<name>
  /// The result as text. Throws Refused for an error in the form that this project requires; any other exception is a
  /// finding.
  std::string (*read)(const std::string& input);
  std::string (*mutate)(std::string input, Random&);
};

/// The reader reports an error of its input.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// All readers, by name.
const std::vector<FuzzedReader>& fuzzed_readers();
/// The reader of that name. std::out_of_range.
const FuzzedReader& fuzzed_reader(const std::string& name);

// The readers of each file; fuzzed_readers() joins them.
std::vector<FuzzedReader> readers_of_phase2();
std::vector<FuzzedReader> readers_of_topologies();
std::vector<FuzzedReader> readers_of_work();
std::vector<FuzzedReader> readers_of_requests();  ///< if cpp-httplib is available
std::vector<FuzzedReader> readers_of_graphs();    ///< if Protocol Buffers are available

/// The input as a file, for readers that take a name; in memory if the system has /dev/shm. Removed with the object,
/// including files that SQLite creates beside it.
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
