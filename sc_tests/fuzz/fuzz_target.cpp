// SPDX-License-Identifier: Apache-2.0
// libFuzzer's target for one reader, FUZZED_READER. Half of the mutations keep the input's structure; libFuzzer makes
// the others.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <systemc>

#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

const int banner_off = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

const kernbench::fuzz::FuzzedReader& reader() {
  static const auto& r = kernbench::fuzz::fuzzed_reader(FUZZED_READER);
  return r;
}

std::string text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

int sc_main(int, char**) {
  return banner_off;
}  // SystemC's library requires it; libFuzzer has main()

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    reader().read(text(data, size));
  } catch (const kernbench::fuzz::Refused&) {
    // Refused in the required form.
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  kernbench::fuzz::Random random(seed);
  if (random.one_in(2)) return LLVMFuzzerMutate(data, size, max_size);
  const std::string changed = reader().mutate(text(data, size), random);
  if (changed.empty() || changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  return changed.copy(reinterpret_cast<char*>(data), changed.size());
}
