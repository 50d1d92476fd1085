// Is a transaction that goes its way without walking sockets done at the very instant of one that walks them?
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "random_traffic.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

/// Times of random requests on a random system, by sockets or not; as bits, for they must be equal to the last.
std::string times(uint64_t seed, const RandomOptions& options, bool flits, bool by_sockets) {
  return in_child([&]() -> std::string {
    std::mt19937_64 random(seed);
    const FlatSystem system = random_system(random, options);
    topology::Overrides overrides;
    if (flits) overrides.links = topology::Links::flit;
    const std::unique_ptr<Platform> platform = platform_from_text(system.yaml(), overrides);
    if (by_sockets) platform->walk_sockets();
    std::vector<TrafficRequest> requests;
    for (const FlatRequest& q : random_requests(random, system, options, 200)) {
      TrafficRequest r = request(*platform, q.issue_ns, system.nodes[static_cast<size_t>(q.initiator)].id,
                                 q.write ? "write" : "read", q.address, q.bytes);
      try {
        platform->route(r.initiator, r.address, r.nbytes, r.write);
      } catch (const AccessError&) {
        continue;  // no way there
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

TEST(DirectWays, equal_the_walk_through_sockets_to_the_last_bit) {
  size_t compared = 0;
  for (uint64_t seed = 1; seed <= 160; ++seed) {
    RandomOptions options;
    options.cut_through = seed % 2;
    options.routed = seed / 2 % 2;
    options.ties = seed / 4 % 2;
    const bool flits = seed > 120;
    const std::string direct = times(seed, options, flits, false);
    ASSERT_EQ(direct, times(seed, options, flits, true)) << "seed " << seed;
    compared += direct.size();
  }
  EXPECT_GT(compared, 100000u);  // most systems let requests through
}

}  // namespace
}  // namespace kernbench::testing
