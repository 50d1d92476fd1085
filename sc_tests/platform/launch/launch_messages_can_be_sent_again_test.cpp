// SPDX-License-Identifier: Apache-2.0
// Can a user program use the host's port for several launches in one simulation, with errors as responses?
#include <gtest/gtest.h>

#include "kernbench/platform/launch/host_transfer.h"
#include "kernbench/platform/launch/launch.h"
#include "kernbench/platform/launch/launch_host.h"
#include "launch_toy_system.h"
#include "system_support.h"

namespace kernbench::testing::launch_messages_can_be_sent_again {
namespace {

KernelLaunch noop_on(std::vector<size_t> pes) {
  KernelLaunch m;
  m.pes = std::move(pes);
  m.kernel = [](size_t) { return [](PeBackend&) {}; };
  return m;
}

TEST(Launcher, launches_again_when_the_response_is_back) {
  auto platform = platform_from_text(toy_system());
  LaunchHost& host = platform->hosts().launch_host();
  Launcher launcher(host);
  const LaunchWay way = host_launch_way(host, {0, 1});
  std::vector<LaunchResult> results;
  std::vector<uint64_t> ids;
  const Launcher::Done again = [&](const LaunchResult& r) {
    results.push_back(r);
    if (results.size() < 3) ids.push_back(launcher.launch(noop_on({0, 1}), way, again));
  };
  ids.push_back(launcher.launch(noop_on({0, 1}), way, again));
  sc_core::sc_start();
  ASSERT_EQ(results.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(results[i].response.ok());
    EXPECT_EQ(results[i].response.ids.correlation, ids[i]);
    EXPECT_NEAR(results[i].start_ns, (2 * static_cast<double>(i) + 1) * toy::kFar, 1e-9);
    EXPECT_NEAR(results[i].response.done_ns, (2 * static_cast<double>(i) + 2) * toy::kFar, 1e-9);
    ASSERT_EQ(results[i].outcomes.size(), 2u);
    EXPECT_EQ(results[i].outcomes[0].start_ns, results[i].outcomes[1].start_ns);
  }
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[1], ids[2]);
}

TEST(Launcher, serves_two_launches_at_once_each_with_a_stamp_of_its_own) {
  auto platform = platform_from_text(toy_system());
  LaunchHost& host = platform->hosts().launch_host();
  Launcher launcher(host);
  std::vector<LaunchResult> results;
  for (size_t pe : {0, 1}) {
    launcher.launch(noop_on({pe}), host_launch_way(host, {pe}), [&](const LaunchResult& r) { results.push_back(r); });
  }
  sc_core::sc_start();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_NEAR(results[0].start_ns, toy::kNear, 1e-9);
  EXPECT_NEAR(results[0].response.done_ns, 2 * toy::kNear, 1e-9);
  EXPECT_NEAR(results[1].start_ns, toy::kFar, 1e-9);
  EXPECT_NEAR(results[1].response.done_ns, 2 * toy::kFar, 1e-9);
}

TEST(Launcher, answers_pe_busy_where_a_launch_meets_another_kernel) {
  auto platform = platform_from_text(toy_system());
  LaunchHost& host = platform->hosts().launch_host();
  Launcher launcher(host);
  std::vector<LaunchResult> results;
  // Both reach pe0 at 36.9; its kernel waits there for the start time 39.7.
  const auto done = [&](const LaunchResult& r) { results.push_back(r); };
  launcher.launch(noop_on({0, 1}), host_launch_way(host, {0, 1}), done);
  launcher.launch(noop_on({0}), host_launch_way(host, {0}), done);
  sc_core::sc_start();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].response.code, HostError::pe_busy);
  EXPECT_NE(results[0].response.text.find("sip0.cube0.pe0"), std::string::npos) << results[0].response.text;
  EXPECT_NEAR(results[0].response.done_ns, 2 * toy::kNear, 1e-9);
  EXPECT_TRUE(results[1].response.ok());
  EXPECT_NEAR(results[1].response.done_ns, 2 * toy::kFar, 1e-9);
}

TEST(Launcher, answers_a_kernel_fault_with_code_and_text_as_soon_as_it_is_back) {
  auto platform = platform_from_text(toy_system());
  LaunchHost& host = platform->hosts().launch_host();
  Launcher launcher(host);
  KernelLaunch m = noop_on({0, 1});
  m.kernel = [](size_t place) -> KernelBody {
    return [place](PeBackend&) {
      if (place == 0) throw std::runtime_error("made to fail");
    };
  };
  size_t calls = 0;
  LaunchResult result;
  launcher.launch(m, host_launch_way(host, {0, 1}), [&](const LaunchResult& r) {
    result = r;
    ++calls;
  });
  sc_core::sc_start();
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(result.response.code, HostError::kernel_fault);
  EXPECT_EQ(result.response.text, "sip0.cube0.pe0: made to fail");
  EXPECT_NEAR(result.response.done_ns, toy::kFar + toy::kNear, 1e-9) << "pe1's completion is not waited for";
}

TEST(HostTransfer, answers_an_address_without_memory_with_an_error_and_sends_nothing) {
  auto platform = platform_from_text(toy_system());
  HostTransfer transfer(platform->hosts().launch_host());
  std::vector<HostResponse> responses;
  const auto done = [&](const HostResponse& r) { responses.push_back(r); };
  transfer.write({{{7, 1}, 0, 256}, {{7, 2}, uint64_t{1} << 40, 256}}, done);
  transfer.read({{{8, 1}, 16777216 - 256, 512}}, done);
  transfer.read({}, done);
  sc_core::sc_start();
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_EQ(responses[0].code, HostError::bad_address);
  EXPECT_EQ(responses[0].ids.correlation, 7u);
  EXPECT_EQ(responses[0].ids.request, 2u);
  EXPECT_NE(responses[0].text.find("0x10000000000"), std::string::npos) << responses[0].text;
  EXPECT_EQ(responses[1].code, HostError::bad_address) << responses[1].text;
  EXPECT_TRUE(responses[2].ok());
  for (const HostResponse& r : responses) EXPECT_EQ(r.done_ns, 0);
}

}  // namespace
}  // namespace kernbench::testing::launch_messages_can_be_sent_again
