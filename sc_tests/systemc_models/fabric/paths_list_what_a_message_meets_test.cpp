// SPDX-License-Identifier: Apache-2.0
// The path of a route lists each node and link of a request and its response in travel order, with their costs. Its sum
// is therefore the zero-load latency without the memory's service, in every link mode.
#include <gtest/gtest.h>

#include <vector>

#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/path.h"
#include "system_support.h"

namespace kernbench::testing::paths_list_what_a_message_meets {
namespace {

/// c.pe0.pe_dma(1) - a(2) - b(4, stores and forwards) - h(8): overheads in brackets, ns. The edges differ in bandwidth
/// and length.
std::unique_ptr<Platform> chain(const std::string& timing) {
  return platform_from_text("ns_per_mm: 0.01\ntiming: {" + timing + R"(}
nodes:
- {id: c.pe0.pe_dma, kind: pe_dma, attrs: {overhead_ns: 1}}
- {id: a, kind: router, attrs: {overhead_ns: 2}}
- {id: b, kind: router, attrs: {overhead_ns: 4, store_and_forward: true}}
- {id: h, kind: hbm_ctrl, attrs: {overhead_ns: 8}}
links:
- {from: c.pe0.pe_dma, to: a, distance_mm: 100, bw_gbs: 64}
- {from: a, to: b, distance_mm: 200, bw_gbs: 32}
- {from: b, to: h, distance_mm: 400, bw_gbs: 128}
memories: [{node: h, space: hbm, base: 0, size: 1048576}]
)");
}

struct Met {
  std::string node;
  double wire_ns, overhead_ns, stored_ns;
  uint32_t number;
  bool operator==(const Met& o) const {
    return node == o.node && wire_ns == o.wire_ns && overhead_ns == o.overhead_ns && stored_ns == o.stored_ns &&
           number == o.number;
  }
};
std::ostream& operator<<(std::ostream& out, const Met& m) {
  return out << m.number << ": " << m.node << ' ' << m.wire_ns << ' ' << m.overhead_ns << ' ' << m.stored_ns;
}

std::vector<Met> met(const Route& route, bool write, bool response) {
  std::vector<Met> all;
  for (const PathHop& hop : route.path(response)) {
    const NodeCost cost = hop.cost({write, response, 0, 1024});
    all.push_back({hop.node().owner().id(), hop.link->wire_ns, cost.overhead_ns, cost.store_forward_ns, hop.number});
  }
  return all;
}

TEST(paths, list_nodes_and_links_in_the_order_in_which_a_message_meets_them) {
  const auto platform = chain("links: cut_through, response: routed");
  const uint32_t dma = platform->graph().index_of.at("c.pe0.pe_dma");
  const Route& route = platform->routes().route(dma, 0, 1024, false);
  // A request leaves a node over the link. Only data wait at b, for the rest that the previous link delivers.
  EXPECT_EQ(met(route, true, false),
            (std::vector<Met>{{"c.pe0.pe_dma", 1, 1, 0, 0}, {"a", 2, 2, 0, 1}, {"b", 4, 4, 1024 / 32.0, 2}}));
  EXPECT_EQ(met(route, false, false),
            (std::vector<Met>{{"c.pe0.pe_dma", 1, 1, 0, 0}, {"a", 2, 2, 0, 1}, {"b", 4, 4, 0, 2}}));
  // A response reaches a node over the link.
  EXPECT_EQ(met(route, false, true),
            (std::vector<Met>{{"b", 4, 4, 1024 / 128.0, 2}, {"a", 2, 2, 0, 1}, {"c.pe0.pe_dma", 1, 1, 0, 0}}));
  EXPECT_EQ(route.read_bw, 32);
  EXPECT_EQ(route.read_inner_bw, 32);
  EXPECT_EQ(route.write_bw, 32);
}

TEST(paths, sum_to_the_zero_load_latency_but_for_the_service) {
  for (const char* timing : {"links: ideal, response: routed", "links: cut_through, response: routed",
                             "links: flit, flit_bytes: 1024, response: routed, header_bytes: 0"}) {
    const auto difference = in_child([&]() -> std::string {
      const auto platform = chain(timing);
      const Route& route = platform->routes().route(platform->graph().index_of.at("c.pe0.pe_dma"), 0, 1024, false);
      const Rows rows{1, 1024, 0};
      double sum = 0;
      for (const bool response : {false, true}) {
        for (const PathHop& hop : route.path(response))
          sum += hop.cost({false, response, 0, 1024}).overhead_ns + hop.link->wire_ns;
      }
      const LinkMode& mode = platform->system().mode();
      const ZeroLoad zero = mode.work_out(route, false, 0, 1024, rows);
      std::vector<ZeroLoadHop> hops;
      mode.work_out(route, false, 0, 1024, rows, &hops);
      double of_hops = 0, wires = 0;
      for (const ZeroLoadHop& h : hops) {
        of_hops += h.overhead_ns;
        wires += h.link ? h.link->wire_ns : 0;
      }
      if (hops.size() != 7) return "hops " + std::to_string(hops.size());
      if (std::abs(of_hops + wires - sum - 8) > 1e-9) return "sum " + std::to_string(of_hops + wires - sum);
      if (std::abs(hops.back().leave_ns() - zero.latency_ns) > 1e-9) return "end " + std::to_string(zero.latency_ns);
      return zero.latency_ns > sum ? "" : "no service";
    });
    EXPECT_EQ(difference, "") << timing;
  }
}

}  // namespace
}  // namespace kernbench::testing::paths_list_what_a_message_meets
