// SPDX-License-Identifier: Apache-2.0
// The trace of a probed transaction: one row per node, each beginning at the end of the previous one, the narrowest
// edges marked, and the total equal to the simulated latency.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/platform/work/probe.h"
#include "system_support.h"

namespace kernbench::testing::probe_shows_every_hop {
namespace {

constexpr double kExact = 1e-6;

std::unique_ptr<Platform> default_machine(topology::Links links, topology::Response response) {
  topology::Overrides overrides;
  overrides.links = links;
  overrides.response = response;
  return platform_from_file(topology_path("default.yaml"), overrides);
}

ProbeCase find_case(Platform& platform, const std::string& name) {
  for (const ProbeCase& c : probe_cases(platform)) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("no case " + name);
}

struct Setting {
  const char* name;
  topology::Links links;
  topology::Response response;
};

class Hops : public ::testing::TestWithParam<Setting> {};

TEST_P(Hops, follow_each_other_and_end_with_the_simulated_latency) {
  const auto platform = default_machine(GetParam().links, GetParam().response);
  const bool routed = GetParam().response == topology::Response::routed;
  const topology::Graph& g = platform->graph();
  for (const ProbeResult& r : run_probe(*platform, probe_cases(*platform), 5000)) {
    SCOPED_TRACE(r.probe.name);
    const ProbeTrace t = trace_hops(*platform, r.probe, r.nbytes);
    const uint32_t memory = g.memories[r.probe.memory].node;
    const size_t edges = platform->routes().paths().find_path(r.probe.initiator, memory).size();
    ASSERT_EQ(t.hops.size(), routed ? 2 * edges + 1 : edges + 1);
    EXPECT_EQ(t.hops[0].node, r.probe.initiator);
    EXPECT_EQ(t.hops[edges].node, memory);
    EXPECT_EQ(t.hops.back().node, routed ? r.probe.initiator : memory);
    EXPECT_EQ(t.hops[0].arrive_ns, 0);

    double overhead = 0, wire = 0, stored = 0, drain = 0;
    for (size_t i = 0; i < t.hops.size(); ++i) {
      const ProbeHop& h = t.hops[i];
      EXPECT_EQ(h.response, i > edges);
      EXPECT_GE(h.drain_ns, -kExact);
      EXPECT_GE(h.store_forward_ns, -kExact);
      overhead += h.overhead_ns;
      stored += h.store_forward_ns;
      drain += h.drain_ns + h.transfer_ns;
      wire += h.wire_ns;
      if (i + 1 == t.hops.size()) {
        EXPECT_EQ(h.edge, ProbeHop::kNoEdge);
        EXPECT_NEAR(h.leave_ns(), r.actual_ns, kExact);
      } else {
        ASSERT_NE(h.edge, ProbeHop::kNoEdge);
        EXPECT_EQ(g.edges[h.edge].from, h.node);
        EXPECT_EQ(g.edges[h.edge].to, t.hops[i + 1].node);
        EXPECT_NEAR(h.leave_ns() + h.transfer_ns + h.wire_ns, t.hops[i + 1].arrive_ns, kExact);
      }
    }
    EXPECT_NEAR(t.total_ns, r.actual_ns, kExact);
    EXPECT_NEAR(overhead, r.overhead_ns, kExact);
    EXPECT_NEAR(wire, r.wire_ns, kExact);
    EXPECT_NEAR(stored, r.store_forward_ns, kExact);
    EXPECT_NEAR(drain, r.drain_ns, kExact);
    EXPECT_NEAR(drain, t.drain_ns, kExact);
  }
}

TEST_P(Hops, mark_the_edges_that_carry_the_data_and_are_narrowest) {
  const auto platform = default_machine(GetParam().links, GetParam().response);
  const bool routed = GetParam().response == topology::Response::routed;
  for (const ProbeCase& c : probe_cases(*platform)) {
    SCOPED_TRACE(c.name);
    const ProbeTrace t = trace_hops(*platform, c, 4096);
    double least = 1e9;
    size_t marked = 0;
    const auto carries = [&](const ProbeHop& h) {
      if (h.edge == ProbeHop::kNoEdge) return false;
      const bool leaves_memory = &h == &t.hops[t.hops.size() / 2];
      return !routed || (c.write ? !h.response && !leaves_memory : h.response || leaves_memory);
    };
    for (const ProbeHop& h : t.hops) {
      if (carries(h)) least = std::min(least, h.bw_gbs);
    }
    for (const ProbeHop& h : t.hops) {
      EXPECT_EQ(h.bottleneck, carries(h) && h.bw_gbs == least);
      marked += h.bottleneck;
    }
    EXPECT_GT(marked, 0u);
    EXPECT_FALSE(t.memory_is_bottleneck);
    EXPECT_EQ(run_probe(*platform, {c}, 4096)[0].bottleneck_bw_gbs, least);
  }
}

INSTANTIATE_TEST_SUITE_P(
    modes, Hops,
    ::testing::Values(Setting{"ideal", topology::Links::ideal, topology::Response::ideal},
                      Setting{"ideal_routed", topology::Links::ideal, topology::Response::routed},
                      Setting{"cut_through", topology::Links::cut_through, topology::Response::ideal},
                      Setting{"cut_through_routed", topology::Links::cut_through, topology::Response::routed},
                      Setting{"flit", topology::Links::flit, topology::Response::routed}),
    [](const auto& p) { return p.param.name; });

// 32 KiB by an edge of 256 GB/s into the first endpoint and of 128 GB/s into the second; the switch in between is in
// transit.
TEST(HopsThroughTheTray, wait_for_all_data_at_both_endpoints) {
  const auto platform = default_machine(topology::Links::cut_through, topology::Response::routed);
  const ProbeTrace t = trace_hops(*platform, find_case(*platform, "pe-other-sip-hbm-write"), 32768);
  const topology::Graph& g = platform->graph();
  for (const ProbeHop& h : t.hops) {
    const std::string& id = g.nodes[h.node].id;
    const bool data = !h.response && g.nodes[h.node].kind == "pcie_ep";
    const double expected = !data ? 0 : id == "sip0.io0.pcie_ep" ? 32768.0 / 256 : 32768.0 / 128;
    EXPECT_NEAR(h.store_forward_ns, expected, kExact) << id;
  }
  EXPECT_NEAR(t.drain_ns, 256, kExact);
  EXPECT_NEAR(t.total_ns, 740.05, kExact);
}

TEST(HopsToPseudoChannels, name_the_memory_where_its_channels_are_narrower_than_every_edge) {
  const char* yaml = R"(
timing: {response: routed}
nodes:
- {id: pe0.pe_dma, kind: pe_dma}
- {id: r, kind: router}
- {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_pc, attrs: {pseudo_channels: 2, interleave_bytes: 256, pc_bw_gbs: 16}}
links:
- {from: pe0.pe_dma, to: r, distance_mm: 1, bw_gbs: 64}
- {from: r, to: hbm, distance_mm: 1, bw_gbs: 64}
memories:
- {node: hbm, space: hbm, base: 0, size: 1048576}
)";
  const auto platform = platform_from_text(yaml);
  const ProbeTrace t = trace_hops(*platform, find_case(*platform, "pe-local-hbm"), 4096);
  EXPECT_TRUE(t.memory_is_bottleneck);
  EXPECT_EQ(t.memory_bw_gbs, 32);
  EXPECT_TRUE(std::none_of(t.hops.begin(), t.hops.end(), [](const ProbeHop& h) { return h.bottleneck; }));
  EXPECT_THROW(trace_hops(*platform, find_case(*platform, "pe-local-hbm"), 1048577), InputError);
}

}  // namespace
}  // namespace kernbench::testing::probe_shows_every_hop
