// A lone transaction takes its closed form, from every initiator to every memory, in every mode of the links; and its
// parts sum to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kernbench/platform/probe.h"
#include "kernbench/platform/probe_hops.h"
#include "system_support.h"

namespace kernbench::testing {
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
      if (!platform.router().has_path(n, g.memories[m].node)) continue;
      for (const bool write : {false, true}) {
        const std::string name = g.nodes[n].id + (write ? " writes " : " reads ") + g.nodes[g.memories[m].node].id;
        cases.push_back({name, name, n, m, write});
      }
    }
  }
  return cases;
}

/// Timing contract §2 to §4 for ideal and cut_through links, written out from the graph: overheads, wires, drain, and
/// store-and-forward of transit endpoints.
double written_out_ns(Platform& platform, const ProbeCase& c, uint64_t nbytes, bool routed) {
  const topology::Graph& g = platform.graph();
  const topology::Memory& memory = g.memories[c.memory];
  const std::vector<uint32_t> path = platform.router().find_path(c.initiator, memory.node);
  const std::vector<uint32_t> back = platform.router().reversed(path);
  const auto n = static_cast<double>(nbytes);
  const topology::Node& target = g.nodes[memory.node];
  const bool channels = target.impl == "builtin.hbm_pc";

  double t = 0, bottleneck = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    const topology::Node& from = g.nodes[g.edges[path[i]].from];
    t += from.attrs.number("overhead_ns", 0) * (routed ? 2 : 1);
    t += g.edges[path[i]].distance_mm * g.ns_per_mm + (routed ? g.edges[back[i]].distance_mm * g.ns_per_mm : 0);
    const bool stores = i > 0 && from.attrs.boolean("store_and_forward", from.kind == "pcie_ep");
    if (stores && c.write) t += n / g.effective_bw(path[i - 1]);
    if (stores && !c.write && routed) t += n / g.effective_bw(back[i]);
    const double bw = g.effective_bw(c.write ? path[i] : back[i]);
    if (bw > 0 && !(channels && i + 1 == path.size())) bottleneck = bottleneck == 0 ? bw : std::min(bottleneck, bw);
  }
  t += target.attrs.number("overhead_ns", 0);
  double drain = bottleneck > 0 ? n / bottleneck : 0;
  if (channels) {
    std::vector<double> busy(static_cast<size_t>(target.attrs.integer("pseudo_channels", 0)), 0.0);
    const auto interleave = static_cast<uint64_t>(target.attrs.integer("interleave_bytes", 0));
    for (uint64_t at = 0; at < nbytes; at += interleave)
      busy[at / interleave % busy.size()] +=
          static_cast<double>(std::min(interleave, nbytes - at)) / target.attrs.number("pc_bw_gbs", 0);
    drain = std::max(drain, *std::max_element(busy.begin(), busy.end()));
  }
  return t + drain;
}

class ProbeOfEveryPair : public ::testing::TestWithParam<std::tuple<const char*, Mode>> {};

TEST_P(ProbeOfEveryPair, takes_the_closed_form_and_its_parts_sum_to_it) {
  const auto& [file, mode] = GetParam();
  const auto platform = platform_in(file, mode);
  const std::vector<ProbeCase> cases = every_pair(*platform);
  ASSERT_GT(cases.size(), 100u);
  const std::vector<ProbeResult> results = run_probe(*platform, cases, {100, 4096, 33000});
  ASSERT_EQ(results.size(), 3 * cases.size());
  for (const ProbeResult& r : results) {
    SCOPED_TRACE(r.probe.name + ", " + std::to_string(r.nbytes) + " bytes");
    EXPECT_NEAR(r.actual_ns, r.formula_ns, kExact);
    EXPECT_NEAR(r.actual_ns, r.parts_ns(), kExact);
    EXPECT_NEAR(r.queueing_ns, 0, kExact);
    EXPECT_GE(r.drain_ns, -kExact);
    EXPECT_NEAR(r.actual_ns, trace_hops(*platform, r.probe, r.nbytes).total_ns, kExact);
    if (mode.links == topology::Links::flit) continue;
    EXPECT_NEAR(r.actual_ns, written_out_ns(*platform, r.probe, r.nbytes, mode.response == topology::Response::routed),
                kExact);
  }
}

INSTANTIATE_TEST_SUITE_P(shipped, ProbeOfEveryPair,
                         ::testing::Combine(::testing::Values("small.yaml", "one_cube.yaml", "latency_model.yaml"),
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
      // The edges into the two endpoints are 256 and 64 GB/s wide. Flits come no faster than through the UCIe's 128.
      const bool flits = GetParam().links == topology::Links::flit;
      EXPECT_NEAR(r.store_forward_ns, flits ? 15 * (256.0 / 128 + 256.0 / 64) : 4096.0 / 256 + 4096.0 / 64, kExact);
    } else {
      EXPECT_EQ(r.store_forward_ns, 0);
    }
    if (GetParam().links == topology::Links::flit) continue;
    EXPECT_NEAR(r.actual_ns, written_out_ns(*platform, r.probe, 4096, data_comes_back), kExact);
  }
}

INSTANTIATE_TEST_SUITE_P(modes, ProbeCases, ::testing::ValuesIn(kModes), [](const auto& p) { return p.param.name; });

// 16 flits over 8 channels of 32 GB/s: 8 of them are there after 8 ns, 8 after 16. The link takes 1 ns a flit and is
// behind: its last flit is through at 24 ns, and the next link adds 1. Wires 4 × 0.005.
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
}  // namespace kernbench::testing
