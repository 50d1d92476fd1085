// SPDX-License-Identifier: Apache-2.0
// Does `traffic` give the independent model's times for its published samples?
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "system_support.h"

namespace kernbench::testing {
namespace {

constexpr double kToleranceNs = 0.01;

class TrafficSamples : public ::testing::TestWithParam<const char*> {};

TEST_P(TrafficSamples, agree_to_a_hundredth_of_a_nanosecond) {
  const std::string sample = GetParam();
  const auto platform = platform_from_file(sample_path(sample, "topology.yaml"));
  std::ifstream trace(sample_path(sample, "trace.csv"));
  const auto [requests, groups] = read_traffic(trace, "trace.csv", *platform);
  const std::vector<TrafficResult> results = run_traffic(*platform, requests, nullptr, groups);

  std::istringstream expected(read_file(sample_path(sample, "expected.csv")));
  std::string line;
  std::getline(expected, line);  // id,initiator,op,address,bytes,issue_ns,grant_ns,done_ns,latency_ns,formula_ns,…
  size_t row = 0;
  for (; std::getline(expected, line); ++row) {
    ASSERT_LT(row, results.size());
    std::vector<std::string> fields;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
    ASSERT_EQ(fields.size(), 11u) << line;
    const TrafficResult& r = results[row];
    EXPECT_EQ(fields[0], requests[row].id);
    EXPECT_NEAR(std::stod(fields[6]), r.grant_ns, kToleranceNs) << line;
    EXPECT_NEAR(std::stod(fields[7]), r.done_ns, kToleranceNs) << line;
    EXPECT_NEAR(std::stod(fields[8]), r.done_ns - requests[row].issue_ns, kToleranceNs) << line;
    EXPECT_NEAR(std::stod(fields[9]), r.formula_ns, kToleranceNs) << line;
  }
  EXPECT_EQ(row, results.size());
  EXPECT_GE(row, 30u);
}

INSTANTIATE_TEST_SUITE_P(All, TrafficSamples,
                         ::testing::Values("traffic_ideal", "traffic_ideal_routed", "traffic_cut_through",
                                           "traffic_cut_through_routed", "traffic_hbm_pc", "traffic_flit_toy",
                                           "traffic_flit_mesh", "traffic_hbm_pc_hash", "traffic_flit_hash",
                                           "access_ideal", "access_cut_through", "access_flit", "multicast_ideal",
                                           "multicast_cut_through_routed", "multicast_combined", "multicast_flit",
                                           "request_rate", "in_network_cut_through", "in_network_flit"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace kernbench::testing
