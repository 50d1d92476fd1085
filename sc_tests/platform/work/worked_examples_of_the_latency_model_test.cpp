// SPDX-License-Identifier: Apache-2.0
// The latency-model seed's worked examples and table, to the last digit shown.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernbench/platform/work/probe.h"
#include "system_support.h"

namespace kernbench::testing::worked_examples_of_the_latency_model {
namespace {

constexpr double kExact = 1e-6;

// Two DMAs, each behind its own crossbar; the crossbars are chained at half the bandwidth.
constexpr const char* kTwoCrossbars = R"(
ns_per_mm: 0.01
nodes:
- {id: pe0.pe_dma, kind: pe_dma}
- {id: pe1.pe_dma, kind: pe_dma}
- {id: xbar0, kind: xbar, attrs: {overhead_ns: 2}}
- {id: xbar1, kind: xbar, attrs: {overhead_ns: 2}}
- {id: slice0, kind: hbm_ctrl}
- {id: slice1, kind: hbm_ctrl}
links:
- {from: pe0.pe_dma, to: xbar0, distance_mm: 0, bw_gbs: 256}
- {from: pe1.pe_dma, to: xbar1, distance_mm: 0, bw_gbs: 256}
- {from: xbar0, to: xbar1, distance_mm: 1, bw_gbs: 128}
- {from: xbar0, to: slice0, distance_mm: 2.5, bw_gbs: 256}
- {from: xbar1, to: slice1, distance_mm: 2.5, bw_gbs: 256}
memories:
- {node: slice0, space: hbm, base: 0, size: 1048576}
- {node: slice1, space: hbm, base: 1048576, size: 1048576}
)";

TEST(TwoDmas, on_slices_of_their_own_do_not_meet) {
  const auto platform = platform_from_text(kTwoCrossbars);
  const auto r = run_traffic(*platform, {request(*platform, 0, "pe0.pe_dma", "read", 0, 4096),
                                         request(*platform, 0, "pe1.pe_dma", "read", 1 << 20, 4096)});
  for (const TrafficResult& x : r) {
    EXPECT_NEAR(x.done_ns, 18.025, kExact);
    EXPECT_NEAR(x.formula_ns, 18.025, kExact);
  }
}

TEST(TwoDmas, on_one_slice_take_turns) {
  const auto platform = platform_from_text(kTwoCrossbars);
  std::vector<TrafficAccount> accounts;
  const auto r = run_traffic(
      *platform,
      {request(*platform, 0, "pe0.pe_dma", "read", 0, 4096), request(*platform, 0, "pe1.pe_dma", "read", 4096, 4096)},
      &accounts);
  EXPECT_NEAR(r[0].done_ns, 18.025, kExact);
  EXPECT_NEAR(r[1].formula_ns, 2 + 2 + 0.035 + 32, kExact);
  EXPECT_NEAR(r[1].done_ns, 18.025 + 32, kExact);  // 50.025
  EXPECT_NEAR(accounts[1].memory_queue_ns, 18.025 - 4.035, kExact);
}

TEST(HeadOfLine, a_short_request_waits_for_the_whole_of_a_long_one) {
  const auto platform = platform_from_text(R"(
nodes:
- {id: a.pe_dma, kind: pe_dma}
- {id: b.pe_dma, kind: pe_dma}
- {id: xbar, kind: xbar}
- {id: slice0, kind: hbm_ctrl}
links:
- {from: a.pe_dma, to: xbar, distance_mm: 0, bw_gbs: 256}
- {from: b.pe_dma, to: xbar, distance_mm: 0, bw_gbs: 256}
- {from: xbar, to: slice0, distance_mm: 0, bw_gbs: 256}
memories:
- {node: slice0, space: hbm, base: 0, size: 1048576}
)");
  std::vector<TrafficAccount> accounts;
  const auto r = run_traffic(
      *platform,
      {request(*platform, 0, "a.pe_dma", "read", 0, 4096), request(*platform, 5, "b.pe_dma", "read", 8192, 64)},
      &accounts);
  EXPECT_NEAR(r[0].done_ns, 16.0, kExact);
  EXPECT_NEAR(r[1].done_ns - 5, 11.25, kExact);
  EXPECT_NEAR(r[1].formula_ns, 0.25, kExact);
  EXPECT_NEAR(accounts[1].memory_queue_ns, 11.0, kExact);
}

TEST(ProbeTable, of_the_latency_model_topology_is_the_seeds) {
  const auto platform = platform_from_file(topology_path("latency_model.yaml"));
  const std::vector<ProbeResult> results = run_probe(*platform, probe_cases(*platform), {4096});
  struct Row {
    const char* name;
    double actual, overhead, drain, wire, overhead_pct, drain_pct, eff_bw, link_bw, util_pct;
  };
  const Row rows[] = {{"pe-local-hbm", 18.085, 2, 16, 0.085, 11.1, 88.5, 226.49, 256, 88.5},
                      {"pe-cross-half-hbm", 37.145, 5, 32, 0.145, 13.5, 86.1, 110.27, 128, 86.1}};
  for (const Row& row : rows) {
    const auto found =
        std::find_if(results.begin(), results.end(), [&](const ProbeResult& r) { return r.probe.name == row.name; });
    ASSERT_NE(found, results.end()) << row.name;
    EXPECT_NEAR(found->actual_ns, row.actual, kExact) << row.name;
    EXPECT_NEAR(found->formula_ns, row.actual, kExact) << row.name;
    EXPECT_NEAR(found->overhead_ns, row.overhead, kExact) << row.name;
    EXPECT_NEAR(found->drain_ns, row.drain, kExact) << row.name;
    EXPECT_NEAR(found->wire_ns, row.wire, kExact) << row.name;
    EXPECT_NEAR(found->queueing_ns, 0, kExact) << row.name;
    EXPECT_NEAR(found->overhead_pct(), row.overhead_pct, 0.05) << row.name;
    EXPECT_NEAR(found->drain_pct(), row.drain_pct, 0.05) << row.name;
    EXPECT_NEAR(found->eff_bw_gbs(), row.eff_bw, 0.005) << row.name;
    EXPECT_NEAR(found->bottleneck_bw_gbs, row.link_bw, kExact) << row.name;
    EXPECT_NEAR(found->util_pct(), row.util_pct, 0.05) << row.name;
  }
}

}  // namespace
}  // namespace kernbench::testing::worked_examples_of_the_latency_model
