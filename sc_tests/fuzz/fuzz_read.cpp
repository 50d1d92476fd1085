// SPDX-License-Identifier: Apache-2.0
// fuzz_read READER FILE...: prints one line per file, with the checksum of the reader's result, or its error. If two
// builds disagree about a file, one is faulty: scripts/fuzz compares them.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <systemc>

#include "kernbench/phase2/log/checksum.h"
#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"

int sc_main(int argc, char** argv) {
  using namespace kernbench;
  if (argc < 2) {
    for (const auto& r : fuzz::fuzzed_readers()) std::puts(r.name.c_str());
    return 0;
  }
  try {
    const fuzz::FuzzedReader& reader = fuzz::fuzzed_reader(argv[1]);
    for (int i = 2; i < argc; ++i) {
      std::ifstream in(argv[i], std::ios::binary);
      const std::string input{std::istreambuf_iterator<char>(in), {}};
      std::string found;
      try {
        found = hex_of(Checksum().add(reader.read(input)).value());
      } catch (const fuzz::Refused&) {
        found = "refused";
      }
      std::printf("%s %s\n", found.c_str(), argv[i]);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fuzz_read: %s\n", e.what());
    return 2;
  }
}
