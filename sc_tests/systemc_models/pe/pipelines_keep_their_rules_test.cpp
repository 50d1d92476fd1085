// SPDX-License-Identifier: Apache-2.0
// Do tiles pass the stages of a PE by timing rules §5 and §6, for any work?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <sstream>

#include "kernbench/platform/work/pipeline.h"
#include "system_support.h"

namespace kernbench::testing::pipelines_keep_their_rules {
namespace {

constexpr double kExact = 1e-6;

struct PeAttributes {
  std::string gemm = "kind: pe_gemm, attrs: {macs_per_cycle: 512, freq_ghz: 1, queue_depth: 2}";
  std::string dma = "queue_depth: 2";
  double reserved_mb = 0.25;
};

/// PEs p0, p1, … on one router with one HBM slice.
std::string system_of_pes(int pes, const PeAttributes& a = {}) {
  std::ostringstream y;
  y << "timing: {links: cut_through, response: routed}\nnodes:\n- {id: r, kind: router}\n- {id: mem, kind: hbm_ctrl}\n";
  for (int p = 0; p < pes; ++p) {
    const std::string pe = "- {id: p" + std::to_string(p) + ".";
    y << pe << "pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}\n"
      << pe << "pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}\n"
      << pe << "pe_dma, kind: pe_dma, attrs: {" << a.dma << "}}\n"
      << pe << "pe_fetch_store, kind: pe_fetch_store, attrs: {overhead_ns: 0.5}}\n"
      << pe << "pe_gemm, " << a.gemm << "}\n"
      << pe << "pe_math, kind: pe_math, attrs: {lanes: 16, freq_ghz: 1, cycles: {exp: 4}}}\n"
      << pe << "pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: " << a.reserved_mb
      << ", read_bw_gbs: 512, write_bw_gbs: 512}}\n";
  }
  y << "links:\n- {from: r, to: mem, distance_mm: 2, bw_gbs: 128}\n";
  for (int p = 0; p < pes; ++p) y << "- {from: p" << p << ".pe_dma, to: r, distance_mm: 1, bw_gbs: 128}\n";
  y << "memories:\n- {node: mem, space: hbm, base: 0, size: 67108864}\n";
  return y.str();
}

PipelineResult play(Platform& platform, const std::string& work_json) {
  std::istringstream in(work_json);
  PipelineWork work = read_pipeline_work(in, "work.json", platform);
  return run_pipeline(platform, work);
}

struct SystolicCase {
  const char* dataflow;
  double cycles;
};
class SystolicArray : public ::testing::TestWithParam<SystolicCase> {};

/// SCALE-Sim's counts for M=256, N=128, K=256 on 32×32.
TEST_P(SystolicArray, takes_the_published_cycles) {
  PeAttributes a;
  a.gemm = std::string("kind: pe_gemm, impl: builtin.pe_gemm_systolic, attrs: {rows: 32, cols: 32, dataflow: ") +
           GetParam().dataflow + ", freq_ghz: 1}";
  const auto platform = platform_from_text(system_of_pes(1, a));
  const PipelineResult r = play(*platform, R"({"pes": [{"pe": "p0", "commands": [
      {"id": "g", "submit_ns": 0, "stage": "GEMM", "m": 256, "n": 128, "k": 256, "dtype": "f16"}]}]})");
  ASSERT_EQ(r.pes.at(0).commands.size(), 1u);
  const PipelineStage& stage = r.pes[0].commands[0].stage;
  EXPECT_NEAR(stage.t_end - stage.t_start, GetParam().cycles, kExact);
}

INSTANTIATE_TEST_SUITE_P(Dataflows, SystolicArray,
                         ::testing::Values(SystolicCase{"ws", 11200},  // 8·4·(2·32 + 32 + 256 − 2)
                                           SystolicCase{"os", 10176},  // 8·4·(32 + 32 + 256 − 2)
                                           SystolicCase{"is", 14208}),
                         [](const auto& parameter) { return std::string(parameter.param.dataflow); });

// ---- Properties of random works -------------------------------------------------------------------------------------

struct Interval {
  double start, end;
  std::string what;
};

/// Text for every pair of `taken` that overlaps by more than rounding if at most `servers` may be active.
std::string overlaps(std::vector<Interval> taken, int servers, const std::string& server) {
  std::ostringstream wrong;
  std::sort(taken.begin(), taken.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
  std::multimap<double, std::string> busy;  // by end
  for (const Interval& i : taken) {
    busy.erase(busy.begin(), busy.lower_bound(i.start + kExact));
    busy.emplace(i.end, i.what);
    if (static_cast<int>(busy.size()) > servers)
      wrong << server << ": " << i.what << " begins in " << busy.begin()->second << "\n";
  }
  return wrong.str();
}

std::string check(const PipelineResult& result, int rd_engines, int wr_engines) {
  std::ostringstream wrong;
  for (const auto& pe : result.pes) {
    std::map<Stage, std::vector<Interval>> servers;
    std::vector<Interval> slot;
    const auto add = [&](const PipelineStage& s, const std::string& what) {
      if (s.t_end < s.t_start - kExact) wrong << what << ": ends before it begins\n";
      servers[s.stage].push_back({s.t_start, s.t_end, what});
      if (s.stage == Stage::gemm || s.stage == Stage::math) slot.push_back({s.t_start, s.t_end, what});
    };
    double previous_done = 0;
    for (const auto& c : pe.composites) {
      std::vector<Interval> flight;
      double last = 0, previous_fed = 0;
      for (size_t tile = 0; tile < c.tokens.size(); ++tile) {
        const PipelineToken& t = c.tokens[tile];
        const std::string what = pe.pe + " " + c.id + " tile " + std::to_string(tile);
        double ready = t.fed_ns;
        int stages = 0;
        t.for_each_stage([&](const PipelineStage& s) {
          ++stages;
          if (s.t_start < ready - kExact) wrong << what << ": a stage begins before the one before it has ended\n";
          ready = s.t_end;
          add(s, what);
        });
        if (stages < 2) wrong << what << ": took " << stages << " stages\n";
        if (t.fed_ns < c.submit_ns - kExact) wrong << what << ": fed before its composite was submitted\n";
        if (t.fed_ns < previous_fed - kExact) wrong << what << ": fed before the tile before it\n";
        previous_fed = t.fed_ns;
        flight.push_back({t.fed_ns, ready, what});
        last = std::max(last, ready);
      }
      if (std::abs(last - c.done_ns) > kExact) wrong << c.id << ": done is not its last tile's end\n";
      wrong << overlaps(flight, static_cast<int>(c.window), pe.pe + " window of " + c.id);
      previous_done = std::max(previous_done, last);
    }
    for (const auto& c : pe.commands) {
      add(c.stage, pe.pe + " " + c.id);
      if (std::abs(c.stage.t_end - c.done_ns) > kExact) wrong << c.id << ": done is not its end\n";
      previous_done = std::max(previous_done, c.done_ns);
    }
    if (previous_done > result.end_ns + kExact) wrong << pe.pe << ": goes on after the end\n";
    for (auto& [stage, taken] : servers) {
      const int count = stage == Stage::dma_read ? rd_engines : stage == Stage::dma_write ? wr_engines : 1;
      wrong << overlaps(taken, count, pe.pe + " stage " + std::to_string(static_cast<int>(stage)));
    }
    wrong << overlaps(slot, 1, pe.pe + " accel_slot");
  }
  return wrong.str();
}

std::string random_work(std::mt19937_64& r, int pes) {
  const auto upto = [&](uint64_t n) { return 1 + r() % n; };
  const auto place = [&](uint64_t cols) {
    std::ostringstream o;
    o << "{\"space\": \"" << (r() % 5 == 0 ? "tcm" : "hbm") << "\", \"addr\": " << r() % 1000 * 64
      << ", \"ld\": " << cols + r() % 8 << "}";
    return o.str();
  };
  const auto epilogue = [&] {
    std::string list;
    for (const char* scope : {"per_k_tile", "per_output_tile", "once"})
      if (r() % 3 == 0)
        list += std::string(list.empty() ? "" : ", ") + "{\"op\": \"exp\", \"scope\": \"" + scope + "\"}";
    return list;
  };
  std::ostringstream w;
  w << "{\"pes\": [";
  for (int p = 0; p < pes; ++p) {
    w << (p ? ", " : "") << "{\"pe\": \"p" << p << "\", \"composites\": [";
    const uint64_t composites = upto(3);
    for (uint64_t c = 0; c < composites; ++c) {
      const uint64_t m = upto(60), n = upto(60), k = upto(60);
      w << (c ? ", " : "") << "{\"id\": \"c" << c << "\", \"submit_ns\": " << r() % 500 << ", \"m\": " << m
        << ", \"n\": " << n << ", \"dtype\": \"f16\", \"dtype_bytes\": 2, \"epilogue\": [" << epilogue() << "], ";
      if (r() % 3) {
        w << "\"kind\": \"gemm\", \"k\": " << k << ", \"tile\": [" << upto(32) + 7 << ", " << upto(32) + 7 << ", "
          << upto(32) + 7 << "], \"a\": " << place(k) << ", \"b\": " << place(n) << ", \"c\": " << place(n) << "}";
      } else {
        w << "\"kind\": \"math\", \"op\": \"exp\", \"tile\": [" << upto(20) + 3 << ", " << upto(60) + 3
          << "], \"inputs\": [" << place(n) << ", " << place(n) << "], \"out\": " << place(n) << "}";
      }
    }
    w << "], \"commands\": [";
    const uint64_t commands = r() % 12;
    for (uint64_t c = 0; c < commands; ++c) {
      w << (c ? ", " : "") << "{\"id\": \"x" << c << "\", \"submit_ns\": " << r() % 600 << ", ";
      switch (r() % 4) {
        case 0:
          w << "\"stage\": \"DMA_READ\", \"space\": \"hbm\", \"addr\": " << r() % 4096
            << ", \"nbytes\": " << upto(9000);
          break;
        case 1:
          w << "\"stage\": \"DMA_WRITE\", \"space\": \"hbm\", \"addr\": " << r() % 4096
            << ", \"nbytes\": " << upto(9000);
          break;
        case 2:
          w << "\"stage\": \"GEMM\", \"m\": " << upto(64) << ", \"n\": 16, \"k\": 16, \"dtype\": \"f16\"";
          break;
        default:
          w << "\"stage\": \"MATH\", \"op\": \"exp\", \"elements\": " << upto(4000);
      }
      w << "}";
    }
    w << "]}";
  }
  w << "]}";
  return w.str();
}

TEST(RandomWorks, keep_order_servers_slot_and_window_and_are_deterministic) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 r(seed);
    const int pes = 1 + static_cast<int>(r() % 3), rd = 1 + static_cast<int>(r() % 2),
              wr = 1 + static_cast<int>(r() % 2);
    PeAttributes a;
    a.dma = "queue_depth: " + std::to_string(1 + r() % 4) + ", rd_engines: " + std::to_string(rd) +
            ", wr_engines: " + std::to_string(wr);
    a.reserved_mb = 0.02 * static_cast<double>(1 + r() % 4);
    const std::string yaml = system_of_pes(pes, a), work = random_work(r, pes);
    std::string shown[2];
    for (std::string& json : shown) {
      json = in_child([&] {
        const auto platform = platform_from_text(yaml);
        const PipelineResult result = play(*platform, work);
        const std::string wrong = check(result, rd, wr);
        if (!wrong.empty()) return "wrong: " + wrong;
        std::ostringstream out;
        write_pipeline_json(out, result);
        return out.str();
      });
    }
    EXPECT_EQ(shown[0].substr(0, 10), "{\"end_ns\":") << "seed " << seed << ": " << shown[0].substr(0, 2000) << "\n"
                                                      << yaml << work;
    EXPECT_EQ(shown[0], shown[1]) << "seed " << seed;
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace kernbench::testing::pipelines_keep_their_rules
