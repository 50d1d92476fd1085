// SPDX-License-Identifier: Apache-2.0
// The checks of `kernbench probe`: each passes on the supplied machines and fails on the defect that it must detect.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernbench/platform/work/probe.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "system_support.h"

namespace kernbench::testing {

struct Nothing {};
/// A memory that takes half a nanosecond longer for traffic than at zero load.
class LateMemory : public StatefulMemory<Nothing> {
 public:
  using Parameters = BlockParameters;
  using StatefulMemory::StatefulMemory;
  static ImplSpec spec() { return spec_of<Parameters>("custom.late", "hbm_ctrl", "later than it says"); }

 protected:
  Service serve(Nothing&, const Request& q) const override {
    Service s{q.arrival_ns, q.arrival_ns + (q.transaction ? 10.5 : 10)};
    s.drain_ns = 10;
    return s;
  }
};

}  // namespace kernbench::testing

namespace kernbench {
using testing::LateMemory;
KERNBENCH_REGISTER_COMPONENT(LateMemory)
}  // namespace kernbench

namespace kernbench::testing {
namespace {

/// Two slices, 1 and 5 mm beyond their own routers; the near one's may be slow.
std::string two_slices(const std::string& ns_per_mm, const std::string& near_overhead, const std::string& impl) {
  return "ns_per_mm: " + ns_per_mm + R"(
nodes:
- {id: c.pe0.pe_dma, kind: pe_dma}
- {id: c.r0, kind: router, attrs: {overhead_ns: )" +
         near_overhead + R"(}}
- {id: c.r1, kind: router, attrs: {overhead_ns: 1}}
- {id: c.h0, kind: hbm_ctrl, impl: )" +
         impl + R"(}
- {id: c.h1, kind: hbm_ctrl, impl: )" +
         impl + R"(}
links:
- {from: c.pe0.pe_dma, to: c.r0, distance_mm: 1, bw_gbs: 64}
- {from: c.pe0.pe_dma, to: c.r1, distance_mm: 1, bw_gbs: 64}
- {from: c.r0, to: c.h0, distance_mm: 1, bw_gbs: 64}
- {from: c.r1, to: c.h1, distance_mm: 5, bw_gbs: 64}
memories:
- {node: c.h0, space: hbm, base: 0, size: 1048576}
- {node: c.h1, space: hbm, base: 1048576, size: 1048576}
)";
}

/// "name, subject" of the failed checks.
std::set<std::string> failed(const std::vector<ProbeCheck>& checks) {
  std::set<std::string> names;
  for (const ProbeCheck& c : checks) {
    if (!c.passed) names.insert(c.name + ", " + c.subject);
  }
  return names;
}

std::set<std::string> names_of(const std::vector<ProbeCheck>& checks) {
  std::set<std::string> names;
  for (const ProbeCheck& c : checks) names.insert(c.name);
  return names;
}

std::vector<ProbeCheck> check(const std::string& yaml) {
  const auto platform = platform_from_text(yaml);
  return check_probe(*platform, run_probe(*platform, probe_cases(*platform), 4096));
}

using Names = std::set<std::string>;

TEST(ProbeChecks, pass_where_the_farther_slice_is_slower) {
  const std::vector<ProbeCheck> checks = check(two_slices("0.01", "1", "builtin.hbm_ctrl"));
  EXPECT_EQ(failed(checks), Names{});
  EXPECT_EQ(names_of(checks), (Names{"formula", "parts", "hops", "read-write", "distance", "best-worst"}));
}

TEST(ProbeChecks, of_distance_fail_where_the_near_slice_is_slow) {
  // 4 mm are 0.04 ns: a router that is 0.05 ns slower exceeds this, one that is 0.03 ns slower does not.
  EXPECT_EQ(failed(check(two_slices("0.01", "1.05", "builtin.hbm_ctrl"))),
            (Names{"distance, pe-cross-half-hbm", "distance, pe-cross-half-hbm-write"}));
}

TEST(ProbeChecks, of_distance_pass_where_the_near_slice_is_not_slow_enough) {
  EXPECT_EQ(failed(check(two_slices("0.01", "1.03", "builtin.hbm_ctrl"))), Names{});
}

TEST(ProbeChecks, find_best_and_worst_alike_where_wires_take_no_time) {
  const std::vector<ProbeCheck> checks = check(two_slices("0", "1", "builtin.hbm_ctrl"));
  size_t best_worst = 0;
  for (const ProbeCheck& c : checks) {
    EXPECT_EQ(c.passed, c.name != "best-worst") << c.name << ", " << c.subject;
    best_worst += c.name == "best-worst";
  }
  EXPECT_EQ(best_worst, 2u);  // for reads, for writes
}

TEST(ProbeChecks, find_a_memory_that_takes_longer_than_its_closed_form) {
  const std::vector<ProbeCheck> checks = check(two_slices("0.01", "1", "custom.late"));
  Names expected;
  for (const char* name : {"pe-local-hbm", "pe-cross-half-hbm", "pe-local-hbm-write", "pe-cross-half-hbm-write"}) {
    for (const char* law : {"formula, ", "hops, "}) expected.insert(law + std::string(name));  // its time is counted
  }
  EXPECT_EQ(failed(checks), expected);
  for (const ProbeCheck& c : checks) EXPECT_EQ(c.law, c.name != "distance" && c.name != "best-worst") << c.name;
}

TEST(ProbeChecks, of_reads_and_writes_fail_where_one_is_slower) {
  const auto platform = platform_from_text(two_slices("0.01", "1", "builtin.hbm_ctrl"));
  std::vector<ProbeResult> results = run_probe(*platform, probe_cases(*platform), 4096);
  for (const double late : {1e-6, 1e-3}) {
    for (ProbeResult& r : results) {
      if (r.probe.name == "pe-local-hbm-write") r.actual_ns += late;
    }
    const Names found = failed(check_probe(*platform, results));
    EXPECT_EQ(found.count("read-write, pe-local-hbm-write"), late > 1e-5 ? 1u : 0u);
    EXPECT_EQ(found.count("read-write, pe-cross-half-hbm-write"), 0u);
  }
}

TEST(ProbeChecks, say_nothing_of_reads_and_writes_over_links_that_differ) {
  std::string yaml = two_slices("0.01", "1", "builtin.hbm_ctrl");
  const std::string link = "- {from: c.r1, to: c.h1, distance_mm: 5, bw_gbs: 64}\n";
  yaml.replace(yaml.find(link), link.size(),
               "- {from: c.r1, to: c.h1, distance_mm: 5, bw_gbs: 64, bidirectional: false}\n"
               "- {from: c.h1, to: c.r1, distance_mm: 5, bw_gbs: 32, bidirectional: false}\n");
  size_t about_local = 0;
  for (const ProbeCheck& c : check(yaml)) {
    EXPECT_TRUE(c.passed) << c.name << ", " << c.subject;
    if (c.name != "read-write") continue;
    EXPECT_EQ(c.subject, "pe-local-hbm-write");
    ++about_local;
  }
  EXPECT_EQ(about_local, 1u);
}

TEST(ProbeChecks, of_a_sweep_fail_where_more_bytes_take_less_time) {
  const auto platform = platform_from_text(two_slices("0.01", "1", "builtin.hbm_ctrl"));
  std::vector<ProbeSweep> sweeps = run_sweep(*platform, {probe_cases(*platform)[0]});
  ASSERT_EQ(sweeps.size(), 1u);
  EXPECT_EQ(failed(check_sweep(*platform, sweeps)), Names{});
  std::swap(sweeps[0].points[2], sweeps[0].points[3]);
  EXPECT_EQ(failed(check_sweep(*platform, sweeps)), Names{"size, pe-local-hbm"});
}

TEST(ProbeChecks, of_saturation_fail_above_the_peak_and_beyond_five_percent) {
  topology::Overrides flit;
  flit.links = topology::Links::flit;
  flit.response = topology::Response::routed;
  const auto platform = platform_from_text(two_slices("0.01", "1", "builtin.hbm_ctrl"), flit);
  SaturationResult r;
  r.name = "hot-2";
  r.hot = r.even = true;
  r.peak_gbs = 64;
  const auto found = [&](double a, double b) {
    r.shares_gbs = {a, b};
    r.aggregate_gbs = a + b;
    return failed(check_saturation(*platform, {r}));
  };
  EXPECT_EQ(found(32, 32), Names{});
  EXPECT_EQ(found(32.001, 32), Names{"peak, hot-2"});
  EXPECT_EQ(found(31.4, 28.6), Names{});
  EXPECT_EQ(found(31.6, 28.4), Names{"fairness, hot-2"});
  r.even = false;
  EXPECT_EQ(found(40, 20), Names{});
}

class ShippedMachines : public ::testing::TestWithParam<std::tuple<const char*, topology::Links>> {};

TEST_P(ShippedMachines, pass_every_check) {
  topology::Overrides overrides;
  overrides.links = std::get<1>(GetParam());
  if (overrides.links == topology::Links::flit) overrides.response = topology::Response::routed;
  const auto platform = platform_from_file(topology_path(std::get<0>(GetParam())), overrides);
  const std::vector<ProbeCheck> checks = check_probe(*platform, run_probe(*platform, probe_cases(*platform), 32768));
  EXPECT_GT(checks.size(), 30u);
  for (const ProbeCheck& c : checks) EXPECT_TRUE(c.passed) << c.name << ", " << c.subject << ": " << c.found;
}

INSTANTIATE_TEST_SUITE_P(all, ShippedMachines,
                         ::testing::Combine(::testing::Values("default.yaml", "latency_model.yaml", "small.yaml",
                                                              "one_cube.yaml", "six_sip_torus.yaml"),
                                            ::testing::Values(topology::Links::ideal, topology::Links::cut_through,
                                                              topology::Links::flit)),
                         [](const auto& p) {
                           std::string name = std::get<0>(p.param);
                           name.resize(name.find('.'));
                           return name + "_" + topology::name_of(std::get<1>(p.param));
                         });

}  // namespace
}  // namespace kernbench::testing
