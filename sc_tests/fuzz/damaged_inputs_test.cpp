// Hundreds of seeded changes to good inputs of every reader: each is read or refused in the reader's own words. What is
// found here is found in seconds; scripts/fuzz searches for hours, with sanitizers (docs/robustness.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"

namespace kernbench::fuzz {
namespace {

constexpr int kInputs = 600;
constexpr auto kLongest = std::chrono::seconds(20);  // by far: a reader that takes so long hangs

std::vector<std::string> corpus(const std::string& reader) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(KERNBENCH_CORPUS "/" + reader)) files.push_back(entry);
  std::sort(files.begin(), files.end());
  std::vector<std::string> contents;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return contents;
}

std::vector<std::string> names() {
  std::vector<std::string> v;
  for (const FuzzedReader& r : fuzzed_readers()) v.push_back(r.name);
  return v;
}

class DamagedInputs : public ::testing::TestWithParam<std::string> {};

TEST_P(DamagedInputs, AreReadOrRefused) {
  const FuzzedReader& reader = fuzzed_reader(GetParam());
  const std::vector<std::string> good = corpus(reader.name);
  ASSERT_FALSE(good.empty()) << "no good inputs of " << reader.name;
  for (const std::string& input : good) EXPECT_NO_THROW(reader.read(input)) << input.substr(0, 200);
  Random random(15);
  int taken = 0, refused = 0;
  for (int i = 0; i < kInputs; ++i) {
    std::string input = random.one_of(good);
    for (size_t changes = 1 + random.below(3); changes > 0; --changes) input = reader.mutate(std::move(input), random);
    const auto before = std::chrono::steady_clock::now();
    try {
      reader.read(input);
      ++taken;
    } catch (const Refused& fault) {
      ++refused;
      EXPECT_STRNE(fault.what(), "");
    } catch (const std::exception& e) {
      FAIL() << "input " << i << " of " << reader.name << ": " << e.what() << "\n" << input.substr(0, 2000);
    }
    ASSERT_LT(std::chrono::steady_clock::now() - before, kLongest) << "input " << i;
  }
  // Mutators that break everything, or nothing, would show nothing.
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, DamagedInputs, ::testing::ValuesIn(names()), [](const auto& of) { return of.param; });

}  // namespace
}  // namespace kernbench::fuzz
