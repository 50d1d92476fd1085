// SPDX-License-Identifier: Apache-2.0
// Does every message go from block to block by calls of bound sockets, at the time of each call?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/launch.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/host/io_cpu.h"
#include "kernbench/systemc_models/host/m_cpu.h"
#include "kernbench/systemc_models/host/pcie_ep.h"
#include "kernbench/systemc_models/pe/pe_control.h"
#include "kernbench/systemc_models/pe/pe_cpu.h"
#include "launch_toy_system.h"
#include "system_support.h"

namespace kernbench::testing::launches_go_over_sockets {
namespace {

struct Call {
  std::string from, to;
  bool response = false;
  double ns = 0;  ///< sc_time_stamp() + delay
  bool operator<(const Call& o) const {
    return std::tie(from, to, response, ns) < std::tie(o.from, o.to, o.response, o.ns);
  }
  std::string who() const { return (response ? "response " : "request ") + from + " -> " + to; }
};

std::vector<Call>& calls() {
  static std::vector<Call> all;
  return all;
}

/// A block of the project that records every call with a message at its sockets.
template <class Block>
class Counting : public Block {
 public:
  using Block::Block;
  tlm::tlm_sync_enum other_request_in(tlm::tlm_generic_payload& p, FabricPort& port, tlm::tlm_phase& phase,
                                      sc_core::sc_time& delay) override {
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_EQ(p.get_command(), tlm::TLM_IGNORE_COMMAND);
    note(port, delay, false);
    const tlm::tlm_sync_enum answer = Block::other_request_in(p, port, phase, delay);
    EXPECT_EQ(answer, tlm::TLM_UPDATED);
    EXPECT_EQ(phase, tlm::END_REQ);
    return answer;
  }
  tlm::tlm_sync_enum other_response_in(tlm::tlm_generic_payload& p, FabricPort& port, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE);
    note(port, delay, true);
    const tlm::tlm_sync_enum answer = Block::other_response_in(p, port, phase, delay);
    EXPECT_EQ(answer, tlm::TLM_COMPLETED);
    return answer;
  }

 private:
  void note(const FabricPort& port, const sc_core::sc_time& delay, bool response) {
    const double ns = (sc_core::sc_time_stamp() + delay).to_seconds() * 1e9;
    calls().push_back({port.neighbour()->node().owner().id(), this->id(), response, ns});
  }
};

template <class Block>
void count(topology::Graph& graph, const std::string& impl, const std::set<std::string>& kinds) {
  component_registry().add(spec_of<typename Block::Parameters>(impl, *kinds.begin(), "counts its calls"),
                           make_component<Counting<Block>>);
  for (topology::Node& n : graph.nodes) {
    if (kinds.count(n.kind)) n.impl = impl;
  }
}

/// The expected calls of a launch of kernels that end at once, from the contract's sums alone.
class Expected {
 public:
  Expected(Platform& platform, double stamp_ns) : platform_(platform), paths_(platform.graph()), stamp_ns_(stamp_ns) {
    const topology::Graph& graph = platform.graph();
    const uint32_t endpoint = graph.index_of.at("sip0.io0.pcie_ep"), io_cpu = graph.index_of.at("sip0.io0.io_cpu");
    calls.push_back({"host", graph.nodes[endpoint].id, false, 0});
    const double at_io_cpu = leg(endpoint, io_cpu, 0);
    std::map<uint32_t, double> at_m_cpu;
    for (const topology::Pe& pe : graph.pes) {
      const uint32_t m_cpu = graph.index_of.at(pe.id.substr(0, pe.id.rfind('.')) + ".m_cpu");
      if (!at_m_cpu.count(m_cpu)) at_m_cpu[m_cpu] = leg(io_cpu, m_cpu, at_io_cpu);
      const double at_pe = leg(m_cpu, pe.blocks.at("pe_cpu"), at_m_cpu[m_cpu]);
      const double back = stamp_ns_ + at_pe - at_m_cpu[m_cpu];
      last_[m_cpu] = std::max(last_[m_cpu], back);
      leg_back(m_cpu, pe.blocks.at("pe_cpu"), stamp_ns_);
    }
    double last = 0;
    for (const auto& [m_cpu, done] : last_) {
      leg_back(io_cpu, m_cpu, done);
      last = std::max(last, done + at_m_cpu[m_cpu] - at_io_cpu);
    }
    leg_back(endpoint, io_cpu, last);
    std::sort(calls.begin(), calls.end());
  }
  std::vector<Call> calls;

 private:
  double cost(uint32_t e) const {
    const topology::Edge& edge = platform_.graph().edges[e];
    return platform_.graph().nodes[edge.from].attrs.number("overhead_ns", 0) +
           edge.distance_mm * platform_.graph().ns_per_mm;
  }
  double leg(uint32_t from, uint32_t to, double ns) {
    for (const uint32_t e : paths_.find_path(from, to)) note(e, false, ns += cost(e));
    return ns;
  }
  /// On the way back, each block's cost is added after the arrival.
  void leg_back(uint32_t from, uint32_t to, double ns) {
    const std::vector<uint32_t> path = paths_.find_path(from, to);
    for (auto e = path.rbegin(); e != path.rend(); ++e) {
      note(*e, true, ns + platform_.graph().edges[*e].distance_mm * platform_.graph().ns_per_mm);
      ns += cost(*e);
    }
  }
  void note(uint32_t e, bool response, double ns) {
    const topology::Edge& edge = platform_.graph().edges[e];
    const std::string &a = platform_.graph().nodes[edge.from].id, &b = platform_.graph().nodes[edge.to].id;
    calls.push_back({response ? b : a, response ? a : b, response, ns});
  }

  Platform& platform_;
  topology::PathRouter paths_;
  double stamp_ns_;
  std::map<uint32_t, double> last_;  ///< by m_cpu: arrival of its last response
};

KernelLaunch noop_on(std::vector<size_t> pes) {
  KernelLaunch m;
  m.pes = std::move(pes);
  m.kernel = [](size_t) { return [](PeBackend&) {}; };
  return m;
}

TEST(Launch, is_a_call_at_every_hop_of_every_leg_there_and_back) {
  topology::Graph graph = topology::compile_file(topology_path("small.yaml"), component_catalog());
  count<Router>(graph, "test.counting_router", {"router", "ucie", "noc", "io_noc", "bridge", "switch", "xbar"});
  count<PcieEp>(graph, "test.counting_pcie_ep", {"pcie_ep"});
  count<IoCpu>(graph, "test.counting_io_cpu", {"io_cpu"});
  count<MCpu>(graph, "test.counting_m_cpu", {"m_cpu"});
  count<PeCpu>(graph, "test.counting_pe_cpu", {"pe_cpu"});
  Platform platform("system", std::move(graph));
  LaunchHost& host = platform.hosts().launch_host();
  const LaunchWay way = host_launch_way(host, {0, 1, 2, 3, 4, 5, 6, 7});
  Launcher launcher(host);
  LaunchResult result;
  launcher.launch(noop_on({0, 1, 2, 3, 4, 5, 6, 7}), way, [&](const LaunchResult& r) { result = r; });
  sc_core::sc_start();
  ASSERT_TRUE(result.response.ok()) << result.response.text;
  EXPECT_EQ(result.response.done_ns, 2 * way.latest_ns);

  const Expected expected(platform, way.latest_ns);
  std::vector<Call> counted = calls();
  std::sort(counted.begin(), counted.end());
  ASSERT_EQ(counted.size(), expected.calls.size());
  for (size_t i = 0; i < counted.size(); ++i) {
    EXPECT_EQ(counted[i].who(), expected.calls[i].who());
    EXPECT_NEAR(counted[i].ns, expected.calls[i].ns, 1e-5) << counted[i].who();
  }
}

TEST(Launch, to_pes_directly_is_a_call_of_each_pe_cpu) {
  topology::Graph graph = topology::compile_file(topology_path("small.yaml"), component_catalog());
  count<PeCpu>(graph, "test.counting_pe_cpu", {"pe_cpu"});
  Platform platform("system", std::move(graph));
  LaunchHost& host = platform.hosts().launch_host();
  Launcher launcher(host);
  bool done = false;
  launcher.launch(noop_on({1, 5}), direct_launch_way(host, {1, 5}), [&](const LaunchResult& r) {
    done = r.response.ok();
    EXPECT_EQ(r.response.done_ns, 0);
  });
  sc_core::sc_start();
  EXPECT_TRUE(done);
  ASSERT_EQ(calls().size(), 2u);
  EXPECT_EQ(calls()[0].who(), "request host -> sip0.cube0.pe1.pe_cpu");
  EXPECT_EQ(calls()[1].who(), "request host -> " + platform.graph().pes[5].id + ".pe_cpu");
  EXPECT_EQ(calls()[1].ns, 0);
}

TEST(Launch, that_comes_late_starts_a_kernel_when_it_is_there) {
  auto platform = platform_from_text(toy_system());
  LaunchHost& host = platform->hosts().launch_host();
  auto body = std::make_shared<LaunchBody>();
  body->start_ns = toy::kNear + 1;  // pe1 is reached later
  body->kernel = noop_on({}).kernel;
  std::vector<double> starts(2);
  body->ended = [&](size_t place, const KernelOutcome& o) { starts[place] = o.start_ns; };
  HostResponse response;
  host.send({}, host_launch_way(host, {0, 1}), body, [&](const HostResponse& r) { response = r; });
  sc_core::sc_start();
  EXPECT_TRUE(response.ok()) << response.text;
  EXPECT_NEAR(starts[0], toy::kNear + 1, 1e-9);
  EXPECT_NEAR(starts[1], toy::kFar, 1e-9);
  EXPECT_NEAR(response.done_ns, 2 * toy::kFar, 1e-9);
}

TEST(Message, that_a_pe_does_not_know_is_answered_so) {
  auto platform = platform_from_text(toy_system());
  LaunchHost& host = platform->hosts().launch_host();
  HostResponse response;
  host.send({}, host_launch_way(host, {0}), std::make_shared<ControlBody>(),
            [&](const HostResponse& r) { response = r; });
  sc_core::sc_start();
  EXPECT_STREQ(name_of(response.code), "not_understood");
  EXPECT_EQ(response.text, "sip0.cube0.pe0: a message that is none to a PE");
  EXPECT_NEAR(response.done_ns, 2 * toy::kNear, 1e-9);
}

/// Replaces an io_cpu and only passes messages on.
class PlainIoCpu : public Router {
 public:
  using Router::Router;
  static ImplSpec spec() { return spec_of<Parameters>("test.plain_io_cpu", "io_cpu", "fans nothing out"); }
};
KERNBENCH_REGISTER_COMPONENT(PlainIoCpu)

/// Replaces an m_cpu and has no socket.
class DeafMCpu : public Component {
 public:
  using Parameters = MCpuParameters;
  DeafMCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& p)
      : Component(name, config, p) {}
  static ImplSpec spec() { return spec_of<Parameters>("test.deaf_m_cpu", "m_cpu", "hears nothing"); }
};
KERNBENCH_REGISTER_COMPONENT(DeafMCpu)

class OfOnesOwn : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(OfOnesOwn, that_takes_no_messages_is_named_before_the_run) {
  const auto& [kind, impl] = GetParam();
  std::string yaml = toy_system();
  const std::string given = std::string("kind: ") + kind + ",";
  yaml.replace(yaml.find(given), given.size(), given + " impl: " + impl + ",");
  auto platform = platform_from_text(yaml);
  LaunchHost& host = platform->hosts().launch_host();
  for (const LaunchMode mode : {LaunchMode::automatic, LaunchMode::host}) {
    try {
      choose_launch_way(host, {0}, mode);
      FAIL() << "no error";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(std::string(impl) +
                                           " takes no launches: its class is no ControlTarget with a target socket"),
                std::string::npos)
          << e.what();
    }
  }
  Launcher launcher(host);
  bool done = false;
  launcher.launch(noop_on({0, 1}), choose_launch_way(host, {0, 1}, LaunchMode::direct),
                  [&](const LaunchResult& r) { done = r.response.ok(); });
  sc_core::sc_start();
  EXPECT_TRUE(done);
}

INSTANTIATE_TEST_SUITE_P(All, OfOnesOwn,
                         ::testing::Values(std::make_pair("io_cpu", "test.plain_io_cpu"),
                                           std::make_pair("m_cpu", "test.deaf_m_cpu")),
                         [](const auto& parameter) { return std::string(parameter.param.first); });

}  // namespace
}  // namespace kernbench::testing::launches_go_over_sockets
