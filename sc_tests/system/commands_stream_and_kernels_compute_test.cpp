// SPDX-License-Identifier: Apache-2.0
// Do simple commands take the time that the TCM needs for their operands, and does a kernel's scalar work take its
// declared time (timing rules §5; tl.elapse, pe_cpu's read_cycles)?
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <regex>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/observe/trace.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::commands_stream_and_kernels_compute {
namespace {

/// A PE with almost no compute time whose TCM reads at 100 GB/s and writes at 10 GB/s.
std::string thin_tcm(const std::string& engine_attrs = "") {
  return "timing: {links: ideal}\nnodes:\n- {id: p.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2, freq_ghz: 2, "
         "read_cycles: 3}}\n- {id: p.pe_scheduler, kind: pe_scheduler}\n- {id: p.pe_dma, kind: pe_dma}\n"
         "- {id: p.pe_fetch_store, kind: pe_fetch_store}\n"
         "- {id: p.pe_gemm, kind: pe_gemm, attrs: {overhead_ns: 7, macs_per_cycle: 1.0e12, freq_ghz: 1000" +
         engine_attrs + "}}\n- {id: p.pe_math, kind: pe_math, attrs: {overhead_ns: 5, lanes: 1048576, freq_ghz: 1.0e9" +
         engine_attrs +
         "}}\n- {id: p.pe_tcm, kind: pe_tcm, attrs: {size_mb: 4, reserved_mb: 1, read_bw_gbs: 100, "
         "write_bw_gbs: 10}}\n- {id: mem, kind: hbm_ctrl}\nlinks:\n- {from: p.pe_dma, to: mem, distance_mm: 0, bw_gbs: "
         "100}\n"
         "memories:\n- {node: mem, space: hbm, base: 0, size: 16777216}\n";
}

/// Duration of each command, by name and number of its occurrence: "mul", "mul 2", …
using Lengths = std::map<std::string, double>;
class LengthLog : public OpLogSink {
 public:
  LengthLog(Lengths& lengths, std::map<std::string, double>& submitted) : lengths_(lengths), submitted_(submitted) {}
  void record(OpRecord&& r) override {
    if (r.is_token) return;
    std::string name = r.desc->name;
    for (int n = 2; lengths_.count(name); ++n) name = r.desc->name + " " + std::to_string(n);
    lengths_[name] = r.t_end - r.t_start;
    submitted_[name] = r.desc->submit_ns;
  }

 private:
  Lengths& lengths_;
  std::map<std::string, double>& submitted_;
};

RunReport run(Platform& platform, const std::string& kernel, Lengths& lengths,
              std::map<std::string, double>& submitted) {
  RunOptions o;
  o.kernel = kernel;
  o.pes = platform.graph().pes.front().id;
  o.log = std::make_unique<LengthLog>(lengths, submitted);
  return run_kernel(platform, std::move(o));
}

KernelSpec kernel(const char* name, KernelFunction function) {
  KernelSpec s;
  s.name = name;
  s.help = "for a test";
  s.tensors = {{"x", TensorSpec::Role::in,
                [](const Params&) {
                  return Dims{64, 32};
                },
                [](const Params&) { return DType::f32; }, Placement::single, Init::uniform()}};
  s.function = std::move(function);
  return s;
}

const RegisterKernel streams{kernel("streams", [](tl::Context& tl, const tl::Args& args) {
  const auto x = tl.load(args["x"]);
  const auto row = tl.load(args["x"].ptr, {32});
  tl.add(x, row);                                                      // a row that broadcasts
  tl.add(x.slice(1, 0, 16), x.slice(1, 0, 1).broadcast_to({64, 16}));  // a column that a view repeats
  tl.mul(x, x);                                                        // twice
  tl.mul(x, 2.0);                                                      // an immediate
  tl.cast(x, DType::f16);
  tl.lt(x, 0.5);
  tl.sum(x, 1);
  tl.zeros({50, 20}, DType::f32);
  const auto h = tl.cast(x, DType::f16);
  tl.dot(h, h.transpose());
})};

TEST(SimpleCommands, take_the_longer_of_reading_their_operands_and_writing_their_result) {
  const auto platform = platform_from_text(thin_tcm());
  Lengths took, submitted;
  run(*platform, "streams", took, submitted);
  const double math = 5, gemm = 7;
  const auto expect = [&](const char* op, double overhead, double in, double out) {
    ASSERT_TRUE(took.count(op)) << op;
    EXPECT_NEAR(took[op], overhead + std::max(in / 100, out / 10), 0.01) << op;
  };
  constexpr double kX = 64 * 32 * 4;
  expect("add", math, kX + 32 * 4, kX);
  expect("add 2", math, 64 * 16 * 4 + 64 * 4, 64 * 16 * 4);
  expect("mul", math, 2 * kX, kX);
  expect("mul 2", math, kX, kX);
  expect("cast", math, kX, kX / 2);
  expect("lt", math, kX, kX / 4);
  expect("sum", math, kX, 64 * 4);
  expect("full", math, 0, 50 * 20 * 4);
  expect("gemm_f16", gemm, 2 * kX / 2, 64 * 64 * 4);
}

const RegisterKernel passes{kernel("passes", [](tl::Context& tl, const tl::Args& args) {
  const auto x = tl.load(args["x"].ptr, {4, 33});  // 132 elements
  tl.copy(x);
  tl.cumsum(x, 1);                  // of 33: 6 passes
  tl.cumprod(x, 0);                 // of 4: 2
  tl.sort(x, 1);                    // 6 · 7 / 2
  tl.topk(x, 2, 0);                 // 2 · 3 / 2
  tl.argsort(x.slice(0, 0, 1), 0);  // of 1: 1
  tl.reduce(x, 1, [](tl::Expr a, tl::Expr b) { return tl::maximum(a, b) * 0.5; });
  tl.associative_scan(x, 0, [](tl::Expr a, tl::Expr b) { return a + b; });
  const auto w = tl.cast(x.slice(1, 0, 32), DType::f16);  // [4, 32]
  tl.dot(w, tl.cast(w, DType::i8).transpose());
  tl.dot(w, tl.cast(w, DType::u8).transpose());
  tl.dot(w, w.transpose(), tl.zeros({4, 4}, DType::f32));
  const tl::Loaded own = tl.tensor(std::vector<int>{3, 4}, {2}, DType::u16);
  if (own(1) == 4) tl.copy(own);
})};

TEST(SimpleCommands, pass_over_their_elements_as_often_as_their_networks_are_deep) {
  const std::string slow = std::regex_replace(
      std::regex_replace(thin_tcm(", stream_operands: false"), std::regex("lanes: 1048576, freq_ghz: 1.0e9"),
                         "lanes: 10, freq_ghz: 2, cycles: {cumsum: 3, sort: 5, mul: 7, add: 9}"),
      std::regex("macs_per_cycle: 1.0e12, freq_ghz: 1000"),
      "macs_per_cycle: 8, freq_ghz: 1, rates: {f16: 2, \"f16×i8\": 4}");
  const auto platform = platform_from_text(slow);
  Lengths took, submitted;
  run(*platform, "passes", took, submitted);
  constexpr double kPass = 14 / 2.0;  // 132 elements, 10 at once, 2 a ns
  const std::map<std::string, double> want = {{"copy", 5 + kPass},
                                              {"cumsum", 5 + 6 * 3 * kPass},
                                              {"cumprod", 5 + 2 * kPass},
                                              {"sort", 5 + 21 * 5 * kPass},
                                              {"topk", 5 + 3 * kPass},
                                              {"argsort", 5 + 4 / 2.0},
                                              {"reduce", 5 + (1 + 7) * kPass},
                                              {"associative_scan", 5 + 2 * 9 * kPass},
                                              {"gemm_f16", 7 + 4 * 4 * 32 / 8.0 / 4},
                                              {"gemm_f16 2", 7 + 4 * 4 * 32 / 8.0 / 2},
                                              {"gemm_f16 3", 7 + 4 * 4 * 32 / 8.0 / 2},
                                              {"constant", 0}};
  for (const auto& [op, ns] : want) {
    ASSERT_TRUE(took.count(op)) << op;
    EXPECT_NEAR(took[op], ns, 0.01) << op;
  }
}

TEST(SimpleCommands, count_operands_that_stand_twice_twice_and_repeated_elements_once) {
  // Here reading determines the time: writes are fast.
  const auto platform = platform_from_text(std::regex_replace(
      thin_tcm(), std::regex("read_bw_gbs: 100, write_bw_gbs: 10"), "read_bw_gbs: 1, write_bw_gbs: 1.0e6"));
  Lengths took, submitted;
  run(*platform, "streams", took, submitted);
  constexpr double kX = 64 * 32 * 4;
  EXPECT_NEAR(took["add"], 5 + kX + 32 * 4, 0.01);
  EXPECT_NEAR(took["add 2"], 5 + 64 * 16 * 4 + 64 * 4, 0.01);
  EXPECT_NEAR(took["mul"], 5 + 2 * kX, 0.01);
  EXPECT_NEAR(took["mul 2"], 5 + kX, 0.01);
  EXPECT_NEAR(took["full"], 5, 0.01);
  EXPECT_NEAR(took["gemm_f16"], 7 + kX, 0.01);
}

TEST(SimpleCommands, without_stream_operands_take_what_they_compute) {
  const auto platform = platform_from_text(thin_tcm(", stream_operands: false"));
  Lengths took, submitted;
  run(*platform, "streams", took, submitted);
  for (const char* op : {"add", "mul", "cast", "lt", "sum", "full"}) EXPECT_NEAR(took[op], 5, 0.01) << op;
  EXPECT_NEAR(took["gemm_f16"], 7, 0.01);
}

const RegisterKernel row_times_matrix{kernel("row_times_matrix", [](tl::Context& tl, const tl::Args&) {
  const auto a = tl.zeros({1, 1024}, DType::f16), b = tl.zeros({1024, 1024}, DType::f16);
  tl.dot(a, b, DType::f16);
  tl.wait(tl.composite(tl::gemm(a, b).tiles(1, 256, 256).out_dtype(DType::f16)));
})};

TEST(SimpleCommands, cost_what_a_composite_of_the_same_shape_does_where_the_tcm_is_the_bottleneck) {
  const auto platform = platform_from_file(topology_path("default.yaml"));
  Lengths took, submitted;
  run(*platform, "row_times_matrix", took, submitted);
  EXPECT_NEAR(took["gemm_f16"], (1024 + 1024 * 1024) * 2 / 512.0, 0.01);
  EXPECT_NEAR(took["gemm_f16"] / took["composite_gemm"], 1, 0.05);
}

// ---- Scalar work ----------------------------------------------------------------------------------------------------

const RegisterKernel looks{kernel("looks", [](tl::Context& tl, const tl::Args& args) {
  const auto first = tl.load(args["x"].ptr, {4});
  tl.zeros({1}, DType::f32);
  // Each read element takes 3 cycles at 2 GHz; then 100 cycles are added.
  double sum = first(0);
  for (const double v : first.to_vector<double>()) sum += v;
  tl.elapse(100);
  tl.full({1}, sum, DType::f32);
})};

TEST(ScalarWork, takes_pe_cpus_cycles_and_is_told) {
  const auto platform = platform_from_text(thin_tcm());
  Lengths took, submitted;
  const RunReport report = run(*platform, "looks", took, submitted);
  const double work = (5 * 3 + 100) / 2.0;
  // The second call begins when the first one is done, and costs 2 ns in pe_cpu.
  EXPECT_NEAR(submitted["full 2"], submitted["full"] + took["full"] + work + 2, 1e-6);
  EXPECT_NEAR(report.pes.at(0).scalar_ns, work, 1e-6);
  std::ostringstream text;
  write_run_text(text, report);
  EXPECT_NE(text.str().find("scalar work  of kernels on pe_cpu: 57.500 ns a PE"), std::string::npos) << text.str();
}

TEST(ScalarWork, stands_on_the_kernels_track_of_a_trace_in_one_piece) {
  const auto platform = platform_from_text(thin_tcm());
  const std::string file = ::testing::TempDir() + "scalar_work_trace.json";
  ChromeTrace trace(*platform, file);
  Lengths took, submitted;
  run(*platform, "looks", took, submitted);
  trace.close();
  const std::string text = read_file(file);
  const size_t at = text.find("scalar work");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(text.find("scalar work", at + 1), std::string::npos) << "reads one after the other are one piece";
  EXPECT_NE(text.find("\"dur\": 0.0575", at), std::string::npos) << text.substr(at, 200);
}

/// The kernel continues from its own clock if a command ends before its scalar work.
const RegisterKernel works_beside{kernel("works_beside", [](tl::Context& tl, const tl::Args& args) {
  const auto x = tl.load_async(args["x"]);
  tl.elapse(2000);
  tl.wait(x);
  tl.zeros({1}, DType::f32);
})};

TEST(ScalarWork, overlaps_with_commands_in_flight) {
  const auto platform = platform_from_text(thin_tcm());
  Lengths took, submitted;
  run(*platform, "works_beside", took, submitted);
  EXPECT_LT(took["dma_read"], 1000);
  EXPECT_NEAR(submitted["full"], submitted["dma_read"] + 1000 + 2, 1e-6);
}

template <int which>
void elapses_badly(tl::Context& tl, const tl::Args&) {
  const double cycles[] = {-1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
  tl.elapse(cycles[which]);
}
const RegisterKernel bad0{kernel("elapses_minus_one", elapses_badly<0>)};
const RegisterKernel bad1{kernel("elapses_nan", elapses_badly<1>)};
const RegisterKernel bad2{kernel("elapses_inf", elapses_badly<2>)};

TEST(ScalarWork, of_no_legal_length_is_a_fault_with_the_kernels_line) {
  const std::pair<const char*, const char*> cases[] = {{"elapses_minus_one", "found -1 cycles"},
                                                       {"elapses_nan", "found nan cycles"},
                                                       {"elapses_inf", "found inf cycles"}};
  for (const auto& [name, says] : cases) {
    const std::string text = in_child([name = name] {
      const auto platform = platform_from_text(thin_tcm());
      Lengths took, submitted;
      try {
        run(*platform, name, took, submitted);
      } catch (const RunError& e) {
        return std::string(e.what());
      }
      return std::string("no fault");
    });
    EXPECT_NE(text.find(says), std::string::npos) << text;
    EXPECT_NE(text.find("commands_stream_and_kernels_compute_test.cpp:"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

// ---- Notes ----------------------------------------------------------------------------------------------------------

TEST(Cycles, left_out_of_an_op_that_was_done_are_noted_once) {
  const auto platform = platform_from_text(
      std::regex_replace(thin_tcm(), std::regex("lanes: 1048576"), "cycles: {mul: 2}, lanes: 1048576"));
  Lengths took, submitted;
  const RunReport report = run(*platform, "streams", took, submitted);
  std::string all;
  for (const std::string& note : report.notes) all += note + "\n";
  EXPECT_EQ(all,
            "pe_math.cycles lacks add: taken as 1\npe_math.cycles lacks cast: taken as 1\n"
            "pe_math.cycles lacks full: taken as 1\npe_math.cycles lacks lt: taken as 1\n"
            "pe_math.cycles lacks sum: taken as 1\n");
}

}  // namespace
}  // namespace kernbench::testing::commands_stream_and_kernels_compute
