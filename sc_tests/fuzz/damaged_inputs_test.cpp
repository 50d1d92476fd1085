// SPDX-License-Identifier: Apache-2.0
// Hundreds of seeded changes to good inputs of every reader. Each input must be read or refused with the reader's own
// error. This test finds only what a few seconds can find. KERNBENCH_DAMAGED_INPUTS=50000 makes it a campaign, and
// scripts/fuzz searches for hours, with sanitizers (docs/robustness.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "kernbench/phase2/op/math_op.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/sc_tests/fuzz/fuzzed_readers.h"

namespace kernbench::fuzz {
namespace {

constexpr auto kLongest = std::chrono::seconds(20);  // a generous limit: a reader that takes longer hangs

int inputs() {
  const char* count = std::getenv("KERNBENCH_DAMAGED_INPUTS");
  return count ? std::atoi(count) : 600;
}

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
  for (int i = 0, all = inputs(); i < all; ++i) {
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
  // Mutators that break everything, or nothing, would prove nothing.
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, DamagedInputs, ::testing::ValuesIn(names()), [](const auto& of) { return of.param; });

/// From the table in platform/triton/op_table.cpp, and from the rows of math ops.
std::vector<std::string> triton_ops() {
  std::ifstream in(KERNBENCH_CORPUS "/../../../platform/triton/op_table.cpp");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::regex row(R"re(\{"([a-z]+\.[a-z_0-9]+)", T::)re");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) names.push_back((*at)[1]);
  for (const MathOp& op : math_ops()) {
    for (std::string& name : words_between_blanks(op.triton)) names.push_back(std::move(name));
  }
  return names;
}

std::string repeated(int count, const std::string& word) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? ", " : "") + word;
  return list;
}

/// MLIR's generic form gives the numbers of operands, results and regions of any op, also if they are 0.
TEST(TritonOps, InGenericFormMayLackWhatTheyNeed) {
  const FuzzedReader& reader = fuzzed_reader("ttir");
  const std::vector<std::string> ops = triton_ops();
  ASSERT_GT(ops.size(), 100U);
  int taken = 0, refused = 0;
  for (const std::string& op : ops) {
    for (const std::string type : {"i32", "f32", "!tt.ptr<f32>", "tensor<4xi32>"}) {
      for (int operands = 0; operands <= 4; ++operands) {
        for (int results = 0; results <= 2; ++results) {
          for (const char* region : {"", "({})", "({^bb0: \"scf.yield\"() : () -> ()})"}) {
            const std::string given = results > 0 ? "%r:" + std::to_string(results) + " = " : "";
            const std::string text = "module {\ntt.func @k(%x: " + type + ") {\n" + given + "\"" + op + "\"(" +
                                     repeated(operands, "%x") + ") " + region + " : (" + repeated(operands, type) +
                                     ") -> (" + repeated(results, type) + ")\ntt.return\n}\n}\n";
            try {
              reader.read(text);
              ++taken;
            } catch (const Refused& fault) {
              ++refused;
              EXPECT_STRNE(fault.what(), "") << text;
            } catch (const std::exception& e) {
              FAIL() << e.what() << "\n" << text;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, taken);
}

}  // namespace
}  // namespace kernbench::fuzz
