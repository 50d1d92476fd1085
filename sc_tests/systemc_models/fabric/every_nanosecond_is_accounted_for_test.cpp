// SPDX-License-Identifier: Apache-2.0
// Do the parts of a transaction's latency breakdown sum to its latency, and does an isolated transaction have the
// latency of the formula?
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "random_traffic.h"
#include "system_support.h"

namespace kernbench::testing::every_nanosecond_is_accounted_for {
namespace {

constexpr double kExact = 1e-6;

double sum_of(const TrafficAccount& a) {
  return a.grant_wait_ns + a.overhead_ns + a.wire_ns + a.drain_ns + a.store_forward_ns + a.link_queue_ns +
         a.memory_queue_ns;
}

/// Runs all requests on the system. Returns a fault: a breakdown that does not sum, or a negative part.
std::string check_accounts(Platform& platform, const std::vector<TrafficRequest>& requests) {
  std::vector<TrafficAccount> accounts;
  const std::vector<TrafficResult> results = run_traffic(platform, requests, &accounts);
  std::ostringstream wrong;
  for (size_t i = 0; i < results.size(); ++i) {
    const TrafficAccount& a = accounts[i];
    const double latency = results[i].done_ns - requests[i].issue_ns;
    if (std::abs(sum_of(a) - latency) > kExact)
      wrong << "request " << i << ": parts sum to " << sum_of(a) << ", latency " << latency << "\n";
    if (latency < results[i].formula_ns - kExact) wrong << "request " << i << ": faster than alone\n";
    for (double part : {a.grant_wait_ns, a.overhead_ns, a.wire_ns, a.drain_ns, a.store_forward_ns, a.link_queue_ns,
                        a.memory_queue_ns})
      if (part < -kExact) wrong << "request " << i << ": a part is " << part << "\n";
  }
  return wrong.str();
}

TEST(Account, sums_to_the_latency_on_random_systems_in_every_mode) {
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    const RandomOptions options{(seed & 1) != 0, (seed & 2) != 0, (seed & 4) != 0};
    std::mt19937_64 random(seed);
    const FlatSystem system = random_system(random, options);
    const std::vector<FlatRequest> all = random_requests(random, system, options, 60);
    EXPECT_EQ(in_child([&] {
                const auto platform = platform_from_text(system.yaml());
                std::vector<TrafficRequest> requests;
                for (const FlatRequest& q : all) {
                  requests.push_back(request(*platform, q.issue_ns, system.nodes[static_cast<size_t>(q.initiator)].id,
                                             q.write ? "write" : "read", q.address, q.bytes));
                  try {
                    platform->routes().route(requests.back().initiator, q.address, q.bytes, q.write);
                  } catch (const AccessError&) {
                    requests.pop_back();  // no path there, or none back
                  }
                }
                return check_accounts(*platform, requests);
              }),
              "")
        << "seed " << seed;
  }
}

class LoneTransactions : public ::testing::TestWithParam<const char*> {};

/// Every initiator to every memory of a system, one at a time, without overlap.
TEST_P(LoneTransactions, take_the_formulas_time_between_every_pair) {
  for (const char* mode : {"ideal ideal", "ideal routed", "cut_through ideal", "cut_through routed", "flit routed"}) {
    const std::string difference = in_child([&]() -> std::string {
      topology::Overrides overrides;
      const std::string text = mode;
      overrides.links = text[0] == 'i'   ? topology::Links::ideal
                        : text[0] == 'f' ? topology::Links::flit
                                         : topology::Links::cut_through;
      overrides.response = text.back() == 'd' ? topology::Response::routed : topology::Response::ideal;
      const auto platform = platform_from_file(topology_path(GetParam()), overrides);
      std::vector<TrafficRequest> requests;
      double at = 0;
      for (uint32_t n = 0; n < platform->graph().nodes.size(); ++n) {
        if (!platform->request_port(n)) continue;
        for (const topology::Memory& m : platform->graph().memories) {
          if (m.space == "tcm") continue;
          for (bool write : {false, true}) {
            const uint64_t bytes = 1 + (requests.size() * 977) % 9000;
            requests.push_back({"", at, n, write, m.base + (requests.size() * 129) % 5000, bytes});
            at += 5000;
          }
        }
      }
      if (requests.size() < 10) return "too few pairs to show anything";
      std::vector<TrafficAccount> accounts;
      const std::vector<TrafficResult> results = run_traffic(*platform, requests, &accounts);
      for (size_t i = 0; i < results.size(); ++i) {
        const double latency = results[i].done_ns - requests[i].issue_ns;
        if (std::abs(latency - results[i].formula_ns) > kExact || std::abs(sum_of(accounts[i]) - latency) > kExact ||
            results[i].formula_ns <= 0)
          return "pair " + std::to_string(i) + ": latency " + std::to_string(latency) + ", formula " +
                 std::to_string(results[i].formula_ns) + ", account " + std::to_string(sum_of(accounts[i]));
      }
      return "";
    });
    EXPECT_EQ(difference, "") << mode;
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, LoneTransactions,
                         ::testing::Values("small.yaml", "latency_model.yaml", "one_cube.yaml"),
                         [](const auto& parameter) {
                           const std::string file = parameter.param;
                           return file.substr(0, file.find('.'));
                         });

}  // namespace
}  // namespace kernbench::testing::every_nanosecond_is_accounted_for
