// SPDX-License-Identifier: Apache-2.0
// Statistics against a run's own report, against the links' own counters, and against themselves in slices.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/job.h"
#include "kernbench/platform/observe/statistics.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing {
namespace {

std::unique_ptr<Platform> small(topology::Links links) {
  topology::Overrides o;
  o.links = links;
  o.response = topology::Response::routed;
  return platform_from_file(topology_path("small.yaml"), o);
}

class StatisticsOf : public ::testing::TestWithParam<topology::Links> {};

TEST_P(StatisticsOf, a_run_are_those_of_its_report) {
  const auto platform = small(GetParam());
  Statistics statistics(*platform);
  RunOptions o;
  o.kernel = "gemm";
  const RunReport report = run_kernel(*platform, std::move(o));
  const StatisticsSnapshot all = statistics.snapshot();
  EXPECT_GE(all.end_ns(), report.end_ns);
  size_t busy = 0;
  for (const EngineReport& e : report.engines) {
    std::string object = e.id, prefix;
    if (object.find(".pe_dma.") != std::string::npos) {
      prefix = object.substr(object.size() - 2) + ".";
      object.resize(object.size() - 3);
      if (prefix == "mm.") continue;
    } else if (object.find("pe_fetch_store") != std::string::npos || object.find("pe_ipcq") != std::string::npos) {
      continue;
    }
    EXPECT_NEAR(all.value(object, prefix + "busy_ns"), e.busy_ns, 1e-4) << e.id;
    EXPECT_EQ(all.value(object, prefix + "ops"), static_cast<double>(e.ops)) << e.id;
    EXPECT_EQ(all.value(object, prefix + "bytes"), static_cast<double>(e.bytes)) << e.id;
    busy += e.busy_ns > 0;
  }
  EXPECT_GT(busy, 8u);

  // Initiators' requests equal the memories' services; a link's bytes equal its own counter.
  const double read = all.sum("sip0.cube*.hbm*", "read_bytes"), written = all.sum("sip0.cube*.hbm*", "write_bytes");
  EXPECT_GT(read, 0);
  EXPECT_EQ(read, all.sum("*.pe_dma", "read_access_bytes"));
  EXPECT_EQ(written, all.sum("*.pe_dma", "write_access_bytes"));
  EXPECT_GT(all.sum("*.pe_dma", "read_latency_ns"), all.sum("*.pe_dma", "read_accesses") * 2);
  size_t links = 0;
  for (uint32_t e = 0; e < platform->graph().edges.size(); ++e) {
    const Link* link = platform->machine().blocks().link(e);
    if (!link || link->messages == 0 || GetParam() == topology::Links::ideal) continue;
    const auto& edge = platform->graph().edges[e];
    const std::string id = platform->graph().nodes[edge.from].id + "->" + platform->graph().nodes[edge.to].id;
    EXPECT_EQ(all.value(id, "messages"), static_cast<double>(link->messages)) << id;
    EXPECT_NEAR(all.value(id, "busy_ns"), link->busy_ns, 1e-3) << id;
    ++links;
  }
  EXPECT_EQ(links > 20, GetParam() != topology::Links::ideal);
  EXPECT_NE(all.csv().find("sip0.cube0.pe0.pe_gemm,busy_ns,"), std::string::npos);
  EXPECT_THROW(all.value("sip0.cube0.pe0.pe_gemm", "nosuch"), InputError);
  EXPECT_THROW(all.sum("sip7*", "busy_ns"), InputError);
}

TEST_P(StatisticsOf, slices_add_up) {
  const auto platform = small(GetParam());
  Statistics whole(*platform), sliced(*platform), ticking(*platform);
  std::vector<double> sum, ticks;
  const auto add = [](std::vector<double>& to, const std::vector<double>& values) {
    to.resize(values.size());
    std::transform(to.begin(), to.end(), values.begin(), to.begin(), std::plus<>());
  };
  size_t periods = 0;
  ticking.every(sc_core::sc_time(77, sc_core::SC_NS), [&](const StatisticsSnapshot& s) {
    EXPECT_NEAR(s.duration_ns(), 77, 1e-9);
    add(ticks, s.values());
    ++periods;
  });
  JobOptions o;
  o.kernel = "gemm";
  Job job(*platform, o);
  job.start();
  double end = 0;
  while (job.running()) {
    sc_core::sc_start(sc_core::sc_time(50, sc_core::SC_NS));
    const StatisticsSnapshot s = sliced.interval();
    EXPECT_NEAR(s.begin_ns(), end, 1e-9);
    for (size_t i = 0; i < s.values().size(); ++i) EXPECT_GE(s.values()[i], -1e-6) << s.counters()[i].object;
    end = s.end_ns();
    add(sum, s.values());
  }
  add(ticks, ticking.interval().values());
  const StatisticsSnapshot all = whole.snapshot();
  ASSERT_GT(periods, 10u);
  for (size_t i = 0; i < sum.size(); ++i) {
    const double tolerance = 1e-6 * (1 + all.values()[i]);
    EXPECT_NEAR(sum[i], all.values()[i], tolerance) << all.counters()[i].object << " " << all.counters()[i].name;
    EXPECT_NEAR(ticks[i], all.values()[i], tolerance) << all.counters()[i].object << " " << all.counters()[i].name;
  }
  whole.reset();
  const StatisticsSnapshot none = whole.snapshot();
  EXPECT_EQ(none.duration_ns(), 0);
  EXPECT_EQ(std::accumulate(none.values().begin(), none.values().end(), 0.0), 0);
  ticking.every(sc_core::sc_time(1, sc_core::SC_NS), nullptr);
  const size_t before = periods;
  sc_core::sc_start(sc_core::sc_time(200, sc_core::SC_NS));
  EXPECT_EQ(periods, before);
}

std::string name_of(const ::testing::TestParamInfo<topology::Links>& links) {
  return links.param.name();
}

INSTANTIATE_TEST_SUITE_P(Links, StatisticsOf,
                         ::testing::Values(topology::Links::ideal, topology::Links::cut_through, topology::Links::flit),
                         name_of);

TEST(LateStatistics, never_count_below_zero) {
  const auto platform = small(topology::Links::cut_through);
  JobOptions o;
  o.kernel = "gemm";
  Job job(*platform, o);
  job.start();
  sc_core::sc_start(sc_core::sc_time(301, sc_core::SC_NS));
  Statistics late(*platform);
  EXPECT_THROW(late.every(sc_core::SC_ZERO_TIME, [](const StatisticsSnapshot&) {}), InputError);
  while (job.running()) sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_NS));
  const StatisticsSnapshot s = late.snapshot();
  for (size_t i = 0; i < s.values().size(); ++i) EXPECT_GE(s.values()[i], 0) << s.counters()[i].object;
  EXPECT_LE(s.value("sip0.cube0.pe0.pe_gemm", "busy_ns"), s.duration_ns());
}

}  // namespace
}  // namespace kernbench::testing
