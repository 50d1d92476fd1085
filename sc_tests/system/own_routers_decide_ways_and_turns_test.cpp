// SPDX-License-Identifier: Apache-2.0
// Are the decisions of a user-defined router applied in every link mode: the path of a request (and of its response),
// and the arbitration order?
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/fabric/switch_allocator.h"
#include "system_support.h"

namespace kernbench::testing::own_routers_decide_ways_and_turns {
namespace {

/// Sends every other request along another path than the topology's, if one leads to a router.
class OtherWayRouter : public Router {
 public:
  using Router::Router;
  static ImplSpec spec() {
    return spec_of<Parameters>("test.other_way", "router", "sends every other request elsewhere");
  }

 protected:
  FabricPort& way(const FabricTransaction& x, FabricPort& from) override {
    FabricPort& usual = Router::way(x, from);
    if (++requests_ % 2) return usual;
    for (FabricPort* p : ports()) {
      if (p != &usual && p != &from && p->neighbour() && dynamic_cast<Router*>(&p->neighbour()->node())) return *p;
    }
    return usual;
  }

 private:
  unsigned requests_ = 0;
};
KERNBENCH_REGISTER_COMPONENT(OtherWayRouter)

/// Last come, first served; records the links of the waiting messages.
class LastFirstRouter : public Router {
 public:
  using Router::Router;
  static ImplSpec spec() { return spec_of<Parameters>("test.last_first", "router", "serves the last that came"); }

 protected:
  size_t first(const FabricPort&, const std::vector<WaitingMessage>& waiting) override {
    for (const WaitingMessage& m : waiting) {
      bool ours = false;
      for (const FabricPort* p : ports()) ours |= p->incoming() == m.from;
      if (!ours) throw std::logic_error("a message came by no link of the router");
    }
    return waiting.size() - 1;
  }
};
KERNBENCH_REGISTER_COMPONENT(LastFirstRouter)

/// The shortest message first. This file contains the complete user-defined allocator.
class Shortest : public SwitchAllocator {
 public:
  bool goes_before(const SwitchRequest& a, const SwitchRequest& b, uint64_t) const override {
    const uint64_t x = a.transaction->nbytes, y = b.transaction->nbytes;
    return x != y ? x < y : a.turn < b.turn;
  }
};
KERNBENCH_REGISTER_NAMED(SwitchAllocator, Shortest, "test_shortest", "the shortest message first")

/// r00 has two paths to the memory at r11; only the one by r10 is slow.
std::string square(const std::string& impl) {
  return "nodes:\n- {id: cpu, kind: port}\n- {id: r00, kind: router, impl: " + impl + "}\n" +
         "- {id: r01, kind: router}\n- {id: r10, kind: router, attrs: {overhead_ns: 100}}\n"
         "- {id: r11, kind: router}\n- {id: hbm, kind: hbm_ctrl}\nlinks:\n"
         "- {from: cpu, to: r00, distance_mm: 1, bw_gbs: 64}\n- {from: r00, to: r01, distance_mm: 1, bw_gbs: 64}\n"
         "- {from: r00, to: r10, distance_mm: 1, bw_gbs: 64}\n- {from: r01, to: r11, distance_mm: 1, bw_gbs: 64}\n"
         "- {from: r10, to: r11, distance_mm: 1, bw_gbs: 64}\n- {from: r11, to: hbm, distance_mm: 1, bw_gbs: 64}\n"
         "memories:\n- {node: hbm, space: hbm, base: 0, size: 1048576}\n";
}

struct Mode {
  topology::Links links;
  topology::Response response;
};
constexpr Mode kModes[] = {{topology::Links::ideal, topology::Response::ideal},
                           {topology::Links::ideal, topology::Response::routed},
                           {topology::Links::cut_through, topology::Response::ideal},
                           {topology::Links::cut_through, topology::Response::routed},
                           {topology::Links::flit, topology::Response::routed}};

/// Latencies of requests that are never in flight together.
std::vector<double> lone_latencies(const std::string& yaml, const Mode& mode) {
  const std::string text = in_child([&] {
    topology::Overrides o;
    o.links = mode.links;
    o.response = mode.response;
    const auto platform = platform_from_text(yaml, o);
    std::vector<TrafficRequest> requests;
    for (int i = 0; i < 4; ++i)
      requests.push_back(request(*platform, 10000 * i, "cpu", i < 2 ? "write" : "read", 0, 1000));
    std::ostringstream out;
    for (const TrafficResult& r : run_traffic(*platform, requests)) out << r.done_ns - r.grant_ns << " ";
    return out.str();
  });
  std::istringstream in(text);
  std::vector<double> latencies;
  for (double v; in >> v;) latencies.push_back(v);
  EXPECT_EQ(latencies.size(), 4u) << text;
  latencies.resize(4);
  return latencies;
}

TEST(OwnRouters, choose_ways_which_responses_take_back) {
  for (const Mode& mode : kModes) {
    const auto usual = lone_latencies(square("builtin.router"), mode),
               own = lone_latencies(square("test.other_way"), mode);
    const double detour = mode.response == topology::Response::routed ? 200 : 100;  // r10, there and back
    for (size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(own[i] - usual[i], i % 2 ? detour : 0, 1e-6) << topology::name_of(mode.links) << " request " << i;
  }
}

TEST(OwnRouters, choose_who_is_first) {
  std::string yaml = square("test.last_first");
  yaml.replace(yaml.find("to: r01, distance_mm: 1, bw_gbs: 64"), 35, "to: r01, distance_mm: 1, bw_gbs: 16");
  for (const auto links : {topology::Links::cut_through, topology::Links::flit}) {
    EXPECT_EQ(in_child([&] {
                topology::Overrides o;
                o.links = links;
                o.response = topology::Response::routed;
                const auto platform = platform_from_text(yaml, o);
                std::vector<TrafficRequest> requests;
                for (int i = 0; i < 3; ++i) requests.push_back(request(*platform, 0, "cpu", "write", 0, 256));
                const auto results = run_traffic(*platform, requests);
                const bool in_order =
                    results[0].done_ns < results[2].done_ns && results[2].done_ns < results[1].done_ns;
                return std::string(in_order ? "0 2 1" : "another order");
              }),
              "0 2 1")
        << topology::name_of(links);
  }
}

/// Three initiators share the slow link from r to the memory. A message keeps its virtual channel, so each has one.
/// Returns the numbers of the first, second and third to end.
std::string order_of_ends(const std::string& router) {
  return in_child([&]() -> std::string {
    std::string yaml = "nodes:\n- {id: r, kind: router, " + router +
                       "}\n- {id: hbm, kind: hbm_ctrl, attrs: " + "{buffer_flits: 4, vcs: 4}}\n";
    for (int i = 0; i < 3; ++i) yaml += "- {id: cpu" + std::to_string(i) + ", kind: port}\n";
    yaml += "links:\n- {from: r, to: hbm, distance_mm: 1, bw_gbs: 4}\n";
    for (int i = 0; i < 3; ++i) yaml += "- {from: cpu" + std::to_string(i) + ", to: r, distance_mm: 1, bw_gbs: 64}\n";
    yaml += "memories:\n- {node: hbm, space: hbm, base: 0, size: 1048576}\n";
    topology::Overrides o;
    o.links = topology::Links::flit;
    o.response = topology::Response::routed;
    try {
      const auto platform = platform_from_text(yaml, o);
      std::vector<TrafficRequest> requests;
      const uint64_t sizes[] = {8192, 4096, 2048};
      for (int i = 0; i < 3; ++i)
        requests.push_back(request(*platform, i, "cpu" + std::to_string(i), "write", 65536 * i, sizes[i]));
      const auto results = run_traffic(*platform, requests);
      std::vector<int> order = {0, 1, 2};
      std::sort(order.begin(), order.end(), [&](int a, int b) { return results[a].done_ns < results[b].done_ns; });
      return std::to_string(order[0]) + std::to_string(order[1]) + std::to_string(order[2]);
    } catch (const std::exception& e) {
      return e.what();
    }
  });
}

TEST(FiniteBuffers, take_an_allocation_of_ones_own) {
  EXPECT_EQ(order_of_ends("attrs: {buffer_flits: 32, vcs: 4, allocation: oldest_first}"), "210");
  EXPECT_EQ(order_of_ends("attrs: {buffer_flits: 32, vcs: 4, allocation: test_shortest}"), "210");
  EXPECT_NE(order_of_ends("attrs: {buffer_flits: 32, vcs: 4, allocation: longest}").find("round_robin"),
            std::string::npos);
}

/// The next flit of the message on the link is always the last one to arrive.
TEST(FiniteBuffers, ask_a_router_of_ones_own) {
  EXPECT_EQ(order_of_ends("impl: test.last_first, attrs: {buffer_flits: 32, vcs: 4}"), "021");
}

/// The proof of deadlock freedom covers only the routes.
TEST(FiniteBuffers, keep_an_own_router_on_the_routes_that_are_proven) {
  std::string yaml = square("test.other_way");
  yaml.replace(yaml.find("{id: hbm, kind: hbm_ctrl}"), 25, "{id: hbm, kind: hbm_ctrl, attrs: {buffer_flits: 8}}");
  const auto run = [](const std::string& text) {
    return in_child([&]() -> std::string {
      topology::Overrides o;
      o.links = topology::Links::flit;
      o.response = topology::Response::routed;
      try {
        const auto platform = platform_from_text(text, o);
        std::vector<TrafficRequest> requests;
        for (int i = 0; i < 2; ++i) requests.push_back(request(*platform, 10000 * i, "cpu", "write", 0, 1000));
        run_traffic(*platform, requests);
        return "done";
      } catch (const std::exception& e) {
        return e.what();
      }
    });
  };
  const std::string told = run(yaml);
  EXPECT_NE(told.find("way() leaves the route"), std::string::npos) << told;
  EXPECT_EQ(run("timing: {prove_deadlock_free: false}\n" + yaml), "done");
}

}  // namespace
}  // namespace kernbench::testing::own_routers_decide_ways_and_turns
