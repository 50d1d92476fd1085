// SPDX-License-Identifier: Apache-2.0
// A platform of about 19,000 SystemC objects beside a 1 ns clock: slices, pauses, a stop, several consecutive runs,
// destruction while idle and during a run. Under AddressSanitizer nothing may leak or be used after its end.
#include <gtest/gtest.h>

#include "clock.h"
#include "kernbench/platform/job.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

size_t objects_below(const std::vector<sc_core::sc_object*>& objects) {
  size_t n = objects.size();
  for (const sc_core::sc_object* o : objects) n += objects_below(o->get_child_objects());
  return n;
}

std::unique_ptr<Platform> large(const char* name = "system") {
  auto platform = std::make_unique<Platform>(name, topology_path("default.yaml"));
  EXPECT_GT(objects_below(sc_core::sc_get_top_level_objects()), 19'000u);
  return platform;
}

RunOptions vector_add() {
  RunOptions o;
  o.kernel = "vector_add";
  o.verify = true;
  return o;
}

std::unique_ptr<Job> job_on(Platform& platform) {
  JobOptions o;
  o.kernel = "vector_add";
  auto job = std::make_unique<Job>(platform, o);
  job->place_random("a", 1);
  job->place_random("b", 2);
  return job;
}

void slice(double ns) {
  sc_core::sc_start(sc_core::sc_time(ns, sc_core::SC_NS));
}

TEST(LargePlatforms, run_in_a_row_beside_a_clock) {
  auto platform = large();
  Clock clock("clocked");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(run_kernel(*platform, vector_add()).passed);
    slice(10);
  }
  EXPECT_GT(clock.edges, 500u);
  platform.reset();  // while idle; the clock continues
  const uint64_t edges = clock.edges;
  slice(10);
  EXPECT_EQ(clock.edges, edges + 10);
}

TEST(LargePlatforms, go_on_after_pauses_and_slices) {
  auto platform = large();
  Clock clock("clocked");
  const auto job = job_on(*platform);
  job->start();
  int slices = 0;
  while (job->running()) {
    slice(17);
    if (++slices == 5) sc_core::sc_pause();
  }
  EXPECT_GT(slices, 8);
  EXPECT_TRUE(job->result().response.ok()) << job->result().response.text;
}

TEST(LargePlatforms, can_be_destroyed_in_mid_run) {
  auto platform = large();
  Clock clock("clocked");
  auto job = job_on(*platform);
  job->start();
  slice(100);
  EXPECT_TRUE(job->running());
  job.reset();
  platform.reset();
  slice(50);
  EXPECT_GE(clock.edges, 149u);
}

TEST(LargePlatforms, can_be_stopped_in_mid_run) {
  auto platform = large();
  Clock clock("clocked");
  const auto job = job_on(*platform);
  job->start();
  slice(100);
  sc_core::sc_stop();
  EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_STOPPED);
  EXPECT_TRUE(job->running());
}

TEST(LargePlatforms, can_be_destroyed_before_they_run) {
  { const auto never_run = large("never_run"); }
  const auto platform = large();
  EXPECT_TRUE(run_kernel(*platform, vector_add()).passed);
}

}  // namespace
}  // namespace kernbench::testing
