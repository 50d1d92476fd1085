// SPDX-License-Identifier: Apache-2.0
// Many concurrent reads: aggregate bandwidths by hand where the rules determine them, never above the peak, and shared
// fairly with flits.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/work/probe.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

topology::Overrides in_mode(topology::Links links) {
  topology::Overrides overrides;
  overrides.links = links;
  overrides.response = links == topology::Links::flit ? topology::Response::routed : topology::Response::ideal;
  return overrides;
}

const SaturationResult& find(const std::vector<SaturationResult>& results, const std::string& name) {
  const auto it =
      std::find_if(results.begin(), results.end(), [&](const SaturationResult& r) { return r.name == name; });
  if (it == results.end()) throw std::runtime_error("no scenario " + name);
  return *it;
}

/// Two PEs behind one router of 2 ns, one slice of 256 GB/s.
constexpr const char* kTwoPes = R"(
ns_per_mm: 0.01
nodes:
- {id: pe0.pe_dma, kind: pe_dma}
- {id: pe1.pe_dma, kind: pe_dma}
- {id: r, kind: router, attrs: {overhead_ns: 2}}
- {id: hbm, kind: hbm_ctrl}
links:
- {from: pe0.pe_dma, to: r, distance_mm: 0, bw_gbs: 256}
- {from: pe1.pe_dma, to: r, distance_mm: 0, bw_gbs: 256}
- {from: r, to: hbm, distance_mm: 0, bw_gbs: 256}
memories:
- {node: hbm, space: hbm, base: 0, size: 1048576}
)";

// A channel has one read in flight: 4096 bytes every 2 + 16 ns.
TEST(OnePe, gets_one_read_a_latency) {
  const auto platform = platform_from_text(kTwoPes);
  const SaturationResult r = find(run_saturation(*platform, 4096), "hot-1");
  EXPECT_EQ(r.reads, 128u);
  EXPECT_NEAR(r.window_ns, 128 * 18.0, 1e-6);
  EXPECT_NEAR(r.aggregate_gbs, 4096 / 18.0, 1e-9);
  EXPECT_NEAR(r.peak_gbs, 256, 1e-9);
}

// They alternate at the memory, 16 ns each. The first has its k-th read at 18 + 32 (k − 1), its 128th at 4082. The
// other one, 16 ns later, then has 127.
TEST(TwoPes, fill_the_memory_and_take_turns) {
  const auto platform = platform_from_text(kTwoPes);
  const SaturationResult r = find(run_saturation(*platform, 4096), "hot-2");
  EXPECT_EQ(r.reads, 255u);
  EXPECT_NEAR(r.window_ns, 4082, 1e-6);
  EXPECT_NEAR(r.aggregate_gbs, 255 * 4096 / 4082.0, 1e-9);
  EXPECT_NEAR(r.fairness(), 127.0 / 128, 1e-9);
}

class Aggregates : public ::testing::TestWithParam<std::tuple<const char*, topology::Links>> {};

TEST_P(Aggregates, never_exceed_the_peak_nor_the_memory_and_grow_with_the_pes) {
  const auto platform = platform_from_file(topology_path(std::get<0>(GetParam())), in_mode(std::get<1>(GetParam())));
  const std::vector<SaturationResult> results = run_saturation(*platform, 16384);
  ASSERT_GE(results.size(), 4u);
  for (const SaturationResult& r : results) {
    SCOPED_TRACE(r.name);
    const size_t memories = r.hot ? 1 : r.shares_gbs.size();
    EXPECT_LE(r.aggregate_gbs, 256.0 * static_cast<double>(memories));  // a slice of these machines
    EXPECT_LE(r.aggregate_gbs, r.peak_gbs);
    EXPECT_LE(r.peak_gbs, 256.0 * static_cast<double>(memories));
    EXPECT_GT(r.aggregate_gbs, 0.5 * r.peak_gbs);
    EXPECT_LE(r.busiest_util, 1);
    double sum = 0;
    for (double s : r.shares_gbs) sum += s;
    EXPECT_NEAR(sum, r.aggregate_gbs, 1e-6);
  }
  for (const ProbeCheck& c : check_saturation(*platform, results)) EXPECT_TRUE(c.passed) << c.name << ": " << c.found;
}

INSTANTIATE_TEST_SUITE_P(of, Aggregates,
                         ::testing::Combine(::testing::Values("small.yaml", "one_cube.yaml", "latency_model.yaml"),
                                            ::testing::Values(topology::Links::ideal, topology::Links::cut_through,
                                                              topology::Links::flit)),
                         [](const auto& p) {
                           std::string name = std::get<0>(p.param);
                           name.resize(name.find('.'));
                           return name + "_" + topology::name_of(std::get<1>(p.param));
                         });

TEST(DefaultMachineInFlits, shares_a_hot_slice_within_five_percent) {
  const auto platform = platform_from_file(topology_path("default.yaml"), in_mode(topology::Links::flit));
  const std::vector<SaturationResult> results = run_saturation(*platform, 16384);
  for (const size_t n : {1, 2, 4, 8}) {
    const SaturationResult& r = find(results, "hot-" + std::to_string(n));
    ASSERT_EQ(r.shares_gbs.size(), n);
    EXPECT_EQ(r.even, n > 1);  // alone, with one read at a time, it does not saturate the memory
    const double mean = r.aggregate_gbs / static_cast<double>(n);
    EXPECT_GE(r.least_gbs(), 0.95 * mean);
    EXPECT_LE(r.most_gbs(), 1.05 * mean);
    EXPECT_LE(r.aggregate_gbs, 256);
    EXPECT_GE(r.aggregate_gbs, n == 1 ? 0.8 * 256 : 0.99 * 256);
  }
  const SaturationResult& own = find(results, "own-slices");
  EXPECT_EQ(own.shares_gbs.size(), 256u);
  EXPECT_NEAR(own.peak_gbs, 256 * 256, 1e-6);
  EXPECT_GE(own.util_pct(), 80);
  EXPECT_LE(own.util_pct(), 100);
  EXPECT_NEAR(own.fairness(), 1, 1e-9);
}

// The chain of crossbars is 128 GB/s wide, and three PEs share it: the topology is unfair, not the model, and no check
// claims otherwise.
TEST(LatencyModelInFlits, is_unfair_where_crossbars_are_narrower_than_the_slice) {
  const auto platform = platform_from_file(topology_path("latency_model.yaml"), in_mode(topology::Links::flit));
  const std::vector<SaturationResult> results = run_saturation(*platform, 16384);
  const SaturationResult& r = find(results, "hot-4");
  EXPECT_FALSE(r.even);
  EXPECT_EQ(r.busiest_edge, "sip0.cube0.xbar.pe0 -> sip0.cube0.xbar.pe1");
  EXPECT_NEAR(r.shares_gbs[1] + r.shares_gbs[2] + r.shares_gbs[3], 128, 2);
  EXPECT_GT(r.shares_gbs[0], 2.5 * r.shares_gbs[1]);
}

TEST(Saturation, is_the_same_every_time) {
  const auto once = [] {
    const auto platform = platform_from_file(topology_path("one_cube.yaml"), in_mode(topology::Links::flit));
    std::string text;
    for (const SaturationResult& r : run_saturation(*platform, 10000)) {
      char line[200];
      std::snprintf(line, sizeof line, "%s %a %a %a\n", r.name.c_str(), r.window_ns, r.aggregate_gbs, r.least_gbs());
      text += line;
    }
    return text;
  };
  const std::string first = in_child(once);
  EXPECT_NE(first.find("own-slices"), std::string::npos) << first;
  EXPECT_EQ(first, in_child(once));
}

TEST(Saturation, is_refused_without_pes_and_with_reads_larger_than_a_slice) {
  const auto platform = platform_from_text(kTwoPes);
  EXPECT_THROW(run_saturation(*platform, 1048577), InputError);
}

}  // namespace
}  // namespace kernbench::testing
