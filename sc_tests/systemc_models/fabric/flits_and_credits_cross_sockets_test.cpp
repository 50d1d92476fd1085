// SPDX-License-Identifier: Apache-2.0
// With finite buffers: do all flits and credits between two modules use their bound sockets? Taps between them count.
// The number of credits equals that of flits at a limited input, an input never holds more flits than its capacity, and
// nothing leaves the paths of the messages. A lost credit leaves its sender without buffer space.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/job.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/flit_queue.h"
#include "socket_taps.h"
#include "system_support.h"

namespace kernbench::testing::flits_and_credits_cross_sockets {
namespace {

constexpr uint64_t kWindow = 1 << 16;
constexpr uint32_t kFlit = 64;

/// Nodes, links and memories of 64 KiB each, at consecutive addresses from 0.
std::string system_of(const std::string& nodes, const std::string& links, const std::vector<std::string>& memories) {
  std::string all =
      "ns_per_mm: 1\ntiming: {links: flit, response: routed, flit_bytes: 64, header_bytes: 16}\nnodes:\n" + nodes +
      "links:\n" + links + "memories:\n";
  for (size_t i = 0; i < memories.size(); ++i)
    all += "- {node: " + memories[i] + ", space: sram, base: " + std::to_string(i * kWindow) + ", size: 65536}\n";
  return all;
}

std::string link(const std::string& a, const std::string& b, const std::string& more = "bw_gbs: 64") {
  return "- {from: " + a + ", to: " + b + ", distance_mm: 1, " + more + "}\n";
}

std::string mesh(int side, const std::string& buffers) {
  std::string nodes, links;
  std::vector<std::string> memories;
  for (int n = 0; n < side * side; ++n) {
    const std::string i = std::to_string(n);
    nodes += "- {id: r" + i + ", kind: router, attrs: {overhead_ns: 1, " + buffers + "}}\n";
    nodes += "- {id: p" + i + ", kind: port}\n- {id: m" + i + ", kind: sram, attrs: {" + buffers + "}}\n";
    memories.push_back("m" + i);
  }
  for (int n = 0; n < side * side; ++n) {
    if (n % side + 1 < side) links += link("r" + std::to_string(n), "r" + std::to_string(n + 1));
  }
  for (int n = 0; n < side * side; ++n) {
    const std::string i = std::to_string(n);
    if (n + side < side * side) links += link("r" + i, "r" + std::to_string(n + side));
    links += link("p" + i, "r" + i) + link("r" + i, "m" + i);
  }
  return system_of(nodes, links, memories);
}

/// p0, p1 - r0 - r1 - r2 - m0, m1: limited, unlimited, and a store that holds less than a message.
std::string chain() {
  return system_of(
      "- {id: p0, kind: port}\n- {id: p1, kind: port}\n"
      "- {id: r0, kind: router, attrs: {overhead_ns: 1, buffer_flits: 2}}\n"
      "- {id: r1, kind: router, attrs: {overhead_ns: 1, store_and_forward: true}}\n"
      "- {id: r2, kind: router, attrs: {buffer_flits: 3, vcs: 9, store_and_forward: true, allocation: oldest_first}}\n"
      "- {id: m0, kind: sram, attrs: {buffer_flits: 1}}\n- {id: m1, kind: sram}\n",
      link("p0", "r0") + link("p1", "r0") + link("r0", "r1") + link("r1", "r2") + link("r2", "m0") +
          link("r2", "m1", "bw_gbs: 8"),
      {"m0", "m1"});
}

class Watch {
 public:
  using Taps = SocketTaps<tlm::tlm_base_protocol_types, FabricPort>;
  explicit Watch(Platform& platform)
      : taps_("taps", [this](FabricPort& from, tlm::tlm_generic_payload& p, const tlm::tlm_phase& phase) {
          return see(from, p, phase);
        }) {
    for (uint32_t n = 0; n < platform.graph().nodes.size(); ++n) {
      if (FabricNode* node = platform.component(n).fabric_node())
        taps_.watch(node->initiator_socket(), node->target_socket());
    }
  }
  /// Flits that have arrived in a virtual channel, and credits that have returned.
  struct Channel {
    uint32_t room = 0;
    uint64_t flits = 0, credits = 0;
  };
  std::function<void()> at_each_flit = [] {};
  uint64_t lost_credit = 0;  ///< its number among all credits; 0: none
  uint64_t flits = 0, calls = 0, credits = 0, posted = 0;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Channel> channels;  ///< by edge, class and number

 private:
  bool see(FabricPort& from, tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
    const auto* x = payload.get_extension<FabricTransaction>();
    if (!x) return true;
    if (phase == CREDIT) {
      Channel& c = channels[{from.incoming()->edge, x->credit->message_class, x->credit->channel}];
      EXPECT_LT(c.credits, c.flits) << "more credits than flits";
      ++c.credits;
      return ++credits != lost_credit;
    }
    Channel& c = channels[{from.link.edge, class_of(*x->flit), x->flit->channel}];
    c.room = from.neighbour()->node().input_buffers().flits;
    c.flits += x->flits_together;
    flits += x->flits_together;
    ++calls;
    posted += x->message;
    at_each_flit();
    EXPECT_TRUE(c.room == 0 || c.flits - c.credits <= c.room) << "flits without room";
    return true;
  }
  Taps taps_;
};

std::vector<TrafficRequest> random_requests(Platform& platform, uint32_t ports, uint32_t memories, int count) {
  std::mt19937 draw(11);
  std::vector<TrafficRequest> requests;
  for (int i = 0; i < count; ++i) {
    const uint64_t nbytes = 1 + draw() % (draw() % 2 ? kFlit : 20 * kFlit), memory = draw() % memories;
    requests.push_back(request(platform, draw() % 300, "p" + std::to_string(draw() % ports),
                               draw() % 2 ? "read" : "write", memory * kWindow + draw() % (kWindow - nbytes), nbytes));
  }
  return requests;
}

/// Of requests and responses, over all links.
uint64_t flits_of(Platform& platform, const std::vector<TrafficRequest>& requests) {
  uint64_t flits = 0;
  for (const TrafficRequest& r : requests) {
    const uint64_t data = (r.address % kFlit + r.nbytes + kFlit - 1) / kFlit;
    flits += platform.routes().route(r.initiator, r.address, r.nbytes, r.write).hops.size() * (data + 1);
  }
  return flits;
}

/// Each flit that arrived at a limited input has returned its credit, and there are no other credits.
void check_credits(const Watch& seen) {
  uint64_t limited = 0;
  for (const auto& [at, c] : seen.channels) {
    EXPECT_EQ(c.credits, c.room > 0 ? c.flits : 0) << "edge " << std::get<0>(at);
    if (c.room > 0) limited += c.flits;
  }
  EXPECT_EQ(seen.credits, limited);
  EXPECT_GT(limited, 1000u);
}

/// Waiting messages can be queried at any time; no message waits at unlimited buffers.
void check_traffic(Platform& platform, uint32_t ports, uint32_t memories) {
  Watch seen(platform);
  uint64_t waits = 0;
  seen.at_each_flit = [&] {
    for (const std::string& line : platform.system().mode().waiting()) {
      EXPECT_EQ(line.find(" of 0 flits"), std::string::npos) << line;
      ++waits;
    }
  };
  const auto requests = random_requests(platform, ports, memories, 300);
  run_traffic(platform, requests);
  EXPECT_EQ(seen.flits, flits_of(platform, requests));
  EXPECT_GT(waits, 1000u);
  check_credits(seen);
}

TEST(FlitsAndCredits, cross_the_sockets_of_a_mesh) {
  const auto platform = platform_from_text(mesh(3, "buffer_flits: 3, vcs: 2"));
  check_traffic(*platform, 9, 9);
}

TEST(FlitsAndCredits, cross_the_sockets_of_limited_beside_unlimited_nodes) {
  const auto platform = platform_from_text(chain());
  check_traffic(*platform, 2, 2);
}

/// Each edge of the tree carries each flit once, and one combined acknowledgement back, or one for each destination.
TEST(FlitsAndCredits, of_multicasts_cross_each_edge_of_the_tree_once) {
  const auto platform = platform_from_text(mesh(3, "buffer_flits: 4, vcs: 2"));
  Watch seen(*platform);
  std::mt19937 draw(12);
  std::vector<TrafficRequest> requests;
  std::map<uint32_t, uint64_t> there;
  uint64_t back = 0;
  for (int i = 0; i < 200; ++i) {
    const uint64_t flits = 1 + draw() % 4;
    TrafficRequest r = request(*platform, draw() % 300, "p" + std::to_string(draw() % 9), "write", 0, flits * kFlit);
    fabric::MulticastTo to;
    to.combined = draw() % 2 == 0;
    std::map<uint32_t, uint64_t> tree;
    for (uint64_t m = draw() % 3; m < 9; m += 1 + draw() % 4) {
      to.addresses.push_back(m * kWindow + draw() % 100 * kFlit);
      for (const Hop& h : platform->routes().route(r.initiator, to.addresses.back(), 1, true).hops)
        ++tree[h.out->link.edge];
    }
    for (const auto& [edge, destinations] : tree) {
      there[edge] += flits;
      back += to.combined ? 1 : destinations;
    }
    r.address = to.addresses.front();
    r.multicast = Destinations(to);
    requests.push_back(std::move(r));
  }
  run_traffic(*platform, requests);
  std::map<uint32_t, uint64_t> requested;
  uint64_t answered = 0;
  for (const auto& [at, c] : seen.channels) {
    const auto& [edge, message_class, number] = at;
    message_class == kRequests ? requested[edge] += c.flits : answered += c.flits;
  }
  EXPECT_EQ(requested, there);
  EXPECT_EQ(answered, back);
  check_credits(seen);
}

/// Segments between PEs and the credits of their queues, which have no responses.
TEST(FlitsAndCredits, of_a_collective_cross_sockets) {
  std::string yaml = read_file(topology_path("small.yaml"));
  for (const auto& [from, to] : {std::pair("links: ideal", "links: flit"), {"response: ideal", "response: routed"}})
    yaml.replace(yaml.find(from), std::string(from).size(), to);
  topology::Overrides buffers;
  buffers.settings = {{"*.buffer_flits", 4}, {"*.vcs", 4}};
  const auto platform = platform_from_text(yaml, buffers);
  Watch seen(*platform);
  JobOptions o;
  o.kernel = "all_reduce";
  Job job(*platform, o);
  job.place_random("x", 1);
  job.start();
  sc_core::sc_start();
  ASSERT_FALSE(job.running());
  EXPECT_TRUE(job.result().response.ok()) << job.result().response.text;
  EXPECT_GT(seen.posted, 0u);
  check_credits(seen);
}

TEST(FlitsAndCredits, that_are_lost_leave_the_sender_without_room) {
  const auto platform = platform_from_text(mesh(2, "buffer_flits: 1"));
  Watch seen(*platform);
  seen.lost_credit = 3;
  try {
    run_traffic(*platform, {request(*platform, 0, "p0", "write", 3 * kWindow, 8 * kFlit)});
    FAIL() << "all done, though a credit is lost";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("waits for room: channel 0 of requests has 1 of 1 flits"), std::string::npos)
        << e.what();
  }
}

/// The write to the slow memory is still completely at r0 when the other one arrives on the same channel number and
/// continues.
TEST(FlitsAndCredits, of_a_number_that_is_free_again_wait_for_nobody_without_a_limit) {
  const auto platform = platform_from_text(
      system_of("- {id: p0, kind: port}\n- {id: r0, kind: router}\n- {id: slow, kind: sram}\n"
                "- {id: m, kind: sram, attrs: {buffer_flits: 8}}\n",
                link("p0", "r0") + link("r0", "slow", "bw_gbs: 1") + link("r0", "m"), {"slow", "m"}));
  Watch seen(*platform);
  const auto results = run_traffic(*platform, {request(*platform, 0, "p0", "write", 0, 4 * kFlit),
                                               request(*platform, 5, "p0", "write", kWindow, 4 * kFlit)});
  EXPECT_EQ(seen.flits, 2u * 2 * (4 + 1));
  EXPECT_GT(results[0].done_ns, 5 * kFlit) << "each flit takes the slow link for 64 ns, and its memory";
  EXPECT_DOUBLE_EQ(results[1].done_ns - results[1].grant_ns, results[1].formula_ns);
  const uint32_t into_r0 =
      platform->routes().route(platform->graph().index_of.at("p0"), 0, 1, true).hops[0].out->link.edge;
  EXPECT_EQ(seen.channels.count({into_r0, kRequests, 0}), 1u);
  EXPECT_EQ(seen.channels.count({into_r0, kRequests, 1}), 0u) << "the first number was free again";
}

/// Without limits: a message's flits are one call if no other flits can come between them. Behind a place where they
/// wait for arbitration, or where the complete message is stored, they are separate calls.
TEST(FlitsAndCredits, that_go_together_are_each_counted) {
  const auto platform = platform_from_text(
      system_of("- {id: p0, kind: port}\n- {id: p1, kind: port}\n- {id: r0, kind: router, attrs: {overhead_ns: 3}}\n"
                "- {id: r1, kind: router}\n- {id: r2, kind: router, attrs: {store_and_forward: true}}\n"
                "- {id: m0, kind: sram}\n- {id: m1, kind: sram, attrs: {overhead_ns: 2}}\n",
                link("p0", "r0", "bw_gbs: 17") + link("r0", "r1") + link("p1", "r1", "bw_gbs: 200") + link("r1", "r2") +
                    link("r2", "m0", "bw_gbs: 5") + link("r1", "m1"),
                {"m0", "m1"}));
  Watch seen(*platform);
  const std::vector<TrafficRequest> requests = random_requests(*platform, 2, 2, 200);
  run_traffic(*platform, requests);
  EXPECT_EQ(seen.flits, flits_of(*platform, requests));
  EXPECT_LT(seen.calls, seen.flits) << "none went together";
  EXPECT_GT(seen.calls, seen.flits / 4) << "none waited for its turn";
}

}  // namespace
}  // namespace kernbench::testing::flits_and_credits_cross_sockets
