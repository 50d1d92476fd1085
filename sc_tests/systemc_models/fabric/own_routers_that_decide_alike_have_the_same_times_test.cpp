// SPDX-License-Identifier: Apache-2.0
// Are the times bit-identical if every router is a user-defined class with the built-in decisions? Early reservation is
// then disabled: every message waits for arbitration before every link.
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "random_traffic.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

class AlikeRouter : public Router {
 public:
  using Router::Router;
  static ImplSpec spec() {
    return spec_of<Parameters>("test.alike_router", "router", "a router that overrides nothing");
  }
};
KERNBENCH_REGISTER_COMPONENT(AlikeRouter)

/// Times of random requests on a random system, as bits, because they must be bit-identical.
std::string times(uint64_t seed, const RandomOptions& options, bool flits, bool own_routers) {
  return in_child([&]() -> std::string {
    std::mt19937_64 random(seed);
    FlatSystem system = random_system(random, options);
    const std::vector<FlatRequest> requested = random_requests(random, system, options, 200);
    for (FlatNode& n : system.nodes) {
      const bool router =
          n.kind != "hbm_ctrl" && n.kind != "sram" && n.kind != "pe_dma" && n.kind != "m_cpu" && n.kind != "pcie_ep";
      if (!own_routers || !router) continue;
      n.kind = "router";
      n.impl = "test.alike_router";
    }
    topology::Overrides overrides;
    if (flits) overrides.links = topology::Links::flit;
    const std::unique_ptr<Platform> platform = platform_from_text(system.yaml(), overrides);
    std::vector<TrafficRequest> requests;
    for (const FlatRequest& q : requested) {
      TrafficRequest r = request(*platform, q.issue_ns, system.nodes[static_cast<size_t>(q.initiator)].id,
                                 q.write ? "write" : "read", q.address, q.bytes);
      try {
        platform->routes().route(r.initiator, r.address, r.nbytes, r.write);
      } catch (const AccessError&) {
        continue;  // no path
      }
      requests.push_back(std::move(r));
    }
    std::ostringstream text;
    std::vector<TrafficAccount> accounts;
    const std::vector<TrafficResult> results = run_traffic(*platform, requests, &accounts);
    for (size_t i = 0; i < results.size(); ++i) {
      const TrafficAccount& a = accounts[i];
      for (double t : {results[i].grant_ns, results[i].done_ns, a.overhead_ns, a.wire_ns, a.drain_ns,
                       a.store_forward_ns, a.link_queue_ns, a.memory_queue_ns}) {
        uint64_t bits;
        std::memcpy(&bits, &t, sizeof bits);
        text << std::hex << bits << " ";
      }
      text << "\n";
    }
    return text.str();
  });
}

TEST(OwnRouters, that_decide_alike_have_the_same_times_to_the_last_bit) {
  size_t compared = 0;
  for (uint64_t seed = 1; seed <= 160; ++seed) {
    RandomOptions options;
    options.cut_through = seed % 2;
    options.routed = seed / 2 % 2;
    options.ties = seed / 4 % 2;
    const bool flits = seed > 120;
    const std::string ours = times(seed, options, flits, false);
    ASSERT_EQ(ours, times(seed, options, flits, true)) << "seed " << seed;
    compared += ours.size();
  }
  EXPECT_GT(compared, 1000000u);
}

}  // namespace
}  // namespace kernbench::testing
