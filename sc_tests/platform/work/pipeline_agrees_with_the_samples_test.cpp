// SPDX-License-Identifier: Apache-2.0
// Does `pipeline` give the independent model's times, stage by stage, for its published samples?
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/work/pipeline.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

using nlohmann::json;

/// Compares trees: numbers to 0.01 ns, everything else exactly; every key of `expected` must exist.
void expect_close(const json& expected, const json& found, const std::string& path) {
  if (expected.is_number()) {
    ASSERT_TRUE(found.is_number()) << path;
    EXPECT_NEAR(expected.get<double>(), found.get<double>(), 0.01) << path;
  } else if (expected.is_array()) {
    ASSERT_TRUE(found.is_array()) << path;
    ASSERT_EQ(expected.size(), found.size()) << path;
    for (size_t i = 0; i < expected.size(); ++i)
      expect_close(expected[i], found[i], path + "[" + std::to_string(i) + "]");
  } else if (expected.is_object()) {
    ASSERT_TRUE(found.is_object()) << path;
    EXPECT_EQ(expected.size(), found.size()) << path;
    for (const auto& [key, value] : expected.items()) {
      ASSERT_TRUE(found.contains(key)) << path << "." << key;
      expect_close(value, found[key], path + "." + key);
    }
  } else {
    EXPECT_EQ(expected, found) << path;
  }
}

class PipelineSamples : public ::testing::TestWithParam<const char*> {};

TEST_P(PipelineSamples, agree_to_a_hundredth_of_a_nanosecond) {
  const std::string sample = GetParam();
  const auto platform = platform_from_file(sample_path(sample, "topology.yaml"));
  std::ifstream in(sample_path(sample, "work.json"));
  PipelineWork work = read_pipeline_work(in, "work.json", *platform);
  std::ostringstream out;
  write_pipeline_json(out, run_pipeline(*platform, work));
  expect_close(json::parse(read_file(sample_path(sample, "expected.json"))), json::parse(out.str()), "");
}

INSTANTIATE_TEST_SUITE_P(All, PipelineSamples,
                         ::testing::Values("composite_ideal", "composite_cut_through", "commands_and_composites",
                                           "composite_flit", "programs_ideal", "programs_cut_through", "programs_flit",
                                           "programs_tiers", "collective_ring", "access_ideal", "access_cut_through",
                                           "access_flit", "send_all_cut_through", "send_all_flit"),
                         [](const auto& parameter) { return std::string(parameter.param); });

/// Four PEs that receive before they send.
TEST(DeadlockSample, a_circle_of_waiting_is_named) {
  const auto platform = platform_from_file(sample_path("programs_deadlock", "topology.yaml"));
  std::ifstream in(sample_path("programs_deadlock", "work.json"));
  PipelineWork work = read_pipeline_work(in, "work.json", *platform);
  std::string said;
  try {
    run_pipeline(*platform, work);
  } catch (const RunError& e) {
    said = e.what();
  }
  EXPECT_NE(said.find("circle of waiting"), std::string::npos) << said;
  const json expected = json::parse(read_file(sample_path("programs_deadlock", "expected.json")));
  for (const json& pe : expected["circle"]) {
    EXPECT_NE(said.find(pe.get<std::string>() + " ("), std::string::npos) << pe << " is not in: " << said;
  }
}

}  // namespace
}  // namespace kernbench::testing
