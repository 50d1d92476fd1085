// SPDX-License-Identifier: Apache-2.0
// Do random requests on random systems have the times of an independent implementation of the contract?
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "naive_traffic_model.h"
#include "system_support.h"

namespace kernbench::testing::traffic_agrees_with_a_naive_model {
namespace {

constexpr double kToleranceNs = 2e-6;

/// Coverage of a sweep, so that it cannot pass by comparing nothing.
struct Coverage {
  size_t requests = 0, queued = 0;
};

/// One random system in a separate process; text if anything differs.
std::string compare(uint64_t seed, const RandomOptions& options, Coverage& coverage) {
  std::mt19937_64 random(seed);
  const FlatSystem system = random_system(random, options);
  const NaiveTrafficModel naive(system);
  std::vector<FlatRequest> possible;
  for (const FlatRequest& q : random_requests(random, system, options, 60))
    if (naive.possible(q)) possible.push_back(q);
  if (possible.empty()) return "";
  const std::vector<NaiveResult> expected = naive.run(possible);
  coverage.requests += possible.size();
  for (size_t i = 0; i < expected.size(); ++i)
    coverage.queued += expected[i].done_ns - possible[i].issue_ns > expected[i].formula_ns + 0.01;

  return in_child([&]() -> std::string {
    const std::unique_ptr<Platform> platform = platform_from_text(system.yaml());
    std::vector<TrafficRequest> requests;
    for (const FlatRequest& q : possible) {
      requests.push_back(request(*platform, q.issue_ns, system.nodes[static_cast<size_t>(q.initiator)].id,
                                 q.write ? "write" : "read", q.address, q.bytes));
    }
    const std::vector<TrafficResult> found = run_traffic(*platform, requests);
    for (size_t i = 0; i < found.size(); ++i) {
      const double differences[] = {expected[i].grant_ns - found[i].grant_ns, expected[i].done_ns - found[i].done_ns,
                                    expected[i].formula_ns - found[i].formula_ns};
      for (double d : differences) {
        if (std::abs(d) <= kToleranceNs) continue;
        std::ostringstream text;
        text.precision(12);
        text << "seed " << seed << ": request " << i << " of " << found.size() << ": expected grant "
             << expected[i].grant_ns << ", done " << expected[i].done_ns << ", formula " << expected[i].formula_ns
             << "; found " << found[i].grant_ns << ", " << found[i].done_ns << ", " << found[i].formula_ns << "\n";
        if (std::getenv("KERNBENCH_SHOW")) {
          text << system.yaml() << "id,issue_ns,initiator,op,address,bytes\n";
          for (size_t q = 0; q < possible.size(); ++q)
            text << q << "," << possible[q].issue_ns << ","
                 << system.nodes[static_cast<size_t>(possible[q].initiator)].id
                 << (possible[q].write ? ",write," : ",read,") << possible[q].address << "," << possible[q].bytes
                 << "\n";
        }
        return text.str();
      }
    }
    return "";
  });
}

struct Mode {
  const char* name;
  RandomOptions options;
};

class RandomTraffic : public ::testing::TestWithParam<Mode> {};

TEST_P(RandomTraffic, takes_the_time_that_the_naive_model_says) {
  // KERNBENCH_SEED repeats one case (KERNBENCH_SHOW prints it), KERNBENCH_CASES widens the sweep.
  const char* one = std::getenv("KERNBENCH_SEED");
  const char* cases = std::getenv("KERNBENCH_CASES");
  const uint64_t first = one ? std::strtoull(one, nullptr, 10) : 1;
  const uint64_t count = one ? 1 : cases ? std::strtoull(cases, nullptr, 10) : 150;
  int different = 0;
  Coverage coverage;
  for (uint64_t seed = first; seed < first + count && different < 5; ++seed) {
    const std::string difference = compare(seed, GetParam().options, coverage);
    EXPECT_EQ(difference, "");
    different += !difference.empty();
  }
  EXPECT_GT(coverage.requests, 40 * count);
  EXPECT_GT(coverage.queued, 20 * count);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, RandomTraffic,
    ::testing::Values(Mode{"ideal", {false, false, false}}, Mode{"ideal_routed", {false, true, false}},
                      Mode{"cut_through", {true, false, false}}, Mode{"cut_through_routed", {true, true, false}},
                      Mode{"ideal_ties", {false, false, true}}, Mode{"ideal_routed_ties", {false, true, true}},
                      Mode{"cut_through_ties", {true, false, true}},
                      Mode{"cut_through_routed_ties", {true, true, true}}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace kernbench::testing::traffic_agrees_with_a_naive_model
