// Are metrics what a report says, and fronts what their definition says?
#include "kernbench/platform/sweep/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/sweep/plot.h"

namespace kernbench::sweep {
namespace {

TEST(Metrics, AreWhatTheReportSays) {
  const auto report = nlohmann::json::parse(R"({"sim_ns": 100, "events": 7, "wall_s": 3, "gemm_peak_share": 0.25,
    "engines": [{"id": "pe0.pe_dma.rd", "bytes": 300, "flops": 0}, {"id": "pe0.pe_dma.wr", "bytes": 100, "flops": 0},
                {"id": "pe0.pe_gemm", "bytes": 0, "flops": 2e6}, {"id": "pe0.pe_fetch_store", "bytes": 40, "flops": 0},
                {"id": "pe1.pe_fetch_store", "bytes": 2, "flops": 0}],
    "verify": {"passed": true}, "energy": {"joules": {"low": 1, "value": 2, "high": 3}},
    "insight": {"bound": "hbm", "bound_by": ["hbm", "mesh"], "peaks": {"math_busy": 0, "hbm": 0.5, "link": 0.75},
                "links": [{"resource": "mesh", "bytes": 5}, {"resource": "ucie", "bytes": 7},
                          {"resource": "mesh", "bytes": 6}, {"resource": "pcie", "bytes": 8},
                          {"resource": "hbm", "bytes": 99}],
                "memories": [{"resource": "sram", "bytes": 3}, {"resource": "hbm", "bytes": 512}],
                "roofline": {"hbm_bytes": 512, "flop_per_byte": 4, "tflops_most": 9}}})");
  EXPECT_EQ(metrics_of(report), nlohmann::json::parse(R"({"sim_ns": 100, "events": 7, "gemm_peak_pct": 25.0,
    "bytes_read": 300, "bytes_written": 100, "gflop": 0.002, "tflops": 20.0, "gbs": 4.0, "verified": true,
    "tcm_bytes": 42, "sram_bytes": 3, "mesh_bytes": 11, "ucie_bytes": 7, "pcie_bytes": 8, "link_bytes": 0,
    "energy_j": 2, "bound": "hbm", "bound_by": "hbm+mesh", "math_busy_pct": 0.0, "hbm_peak_pct": 50.0,
    "link_peak_pct": 75.0, "hbm_bytes": 512, "flop_per_byte": 4, "roofline_tflops": 9})"));
  const auto found = metrics_of(report);
  for (const auto& [name, value] : found.items()) EXPECT_EQ(metric(name, "").name, name);
}

TEST(Metrics, WrongObjectivesAreRefused) {
  EXPECT_EQ(parse_objectives("sim_ns,max:tflops", "--pareto")[1].most, true);
  for (const char* text : {"", "sim_ns,", "least:sim_ns", "sim_ns,max:sim_ns", "nothing"})
    EXPECT_THROW(parse_objectives(text, "--pareto"), InputError) << text;
}

TEST(Pareto, FrontIsWhatNoOtherPointBeats) {
  const std::vector<Objective> by = {{"sim_ns", false}, {"tflops", true}, {"gflop", false}};
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<std::vector<Cell>> points;
    for (uint64_t i = 0; i < 40; ++i) {
      points.emplace_back(3);
      for (uint64_t k = 0; k < 3; ++k)
        points.back()[k].emplace<int64_t>(static_cast<int64_t>(random_word(seed, 3 * i + k) % 6));
    }
    points.emplace_back(3);  // has no time: on no front
    points.back()[1].emplace<int64_t>(9);
    points.back()[2].emplace<int64_t>(0);
    const auto at = [&](size_t i, size_t k) { return std::get<int64_t>(points[i][k]) * (by[k].most ? -1 : 1); };
    std::vector<size_t> expected;
    for (size_t i = 0; i < 40; ++i) {
      bool beaten = false;
      for (size_t j = 0; j < 40; ++j) {
        bool as_good = true, better = false;
        for (size_t k = 0; k < 3; ++k)
          as_good = as_good && at(j, k) <= at(i, k), better = better || at(j, k) < at(i, k);
        beaten = beaten || (as_good && better);
      }
      if (!beaten) expected.push_back(i);
    }
    auto front = pareto_front(points, by);
    for (size_t n = 1; n < front.size(); ++n) EXPECT_LE(at(front[n - 1], 0), at(front[n], 0));
    std::sort(front.begin(), front.end());
    EXPECT_EQ(front, expected) << seed;
  }
}

TEST(Sorted, BestFirstAndThoseWithoutAValueLast) {
  std::vector<Cell> cells(4);
  cells[1].emplace<double>(2.5);
  cells[2].emplace<int64_t>(1);
  cells[3].emplace<int64_t>(1);
  EXPECT_EQ(sorted_by(cells, {"sim_ns", false}), (std::vector<size_t>{2, 3, 1, 0}));
  EXPECT_EQ(sorted_by(cells, {"sim_ns", true}), (std::vector<size_t>{1, 2, 3, 0}));
}

TEST(Plot, HasAllPointsAndIsXml) {
  std::ostringstream out;
  write_plot(out, "sim_ns", "tflops", {{1, 2, true, "a<b&c"}, {3, 1, false, "d"}});
  EXPECT_NE(out.str().find("a&lt;b&amp;c"), std::string::npos);
  EXPECT_NE(out.str().find("2 points, 1 of them on the front"), std::string::npos);
  std::ostringstream none;
  write_plot(none, "x", "y", {});  // no point has both
  EXPECT_EQ(none.str().find("nan"), std::string::npos);
}

}  // namespace
}  // namespace kernbench::sweep
