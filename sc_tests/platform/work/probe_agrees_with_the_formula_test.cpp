// SPDX-License-Identifier: Apache-2.0
// An isolated transaction has the latency of the closed form, from every initiator to every memory, in every link mode;
// and its parts sum to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/platform/work/probe.h"
#include "system_support.h"
#include "written_out_latency.h"

namespace kernbench::testing::probe_agrees_with_the_formula {
namespace {

constexpr double kExact = 1e-6;

struct Mode {
  const char* name;
  topology::Links links;
  topology::Response response;
};
constexpr Mode kModes[] = {
    {"ideal", topology::Links::ideal, topology::Response::ideal},
    {"ideal_routed", topology::Links::ideal, topology::Response::routed},
    {"cut_through", topology::Links::cut_through, topology::Response::ideal},
    {"cut_through_routed", topology::Links::cut_through, topology::Response::routed},
    {"flit", topology::Links::flit, topology::Response::routed},
};

std::unique_ptr<Platform> platform_in(const std::string& file, const Mode& mode) {
  topology::Overrides overrides;
  overrides.links = mode.links;
  overrides.response = mode.response;
  return platform_from_file(topology_path(file), overrides);
}

std::vector<ProbeCase> every_pair(Platform& platform) {
  std::vector<ProbeCase> cases;
  const topology::Graph& g = platform.graph();
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (!platform.request_port(n)) continue;
    for (uint32_t m = 0; m < g.memories.size(); ++m) {
      if (!platform.routes().paths().has_path(n, g.memories[m].node)) continue;
      for (const bool write : {false, true}) {
        const std::string name = g.nodes[n].id + (write ? " writes " : " reads ") + g.nodes[g.memories[m].node].id;
        cases.push_back({name, name, n, m, write});
      }
    }
  }
  return cases;
}

/// About `count` of the pairs, with a stride coprime to the grid: near and far ones, all SIPs.
std::vector<ProbeCase> sample(const std::vector<ProbeCase>& all, size_t count) {
  size_t stride = std::max<size_t>(1, all.size() / count);
  while (std::gcd(stride, all.size()) != 1) ++stride;
  std::vector<ProbeCase> some;
  for (size_t i = 0; i < std::min(count, all.size()); ++i) some.push_back(all[i * stride % all.size()]);
  return some;
}

void expect_closed_form(Platform& platform, const std::vector<ProbeCase>& cases, const std::vector<uint64_t>& sizes) {
  const std::vector<ProbeResult> results = run_probe(platform, cases, sizes);
  ASSERT_EQ(results.size(), sizes.size() * cases.size());
  for (const ProbeResult& r : results) {
    SCOPED_TRACE(r.probe.name + ", " + std::to_string(r.nbytes) + " bytes");
    EXPECT_NEAR(r.actual_ns, r.formula_ns, kExact);
    EXPECT_NEAR(r.actual_ns, written_out_ns(platform, r.probe, r.nbytes), kExact);
    EXPECT_NEAR(r.actual_ns, r.parts_ns(), kExact);
    EXPECT_NEAR(r.queueing_ns, 0, kExact);
    EXPECT_GE(r.drain_ns, -kExact);
    EXPECT_NEAR(r.actual_ns, trace_hops(platform, r.probe, r.nbytes).total_ns, kExact);
  }
}

class ProbeOfEveryPair : public ::testing::TestWithParam<std::tuple<const char*, Mode>> {};

TEST_P(ProbeOfEveryPair, takes_the_closed_form_and_its_parts_sum_to_it) {
  const auto& [file, mode] = GetParam();
  const auto platform = platform_in(file, mode);
  const std::vector<ProbeCase> cases = every_pair(*platform);
  ASSERT_GT(cases.size(), 100u);
  expect_closed_form(*platform, cases, {100, 4096, 33000});
}

INSTANTIATE_TEST_SUITE_P(shipped, ProbeOfEveryPair,
                         ::testing::Combine(::testing::Values("small.yaml", "one_cube.yaml", "latency_model.yaml"),
                                            ::testing::ValuesIn(kModes)),
                         [](const auto& p) {
                           std::string name = std::get<0>(p.param);
                           name.resize(name.find('.'));
                           return name + "_" + std::get<1>(p.param).name;
                         });

/// 16 cubes in 2 SIPs behind a switch; 6 SIPs that pass through each other's endpoints.
class ProbeOfFarPairs : public ::testing::TestWithParam<std::tuple<const char*, Mode>> {};

TEST_P(ProbeOfFarPairs, takes_the_closed_form_between_cubes_and_sips) {
  const auto& [file, mode] = GetParam();
  const auto platform = platform_in(file, mode);
  const std::vector<ProbeCase> all = every_pair(*platform), cases = sample(all, 120);
  std::map<std::string, int> ways;
  for (const ProbeCase& c : cases) {
    const auto from = topology::naming::owner_of(platform->graph().nodes[c.initiator].id);
    const auto to = topology::naming::owner_of(platform->graph().nodes[platform->graph().memories[c.memory].node].id);
    ++ways[from.sip != to.sip ? "other SIP" : from.cube != to.cube ? "other cube" : "same cube"];
  }
  EXPECT_GT(ways["other SIP"], 20);
  EXPECT_GT(ways["other cube"], 10);
  expect_closed_form(*platform, cases, {256, 5000});
}

INSTANTIATE_TEST_SUITE_P(shipped, ProbeOfFarPairs,
                         ::testing::Combine(::testing::Values("default.yaml", "six_sip_torus.yaml"),
                                            ::testing::ValuesIn(kModes)),
                         [](const auto& p) {
                           std::string name = std::get<0>(p.param);
                           name.resize(name.find('.'));
                           return name + "_" + std::get<1>(p.param).name;
                         });

class ProbeCases : public ::testing::TestWithParam<Mode> {};

// Through the switch, where endpoints store and forward.
TEST_P(ProbeCases, of_the_default_machine_take_the_closed_form_too) {
  const auto platform = platform_in("default.yaml", GetParam());
  const std::vector<ProbeCase> cases = probe_cases(*platform);
  ASSERT_EQ(cases.size(), 16u);
  for (const ProbeResult& r : run_probe(*platform, cases, 4096)) {
    SCOPED_TRACE(r.probe.name);
    EXPECT_NEAR(r.actual_ns, r.formula_ns, kExact);
    EXPECT_NEAR(r.actual_ns, r.parts_ns(), kExact);
    const bool far = r.probe.name.find("other-sip") != std::string::npos;
    const bool data_comes_back = GetParam().response == topology::Response::routed;
    if (far && (r.probe.write || data_comes_back)) {
      // The edges into the two endpoints are 256 and 128 GB/s wide. Flits arrive at most at the UCIe's 128.
      const bool flits = GetParam().links == topology::Links::flit;
      EXPECT_NEAR(r.store_forward_ns, flits ? 15 * (256.0 / 128 + 256.0 / 128) : 4096.0 / 256 + 4096.0 / 128, kExact);
    } else {
      EXPECT_EQ(r.store_forward_ns, 0);
    }
    EXPECT_NEAR(r.actual_ns, written_out_ns(*platform, r.probe, 4096), kExact);
  }
}

INSTANTIATE_TEST_SUITE_P(modes, ProbeCases, ::testing::ValuesIn(kModes), [](const auto& p) { return p.param.name; });

// 16 flits over 8 channels of 32 GB/s: 8 of them arrive after 8 ns, 8 after 16. The link takes 1 ns per flit and is the
// bottleneck: its last flit has passed at 24 ns, and the next link adds 1. Wires 4 × 0.005.
TEST(ProbeInFlits, of_a_local_read_is_the_pipeline_worked_out_by_hand) {
  const auto platform = platform_in("small.yaml", kModes[4]);
  const std::vector<ProbeCase> cases = probe_cases(*platform);
  ASSERT_EQ(cases[0].name, "pe-local-hbm");
  const ProbeResult r = run_probe(*platform, {cases[0]}, 4096)[0];
  EXPECT_NEAR(r.actual_ns, 25.02, kExact);
  EXPECT_NEAR(r.drain_ns, 25, kExact);
  EXPECT_NEAR(r.wire_ns, 0.02, kExact);
}

}  // namespace
}  // namespace kernbench::testing::probe_agrees_with_the_formula
