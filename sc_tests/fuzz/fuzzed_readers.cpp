// SPDX-License-Identifier: Apache-2.0
#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kernbench::fuzz {

const std::vector<FuzzedReader>& fuzzed_readers() {
  static const std::vector<FuzzedReader> all = [] {
    std::vector<FuzzedReader> v;
    for (const auto& part : {readers_of_phase2(), readers_of_topologies(), readers_of_work()})
      v.insert(v.end(), part.begin(), part.end());
#ifdef KERNBENCH_FUZZES_HTTP
    for (const FuzzedReader& r : readers_of_requests()) v.push_back(r);
#endif
#ifdef KERNBENCH_FUZZES_ONNX
    for (const FuzzedReader& r : readers_of_graphs()) v.push_back(r);
#endif
    std::sort(v.begin(), v.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return v;
  }();
  return all;
}

const FuzzedReader& fuzzed_reader(const std::string& name) {
  for (const FuzzedReader& r : fuzzed_readers()) {
    if (r.name == name) return r;
  }
  throw std::out_of_range("no reader is called " + name);
}

InputFile::InputFile(const std::string& content) {
  const bool in_memory = ::access("/dev/shm", W_OK) == 0;
  name_ = (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/kernbench_fuzz_" +
          std::to_string(getpid());
  std::ofstream(name_, std::ios::binary) << content;
}

InputFile::~InputFile() {
  for (const char* end : {"", "-wal", "-shm", "-journal"}) std::remove((name_ + end).c_str());
}

}  // namespace kernbench::fuzz
