// SPDX-License-Identifier: Apache-2.0
// Do metrics equal the report's values, and Pareto fronts their definition?
#include "kernbench/platform/study/sweep/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/phase2/text/json_reader.h"
#include "kernbench/platform/insight/insight.h"
#include "kernbench/platform/run/record/run_report.h"
#include "kernbench/platform/study/sweep/plot.h"

namespace kernbench::sweep {
namespace {

TEST(Figures, AreWhatTheRunSays) {
  RunReport r;
  r.end_ns = 100;
  r.events = 7;
  r.verified = true;
  r.tensors.resize(1), r.tensors[0].passed = true;
  r.pes.resize(1);
  const auto engine = [&](const char* id, uint64_t bytes, double flops = 0, double peak_ns = 0) {
    EngineReport& e = r.engines.emplace_back();
    e.id = id, e.bytes = bytes, e.flops = flops, e.peak_ns = peak_ns;
  };
  engine("pe0.pe_dma.rd", 300), engine("pe0.pe_dma.wr", 100), engine("pe0.pe_gemm", 0, 2e6, 25);
  engine("pe0.pe_fetch_store", 40), engine("pe1.pe_fetch_store", 2);
  auto insight = std::make_shared<insight::Insight>();
  using insight::Resource;
  insight->bound_by = {Resource::hbm, Resource::mesh};
  insight->hbm_peak = 0.5, insight->hbm_bytes = 512, insight->flop_per_byte = 4, insight->roofline_tflops = 9;
  insight->links = {{"a", Resource::mesh, 5, 0, 0.75},
                    {"b", Resource::ucie, 7},
                    {"c", Resource::mesh, 6},
                    {"d", Resource::pcie, 8},
                    {"e", Resource::hbm, 99}};
  insight->memories = {{"s", Resource::sram, 3}, {"h", Resource::hbm, 512}};
  r.insight = insight;
  std::ostringstream text;
  write_run_json(text, r);
  EXPECT_EQ(nlohmann::json::parse(text.str()).at("figures"), nlohmann::json::parse(R"({"sim_ns": 100.0, "events": 7,
    "gemm_peak_pct": 25.0, "bytes_read": 300, "bytes_written": 100, "gflop": 0.002, "tflops": 20.0, "gbs": 4.0,
    "verified": true, "tcm_bytes": 42, "sram_bytes": 3, "mesh_bytes": 11, "ucie_bytes": 7, "pcie_bytes": 8,
    "link_bytes": 0, "bound": "dependencies", "bound_by": "hbm+mesh", "math_busy_pct": 0.0, "hbm_peak_pct": 50.0,
    "link_peak_pct": 75.0, "hbm_bytes": 512.0, "flop_per_byte": 4.0, "roofline_tflops": 9.0})"));
  RunReport nothing;
  size_t there = 0;
  for (const Figure& f : figures()) there += !std::holds_alternative<std::monostate>(f.of(nothing));
  EXPECT_EQ(there, 7u) << "sim_ns, gflop, gemm_peak_pct, three of bytes, events";
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

TEST(Ranked, FrontAfterFrontItsEndsFirst) {
  const std::vector<Objective> by = {{"sim_ns", false}, {"cost", false}};
  const auto point = [](double a, double b) { return std::vector<Cell>{a, b}; };
  // A front of four points, the third of which has the most space around it; a dominated point; one without a cost.
  const std::vector<std::vector<Cell>> points = {point(9, 9), point(0, 10), point(1, 9),
                                                 point(2, 3), point(10, 0), {Cell(1.0), Cell()}};
  EXPECT_EQ(ranked_by(points, by, {}), (std::vector<size_t>{1, 4, 3, 2, 0, 5}));
  EXPECT_EQ(ranked_by({point(1, 1), point(1, 1)}, by, {}), (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(ranked_by({}, by, {}).empty());
}

TEST(Ranked, ByTheProductOfPowersWhateverTheUnits) {
  const std::vector<Objective> by = {{"sim_ns", false}, {"tflops", true}};
  const auto points = [](double unit) {
    return std::vector<std::vector<Cell>>{{Cell(2.0 * unit), Cell(3.0)},   // 2/3
                                          {Cell(1.0 * unit), Cell(1.2)},   // 5/6
                                          {Cell(-1.0 * unit), Cell(1.0)},  // has no power
                                          {Cell(unit), Cell(2.0 * 10)}};   // 1/20
  };
  for (const double unit : {1.0, 1e-9, 1e12})
    EXPECT_EQ(ranked_by(points(unit), by, {1, 1}), (std::vector<size_t>{3, 0, 1, 2}));
  EXPECT_EQ(ranked_by(points(1), by, {3, 1}).front(), 3u);
  EXPECT_EQ(ranked_by(points(1), by, {3, 1})[1], 1u);
  // 0 is the best value of a minimized metric, and the worst value of a maximized one.
  EXPECT_EQ(ranked_by({{Cell(1.0), Cell(1.0)}, {Cell(0.0), Cell(1.0)}, {Cell(1.0), Cell(0.0)}}, by, {1, 1}),
            (std::vector<size_t>{1, 0, 2}));
}

TEST(Plot, HasAllPointsAndIsXml) {
  std::ostringstream out;
  write_plot(out, "sim_ns", "tflops", {{1, 2, true, "a<b&c"}, {3, 1, false, "d"}});
  EXPECT_NE(out.str().find("a&lt;b&amp;c"), std::string::npos);
  EXPECT_NE(out.str().find("2 points, 1 of them on the Pareto front"), std::string::npos);
  std::ostringstream none;
  write_plot(none, "x", "y", {});  // no point has both metrics
  EXPECT_EQ(none.str().find("nan"), std::string::npos);
}

}  // namespace
}  // namespace kernbench::sweep
