// SPDX-License-Identifier: Apache-2.0
// With finite buffers: does every flit of every message cross every link of its path, there and back, exactly once and
// in order?
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/systemc_models/fabric/link.h"
#include "kernbench/systemc_models/fabric/transaction.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

constexpr int kSide = 4;
constexpr uint64_t kWindow = 1 << 16;
constexpr uint32_t kFlit = 64, kRoom = 3, kChannels = 2;

std::string router(int n) {
  return "r" + std::to_string(n);
}

/// A mesh with a port and a memory at each router.
std::string mesh() {
  std::string nodes, links, memories;
  const auto link = [&](const std::string& a, const std::string& b) {
    links += "- {from: " + a + ", to: " + b + ", distance_mm: 1, bw_gbs: 64}\n";
  };
  const std::string buffers = "buffer_flits: " + std::to_string(kRoom) + ", vcs: " + std::to_string(kChannels);
  for (int n = 0; n < kSide * kSide; ++n) {
    const std::string i = std::to_string(n);
    nodes += "- {id: r" + i + ", kind: router, attrs: {overhead_ns: 1, " + buffers + "}}\n";
    nodes += "- {id: p" + i + ", kind: port}\n- {id: m" + i + ", kind: sram, attrs: {" + buffers + "}}\n";
    memories += "- {node: m" + i + ", space: sram, base: " + std::to_string(n * kWindow) + ", size: 65536}\n";
  }
  for (int n = 0; n < kSide * kSide; ++n) {
    if (n % kSide + 1 < kSide) link(router(n), router(n + 1));
  }
  for (int n = 0; n + kSide < kSide * kSide; ++n) link(router(n), router(n + kSide));
  for (int n = 0; n < kSide * kSide; ++n) {
    link("p" + std::to_string(n), router(n));
    link(router(n), "m" + std::to_string(n));
  }
  return "ns_per_mm: 1\ntiming: {links: flit, response: routed, flit_bytes: 64, header_bytes: 16}\nnodes:\n" + nodes +
         "links:\n" + links + "memories:\n" + memories;
}

/// Counts crossings by request (which has a unique address), direction and link.
class Counter : public FabricObserver {
 public:
  struct Crossed {
    uint32_t flits = 0;
    double bytes = 0;
  };
  void link_crossed(const FabricTransaction& x, const Link& link, const LinkCrossing& c) override {
    Crossed& crossed = crossed_[{x.address, c.response, link.edge}];
    EXPECT_EQ(c.flit, crossed.flits) << "out of order";
    ++crossed.flits;
    crossed.bytes += c.bytes;
  }
  const Crossed& of(uint64_t address, bool response, const Link& link) {
    ++asked_;
    return crossed_[{address, response, link.edge}];
  }
  bool nothing_else() const { return asked_ == crossed_.size(); }

 private:
  std::map<std::tuple<uint64_t, bool, uint32_t>, Crossed> crossed_;
  size_t asked_ = 0;
};

TEST(Flits, are_conserved_in_finite_buffers) {
  const auto platform = platform_from_text(mesh());
  Counter counter;
  watch_fabric(platform->machine(), counter, FabricParts::blocks_and_links);
  std::mt19937 draw(7);
  std::vector<TrafficRequest> requests;
  std::map<uint64_t, uint64_t> used;  // of each window
  for (int i = 0; i < 600; ++i) {
    const uint64_t memory = draw() % (kSide * kSide), flits = 1 + draw() % 12;
    const uint64_t address = memory * kWindow + kFlit * used[memory];
    used[memory] += flits;
    requests.push_back(request(*platform, draw() % 300, "p" + std::to_string(draw() % (kSide * kSide)),
                               draw() % 2 ? "read" : "write", address, flits * kFlit));
  }
  const auto results = run_traffic(*platform, requests);
  double slowest = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    const TrafficRequest& r = requests[i];
    slowest = std::max(slowest, (results[i].done_ns - results[i].grant_ns) / results[i].formula_ns);
    for (const Hop& hop : platform->routes().route(r.initiator, r.address, r.nbytes, r.write).hops) {
      for (const bool response : {false, true}) {
        const bool data = r.write != response;
        const auto& crossed = counter.of(r.address, response, response ? hop.in->link : hop.out->link);
        EXPECT_EQ(crossed.flits, data ? r.nbytes / kFlit : 1);
        EXPECT_EQ(crossed.bytes, data ? static_cast<double>(r.nbytes) : 16.0);
      }
    }
  }
  EXPECT_TRUE(counter.nothing_else()) << "flits off their way";
  EXPECT_GT(slowest, 3) << "nobody has been held up";
}

}  // namespace
}  // namespace kernbench::testing
