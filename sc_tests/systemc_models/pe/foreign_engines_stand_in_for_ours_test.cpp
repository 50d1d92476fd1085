// SPDX-License-Identifier: Apache-2.0
// Foreign TLM-2.0 engines in place of a PE's GEMM and MATH: their time, their data, their errors, with every legal way
// to respond. Their results are off by one where a test must distinguish them from Phase 2's.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "foreign_engine_support.h"
#include "kernbench/kernel_api/plugin.h"
#undef KERNBENCH_PLUGIN
#define KERNBENCH_PLUGIN(name)  // linked here
#include "kernbench/examples/custom_engine/reduce.cpp"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/io/npy.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/platform/job.h"
#include "kernbench/platform/run/run.h"
#include "system_support.h"

namespace kernbench::testing::foreign_engines_stand_in_for_ours {
namespace {

/// A PE with these engines, on one HBM slice.
std::string one_pe(
    const std::string& gemm = "{id: pe.pe_gemm, kind: pe_gemm, impl: builtin.pe_gemm_tlm, attrs: {data: engine}}",
    const std::string& math = "{id: pe.pe_math, kind: pe_math, attrs: {lanes: 16, freq_ghz: 1}}") {
  return R"(
timing: {links: cut_through, response: routed}
nodes:
- {id: pe.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}
- {id: pe.pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}
- {id: pe.pe_dma, kind: pe_dma}
- {id: pe.pe_fetch_store, kind: pe_fetch_store, attrs: {overhead_ns: 0.5}}
- )" + gemm +
         "\n- " + math + R"(
- {id: pe.pe_tcm, kind: pe_tcm, attrs: {size_mb: 1, reserved_mb: 0.25, read_bw_gbs: 512, write_bw_gbs: 256}}
- {id: r, kind: router}
- {id: hbm, kind: hbm_ctrl}
links:
- {from: pe.pe_dma, to: r, distance_mm: 1, bw_gbs: 128}
- {from: r, to: hbm, distance_mm: 2, bw_gbs: 128}
memories:
- {node: hbm, space: hbm, base: 0x10000, size: 1048576}
)";
}
std::string gemm_with(const std::string& attrs) {
  return "{id: pe.pe_gemm, kind: pe_gemm, impl: builtin.pe_gemm_tlm, attrs: {" + attrs + "}}";
}
std::string math_with(const std::string& attrs) {
  return "{id: pe.pe_math, kind: pe_math, impl: builtin.pe_math_tlm, attrs: {" + attrs + "}}";
}
const char* const kOurGemm =
    "{id: pe.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 64, freq_ghz: 1, overhead_ns: 3}}";

template <class Engine>
void bind(Platform& platform, Engine& engine, const std::string& id = "pe.pe_gemm", bool data = true) {
  TlmEngine& e = platform.tlm_engine(id);
  e.socket().bind(engine.socket);
  if (data) engine.tcm.bind(e.tcm_socket());
}

struct Kept : OpLogSink {
  std::vector<OpRecord>* records;
  explicit Kept(std::vector<OpRecord>* r) : records(r) {}
  void record(OpRecord&& r) override { records->push_back(std::move(r)); }
};

RunOptions options(const std::string& kernel, const std::vector<std::pair<std::string, std::string>>& params,
                   std::vector<OpRecord>* records = nullptr) {
  RunOptions o;
  o.kernel = kernel;
  o.params = params;
  o.verify = true;
  o.threads = 1;
  if (records) o.log = std::make_unique<Kept>(records);
  return o;
}
const std::vector<std::pair<std::string, std::string>> kSmall{
    {"dtype", "i8"}, {"m", "20"}, {"n", "12"}, {"k", "24"}, {"tile_m", "8"}, {"tile_n", "8"}, {"tile_k", "16"}};

/// The services of a stage, in order.
std::vector<const OpRecord*> services(const std::vector<OpRecord>& records, Stage stage) {
  std::vector<const OpRecord*> found;
  for (const OpRecord& r : records) {
    const bool simple = r.desc && (r.desc->type == CommandType::gemm || r.desc->type == CommandType::math);
    if (r.is_token ? r.token.stage == stage : simple && (r.desc->type == CommandType::gemm) == (stage == Stage::gemm))
      found.push_back(&r);
  }
  return found;
}

// ---- data

class AnyKernel : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(of, AnyKernel, ::testing::Values("gemm", "gemm_dot"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(AnyKernel, has_the_results_of_an_lt_engine) {
  const auto platform = platform_from_text(one_pe());
  LtEngine engine("engine");
  bind(*platform, engine);
  EXPECT_TRUE(run_kernel(*platform, options(GetParam(), kSmall)).passed);
  EXPECT_EQ(engine.doorbells.size(), 12u);
  EXPECT_EQ(engine.fault, "");
  engine.off_by = 1;
  EXPECT_FALSE(run_kernel(*platform, options(GetParam(), kSmall)).passed) << "the data are the engine's";
}

TEST_P(AnyKernel, has_the_results_of_an_at_engine) {
  const auto platform = platform_from_text(one_pe());
  AtEngine engine("engine");
  bind(*platform, engine);
  EXPECT_TRUE(run_kernel(*platform, options(GetParam(), kSmall)).passed);
  EXPECT_EQ(engine.doorbells.size(), 12u);
}

TEST_P(AnyKernel, has_the_results_of_an_engine_that_interrupts) {
  const auto platform = platform_from_text(one_pe(gemm_with("data: engine, completion: interrupt")));
  InterruptingEngine engine("engine");
  bind(*platform, engine);
  platform->tlm_engine("pe.pe_gemm").interrupt.bind(engine.interrupt);
  EXPECT_TRUE(run_kernel(*platform, options(GetParam(), kSmall)).passed);
  EXPECT_EQ(engine.doorbells.size(), 12u);
  engine.false_alarms = 2;
  EXPECT_TRUE(run_kernel(*platform, options(GetParam(), kSmall)).passed);
  engine.doorbell_ns = 25;  // later than the interrupt
  EXPECT_TRUE(run_kernel(*platform, options(GetParam(), kSmall)).passed);
}

TEST_P(AnyKernel, keeps_f16_results_and_rounds_an_accumulator_once) {
  const auto platform = platform_from_text(one_pe());
  LtEngine engine("engine");
  bind(*platform, engine);
  auto params = kSmall;
  params[0].second = "f16";
  EXPECT_TRUE(run_kernel(*platform, options(GetParam(), params)).passed);
}

TEST(foreign_math, leaves_to_an_engine_of_a_users_own_what_that_takes) {
  const auto platform = platform_from_text(
      one_pe(kOurGemm,
             math_with("") +
                 "\n- {id: pe.pe_reduce, kind: pe_reduce, impl: custom.pe_reduce, attrs: {lanes: 16, freq_ghz: 1}}"));
  LtEngine engine("engine");
  bind(*platform, engine, "pe.pe_math", false);
  std::vector<OpRecord> records;
  EXPECT_TRUE(run_kernel(*platform, options("rmsnorm", {{"rows", "4"}, {"cols", "64"}}, &records)).passed);
  size_t sums = 0, others = 0;
  for (const OpRecord* r : services(records, Stage::math)) {
    EXPECT_EQ(platform->graph().nodes[r->component].id, r->desc->op == "sum" ? "pe.pe_reduce" : "pe.pe_math");
    ++(r->desc->op == "sum" ? sums : others);
  }
  EXPECT_GT(sums, 0u);
  EXPECT_EQ(engine.doorbells.size(), others);
}

TEST(foreign_gemm, is_checked_op_by_op) {
  for (const bool right : {true, false}) {
    const std::string said = in_child([&]() -> std::string {
      const auto platform = platform_from_text(one_pe());
      LtEngine engine("engine");
      engine.off_by = right ? 0 : 1;
      bind(*platform, engine);
      RunOptions o = options("gemm_dot", kSmall);
      o.debug_verify = true;
      try {
        run_kernel(*platform, std::move(o));
      } catch (const std::exception& e) {
        return e.what();
      }
      return "";
    });
    EXPECT_EQ(said.empty(), right) << said;
    EXPECT_EQ(said.find("gemm_i8") != std::string::npos, !right) << said;
  }
}

TEST(foreign_gemm, is_each_pes_own) {
  std::string yaml = one_pe(), second;
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("- {id: pe.", 0) == 0) second += "- {id: qe." + line.substr(10) + "\n";
  }
  yaml.insert(yaml.find("- {id: r,"), second);
  yaml.insert(yaml.find("- {from: r,"), "- {from: qe.pe_dma, to: r, distance_mm: 1, bw_gbs: 128}\n");
  const auto platform = platform_from_text(yaml);
  LtEngine first("first"), other("other");
  const auto is_of = [](uint64_t pe) {
    return [pe](const EngineModel& e) {
      EXPECT_EQ(e.get(reg::kPe), pe);
      return 50.0;
    };
  };
  first.ns = is_of(0);
  other.ns = is_of(1);
  bind(*platform, first);
  bind(*platform, other, "qe.pe_gemm");
  EXPECT_TRUE(run_kernel(*platform, options("gemm", kSmall)).passed);
  EXPECT_EQ(first.doorbells.size(), 8u) << "10 of the 20 rows in tiles of 8";
  EXPECT_EQ(other.doorbells.size(), 8u);
}

TEST(foreign_math, gives_the_results_of_a_kernel_that_broadcasts_and_reduces) {
  const auto platform = platform_from_text(one_pe(kOurGemm, math_with("data: engine")));
  LtEngine engine("engine");
  bind(*platform, engine, "pe.pe_math");
  EXPECT_TRUE(run_kernel(*platform, options("rmsnorm", {{"rows", "3"}, {"cols", "40"}})).passed);
  EXPECT_EQ(engine.fault, "");
  EXPECT_GT(engine.doorbells.size(), 6u);
  engine.off_by = 1;
  EXPECT_FALSE(run_kernel(*platform, options("rmsnorm", {{"rows", "3"}, {"cols", "40"}})).passed);
}

/// y = a · bᵀ + 1: as commands with views, and as consecutive composites. `wide`: the result as a kernel sees it.
KernelSpec engine_kernel(const std::string& name, bool materializes, KernelFunction function) {
  KernelSpec k;
  k.name = name;
  k.materializes = materializes;
  const auto matrix = [](const Params&) { return Dims{16, 16}; };
  const auto f32 = [](const Params&) { return DType::f32; };
  k.tensors = {{"a", TensorSpec::Role::in, matrix, f32, Placement::rows, Init::uniform()},
               {"b", TensorSpec::Role::in, matrix, f32, Placement::rows, Init::uniform()},
               {"y", TensorSpec::Role::out, matrix, f32, Placement::rows, {}}};
  k.function = std::move(function);
  k.reference = [](const Params&, const TensorMap& in) {
    const std::vector<float> a = in.at("a").floats(), b = in.at("b").floats();
    std::vector<float> y(256, 1);
    for (size_t i = 0; i < 256; ++i)
      for (size_t l = 0; l < 16; ++l) y[i] += a[i / 16 * 16 + l] * b[i % 16 * 16 + l];
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::f32, {16, 16}, y), {}}}};
  };
  return k;
}

const RegisterKernel with_views{engine_kernel("engine_test_views", false, [](tl::Context& tl, const tl::Args& args) {
  const auto a = tl.load(args["a"]);
  const auto b = tl.load(args["b"]);
  tl.store(args["y"], tl.dot(a, b.transpose()) + 1.0);
})};

const RegisterKernel with_composites{
    engine_kernel("engine_test_composites", false, [](tl::Context& tl, const tl::Args& args) {
      const auto c =
          tl.composite(tl::gemm(tl::Block(args["a"]), tl::Block(args["b"])).transpose_b().tiles(8, 12, 5));  // in TCM
      tl.wait(c);
      tl.wait(tl.composite(tl::elementwise("add", {c, 1.0}).tiles(6, 10).out(args["y"])));
    })};

/// Unequal tiles, a broadcast operand, and ops of every scope that cancel out.
const RegisterKernel with_epilogue{
    engine_kernel("engine_test_epilogue", false, [](tl::Context& tl, const tl::Args& args) {
      const auto row = tl.load(tl::Block(args["b"]).tile(0, 0, 1, 16));
      const auto c = tl.composite(tl::gemm(tl::Block(args["a"]), tl::Block(args["b"]))
                                      .transpose_b()
                                      .tiles(8, 12, 5)
                                      .then("add", {row})
                                      .then("sub", {row})
                                      .then("mul", {2.0}, Scope::per_k_tile)
                                      .then("mul", {0.5}, Scope::per_k_tile)
                                      .then("add", {4.0}, Scope::once)
                                      .then("sub", {4.0}, Scope::once));
      tl.wait(c);
      tl.store(args["y"], c + 1.0);
    })};

const RegisterKernel with_elementwise_epilogue{
    engine_kernel("engine_test_elementwise_epilogue", false, [](tl::Context& tl, const tl::Args& args) {
      const auto a = tl.load(args["a"]);
      tl.wait(tl.composite(tl::elementwise("add", {a, 1.0}).then("mul", {2.0}).out(args["y"])));
    })};

float seen_by_kernel = 0;
const RegisterKernel that_looks{engine_kernel("engine_test_looks", true, [](tl::Context& tl, const tl::Args& args) {
  const auto a = tl.load(args["a"]);
  const auto b = tl.load(args["b"]);
  const auto y = tl.dot(a, b.transpose()) + 1.0;
  seen_by_kernel = static_cast<float>(tl.materialize(y)(0, 0));
  tl.store(args["y"], y);
})};

const RegisterKernel in_a_hurry{
    engine_kernel("engine_test_in_a_hurry", false, [](tl::Context& tl, const tl::Args& args) {
      const auto c = tl.composite(tl::gemm(tl::Block(args["a"]), tl::Block(args["b"])).transpose_b().tiles(4, 4, 4));
      tl.store(args["y"], c + 1.0);  // without waiting
    })};

class BothEngines : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(of, BothEngines,
                         ::testing::Values("engine_test_views", "engine_test_composites", "engine_test_epilogue"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(BothEngines, are_given_each_others_results) {
  const auto platform = platform_from_text(one_pe(gemm_with("data: engine"), math_with("data: engine")));
  LtEngine gemm("gemm"), math("math");
  bind(*platform, gemm);
  bind(*platform, math, "pe.pe_math");
  EXPECT_TRUE(run_kernel(*platform, options(GetParam(), {})).passed);
  EXPECT_EQ(gemm.fault + math.fault, "");
  EXPECT_FALSE(gemm.doorbells.empty() || math.doorbells.empty());
}

TEST_P(BothEngines, go_with_one_of_ours) {
  const auto platform = platform_from_text(one_pe(kOurGemm, math_with("data: engine")));
  LtEngine math("math");
  bind(*platform, math, "pe.pe_math");
  EXPECT_TRUE(run_kernel(*platform, options(GetParam(), {})).passed) << "what is pending is computed first";
  EXPECT_EQ(math.fault, "");
}

TEST(foreign_gemm, gives_what_a_kernel_sees_of_a_result) {
  const auto platform = platform_from_text(one_pe());
  LtEngine engine("engine");
  bind(*platform, engine);
  EXPECT_TRUE(run_kernel(*platform, options("engine_test_looks", {})).passed);
  const float right = seen_by_kernel;
  engine.off_by = 1;
  EXPECT_FALSE(run_kernel(*platform, options("engine_test_looks", {})).passed);
  EXPECT_FLOAT_EQ(seen_by_kernel, right + 1);
}

TEST(foreign_gemm, gives_what_a_job_is_verified_by) {
  const auto platform = platform_from_text(one_pe());
  LtEngine engine("engine");
  bind(*platform, engine);
  JobOptions o{"gemm_dot", kSmall};
  o.verify = true;
  Job job(*platform, o);
  for (const bool right : {true, false}) {
    job.place_random("a", 1);
    job.place_random("b", 2);
    engine.off_by = right ? 0 : 1;
    ASSERT_TRUE(job.run().response.ok());
    EXPECT_EQ(job.verify().passed, right);
  }
}

TEST(foreign_gemm, gives_results_that_are_replayed_from_files) {
  for (const char* kind : {"jsonl", "sqlite"}) {
    for (const char* kernel : {"gemm", "gemm_dot"}) {
      const std::string base = ::testing::TempDir() + "engine_" + kernel + std::to_string(getpid()),
                        file = base + "." + kind;
      const std::string said = in_child([&]() -> std::string {
        const auto platform = platform_from_text(one_pe());
        LtEngine engine("engine");
        engine.off_by = 1;
        bind(*platform, engine);
        RunOptions o = options(kernel, kSmall);
        o.log = make_op_log(file);
        o.memory_file = std::make_unique<WrittenFile>(base + ".kbmem");
        o.dumps = {{"c", base + ".npy"}};
        return run_kernel(*platform, std::move(o)).passed ? "an engine's mistake passes" : "";
      });
      ASSERT_EQ(said, "");
      OpLogContents log = read_op_log(file);
      MemoryFileContents memory = read_memory_file(base + ".kbmem");
      EXPECT_THROW(
          {
            MemoryFileContents none;
            std::vector<OpRecord> records = log.records;
            attach_data(records, none);
          },
          OpLogError);
      attach_data(log.records, memory);
      size_t given = 0;
      for (const OpRecord& r : log.records) given += r.desc && r.desc->engine_result;
      EXPECT_EQ(given, std::string(kernel) == "gemm" ? 1u : 12u);
      const ReplayResult replayed = replay(log.records, memory.image);
      const NpyArray c = read_npy(base + ".npy");
      const PlacedTensor* placed = nullptr;
      for (const PlacedTensor& t : log.header.tensors) placed = t.name == "c" ? &t : placed;
      ASSERT_NE(placed, nullptr);
      ASSERT_EQ(placed->shards.size(), 1u);
      Bytes bytes(c.bytes.size());
      replayed.memory.read({Space::hbm, kNoPe}, placed->shards[0].addr, bytes.data(), bytes.size());
      EXPECT_EQ(bytes, Bytes(c.bytes.begin(), c.bytes.end()));
      for (const char* end : {".jsonl", ".sqlite", ".kbmem", ".npy"}) std::filesystem::remove(base + end);
    }
  }
}

// ---- time

/// Start and end of every record of a run in which GEMM takes M·N·K / 64 ns.
template <class Engine>
std::string times(const std::string& kernel, const std::string& attrs, const std::function<void(Engine&)>& set = {}) {
  return in_child([&] {
    std::vector<OpRecord> records;
    const auto platform = platform_from_text(one_pe(gemm_with("overhead_ns: 3" + attrs)));
    Engine engine("engine");
    engine.ns = [](const EngineModel& e) {
      return static_cast<double>(e.get(reg::kM) * e.get(reg::kN) * e.get(reg::kK)) / 64;
    };
    if (set) set(engine);
    bind(*platform, engine, "pe.pe_gemm", false);
    if constexpr (std::is_same_v<Engine, InterruptingEngine>)
      platform->tlm_engine("pe.pe_gemm").interrupt.bind(engine.interrupt);
    const RunReport r = run_kernel(*platform, options(kernel, kSmall, &records));
    std::ostringstream out;
    out.precision(10);
    out << r.passed << " " << r.end_ns << "\n";
    for (const OpRecord& o : records) out << (o.desc ? o.desc->name : "") << " " << o.t_start << " " << o.t_end << "\n";
    return out.str();
  });
}

TEST_P(AnyKernel, takes_the_time_of_our_engine_where_a_foreign_one_takes_as_long) {
  const std::string ours = in_child([&] {
    std::vector<OpRecord> records;
    const auto platform = platform_from_text(one_pe(kOurGemm));
    const RunReport r = run_kernel(*platform, options(GetParam(), kSmall, &records));
    std::ostringstream out;
    out.precision(10);
    out << r.passed << " " << r.end_ns << "\n";
    for (const OpRecord& o : records) out << (o.desc ? o.desc->name : "") << " " << o.t_start << " " << o.t_end << "\n";
    return out.str();
  });
  EXPECT_EQ(ours.substr(0, 2), "1 ") << ours;
  EXPECT_EQ(times<LtEngine>(GetParam(), ""), ours);
  EXPECT_EQ(times<LtEngine>(GetParam(), "", [](LtEngine& e) { e.annotates = true; }), ours);
  EXPECT_EQ(times<AtEngine>(GetParam(), ""), ours);
  EXPECT_EQ(times<AtEngine>(GetParam(), ", end_resp: completed"), ours);
  EXPECT_EQ(times<AtEngine>(GetParam(), ", end_resp: phase, max_bytes: 8"), ours);
  EXPECT_EQ(times<InterruptingEngine>(GetParam(), ", completion: interrupt"), ours);
}

TEST(foreign_gemm, serves_for_its_overhead_and_from_the_doorbell_to_the_answer) {
  std::vector<OpRecord> records;
  const auto platform = platform_from_text(one_pe(gemm_with("overhead_ns: 3, data: engine")));
  LtEngine engine("engine");
  double next = 100;
  engine.ns = [&](const EngineModel&) { return next += 7.25; };
  bind(*platform, engine);
  run_kernel(*platform, options("gemm_dot", kSmall, &records));
  const auto served = services(records, Stage::gemm);
  ASSERT_EQ(served.size(), 12u);
  for (size_t i = 0; i < served.size(); ++i) {
    EXPECT_NEAR(engine.doorbells[i], served[i]->t_start + 3, 1e-3);
    EXPECT_NEAR(served[i]->t_end, engine.doorbells[i] + 107.25 + 7.25 * static_cast<double>(i), 1e-3);
  }
}

TEST(foreign_gemm, that_is_quick_still_streams_its_operands_unless_it_is_told_not_to) {
  for (const bool streams : {true, false}) {
    const std::string said = in_child([&]() -> std::string {
      std::vector<OpRecord> records;
      const auto platform =
          platform_from_text(one_pe(gemm_with(std::string("stream_operands: ") + (streams ? "true" : "false"))));
      LtEngine engine("engine");
      engine.ns = [](const EngineModel&) { return 0.125; };
      bind(*platform, engine, "pe.pe_gemm", false);
      run_kernel(*platform, options("engine_test_views", {}, &records));
      const OpRecord& r = *services(records, Stage::gemm).at(0);
      const double expected = streams ? std::max(2048.0 / 512, 1024.0 / 256) : 0.125;
      return std::abs(r.t_end - r.t_start - expected) < 1e-3 ? "" : std::to_string(r.t_end - r.t_start);
    });
    EXPECT_EQ(said, "") << streams;
  }
}

TEST(foreign_gemm, may_take_the_tcms_time_for_its_data) {
  std::vector<OpRecord> records;
  const auto platform = platform_from_text(one_pe(gemm_with("data: engine, stream_operands: false")));
  LtEngine engine("engine");
  engine.timed_accesses = true;
  engine.ns = [](const EngineModel& e) { return e.access_ns; };
  bind(*platform, engine);
  EXPECT_TRUE(run_kernel(*platform, options("engine_test_views", {}, &records)).passed);
  const OpRecord& r = *services(records, Stage::gemm).at(0);
  // 16³ with two operands of 4 bytes at 512 GB/s, 16² results of 4 bytes at 256 GB/s; in whole ps.
  EXPECT_NEAR(r.t_end - r.t_start, 2 * 4096 * 4.0 / 512 + 256 * 4.0 / 256, 256 * 33 * 0.5e-3);
  EXPECT_GT(r.t_end - r.t_start, 60);
}

/// Each resolution runs in a separate process.
TEST(foreign_gemm, that_runs_ahead_loses_no_part_of_a_tick_between_its_accesses) {
  const double exact = 2 * 4096 * 4.0 / 512 + 256 * 4.0 / 256;  // an access takes 7.8 or 15.6 ps
  if (std::getenv("KERNBENCH_TEST_TICK_FS")) {
    const auto platform = platform_from_text(one_pe(gemm_with("data: engine, stream_operands: false")));
    LtEngine engine("engine");
    engine.timed_accesses = engine.runs_ahead = true;
    engine.ns = [](const EngineModel& e) { return e.access_ns; };
    bind(*platform, engine);
    run_kernel(*platform, options("engine_test_views", {}));
    std::printf("took %.9f\n", engine.access_ns);
    return;
  }
  for (const uint64_t tick_fs : {1, 1'000, 100'000, 1'000'000, 10'000'000}) {
    const std::string command =
        "KERNBENCH_TEST_TICK_FS=" + std::to_string(tick_fs) + " '" +
        std::filesystem::read_symlink("/proc/self/exe").string() +
        "' --gtest_filter=foreign_gemm.that_runs_ahead_loses_no_part_of_a_tick_between_its_accesses 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    double took = -1;
    for (char line[512]; std::fgets(line, sizeof line, pipe);) std::sscanf(line, "took %lf", &took);
    pclose(pipe);
    const double tick = static_cast<double>(tick_fs) * 1e-6;
    EXPECT_NEAR(took, exact, tick + 1e-6) << tick_fs << " fs";
  }
}

// ---- registers

TEST(foreign_gemm, is_told_all_of_a_command) {
  const auto platform = platform_from_text(one_pe(gemm_with("data: engine, register_base: 0x4000")));
  LtEngine engine("engine");
  engine.base = 0x4000;
  std::vector<std::vector<uint64_t>> seen;
  engine.ns = [&](const EngineModel& e) {
    seen.push_back({e.get(reg::kOps), e.get(reg::kFlags), e.get(reg::kPe), e.get(reg::kTileId), e.get(reg::kM),
                    e.get(reg::kN), e.get(reg::kK), e.get(reg::kOperands), e.get(reg::kResult + reg::kAddress)});
    EXPECT_EQ(e.op(), "gemm");
    EXPECT_EQ(e.get(reg::kOperand + reg::kDtype), 4u);
    EXPECT_EQ(e.get(reg::kOperand + reg::kOperandBytes + reg::kDtype), 4u);
    EXPECT_EQ(e.get(reg::kResult + reg::kDtype), 6u);
    return 1.0;
  };
  bind(*platform, engine);
  run_kernel(*platform, options("gemm", kSmall));
  ASSERT_EQ(seen.size(), 12u);
  const uint64_t accumulator = reg::kAccumulator;
  // m, n, k = 20, 12, 24 in tiles of 8, 8, 16: k innermost.
  EXPECT_EQ(seen[0], (std::vector<uint64_t>{1, reg::kTile | reg::kData, 0, 0, 8, 8, 16, 2, accumulator}));
  EXPECT_EQ(seen[1], (std::vector<uint64_t>{1, reg::kTile | reg::kData | reg::kAccumulate | reg::kLast, 0, 1, 8, 8, 8,
                                            2, accumulator}));
  EXPECT_EQ(seen[11], (std::vector<uint64_t>{1, reg::kTile | reg::kData | reg::kAccumulate | reg::kLast, 0, 11, 4, 4, 8,
                                             2, accumulator}));
  EXPECT_EQ(engine.largest, reg::kEnd - reg::kOps);
}

TEST(foreign_math, is_told_the_ops_of_an_epilogue) {
  const auto platform = platform_from_text(one_pe(kOurGemm, math_with("max_bytes: 8")));
  LtEngine engine("engine");
  engine.ns = [](const EngineModel& e) {
    EXPECT_EQ(e.get(reg::kOps), 2u);
    EXPECT_EQ(e.op(0), "add");
    EXPECT_EQ(e.op(1), "relu");
    EXPECT_EQ(e.get(reg::kFlags), reg::kTile | reg::kLast);
    EXPECT_EQ(e.get(reg::kOperands), 0u);
    EXPECT_EQ(e.get(reg::kRank), 2u);
    EXPECT_EQ(e.get(reg::kShape), e.get(reg::kM));
    return 5.0;
  };
  bind(*platform, engine, "pe.pe_math", false);
  auto params = kSmall;
  params[0].second = "f32";
  params.emplace_back("activation", "relu");
  EXPECT_TRUE(run_kernel(*platform, options("gemm_epilogue", params)).passed);
  EXPECT_EQ(engine.doorbells.size(), 6u) << "the last k of every output tile";
  EXPECT_EQ(engine.largest, 8u);
  EXPECT_EQ(engine.writes, 6 * ((reg::kEnd - reg::kOps) / 8 + 1));
}

// ---- the TCM

/// Makes illegal accesses to the TCM during a command.
TEST(foreign_gemm, reaches_its_operands_and_its_result_and_nothing_else) {
  const auto platform = platform_from_text(one_pe());
  LtEngine engine("engine");
  int looked = 0;
  const auto access = [&](tlm::tlm_command command, uint64_t address, unsigned n) {
    std::vector<uint8_t> bytes(n);
    Shape s;
    s.command = command;
    s.address = address;
    s.data = bytes;
    tlm::tlm_generic_payload p;
    s.fill(p);
    sc_core::sc_time delay;
    engine.tcm->b_transport(p, delay);
    EXPECT_EQ(delay > sc_core::SC_ZERO_TIME, p.get_response_status() == tlm::TLM_OK_RESPONSE);
    return p.get_response_status();
  };
  engine.ns = [&](const EngineModel& e) {
    ++looked;
    const uint64_t a = e.get(reg::kOperand), c = e.get(reg::kResult);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, a, 1024), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, a, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "an operand is a value";
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, c, 1024), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, 0x80000, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, c + 1022, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, ~0ull - 1, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    tlm::tlm_generic_payload p;
    tlm::tlm_dmi dmi;
    p.set_address(a);
    EXPECT_FALSE(engine.tcm->get_direct_mem_ptr(p, dmi));
    return 1.0;
  };
  bind(*platform, engine);
  EXPECT_TRUE(run_kernel(*platform, options("engine_test_views", {})).passed);
  EXPECT_EQ(looked, 1);
  EXPECT_EQ(access(tlm::TLM_READ_COMMAND, 0, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "no command is in service";
}

TEST(foreign_gemm, may_read_the_tcm_by_nb_transport) {
  const auto platform = platform_from_text(one_pe(gemm_with("data: engine, stream_operands: false")));
  struct Model : EngineModel {
    tlm_utils::simple_target_socket<Model> socket{"socket"};
    AtInitiator* reader = nullptr;
    std::vector<AtInitiator::Issued> reads;
    sc_core::sc_event go;
    explicit Model(sc_core::sc_module_name name) : EngineModel(name) {
      socket.register_b_transport(this, &Model::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
      if (!serve(p)) return;
      for (int i = 0; i < 6; ++i) {
        AtInitiator::Issued read;
        read.ending = static_cast<AtInitiator::Ending>(i % 3);
        read.issue_delay_ns = i < 3 ? 0 : 2;
        read.shape.command = i < 5 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
        read.shape.address = i < 5 ? get(reg::kOperand) : get(reg::kResult);
        read.shape.data.assign(1024, 0);
        reads.push_back(read);
      }
      go.notify(sc_core::SC_ZERO_TIME);
      wait(sc_core::sc_time(100, sc_core::SC_NS));
    }
  };
  Model engine("engine");
  AtInitiator reader("reader", [&](AtInitiator& self) {
    wait(engine.go);
    for (AtInitiator::Issued& r : engine.reads) self.issue(r);
  });
  TlmEngine& e = platform->tlm_engine("pe.pe_gemm");
  e.socket().bind(engine.socket);
  reader.socket.bind(e.tcm_socket());
  EXPECT_FALSE(run_kernel(*platform, options("engine_test_views", {})).passed) << "the result is all zeros";
  ASSERT_EQ(engine.reads.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    const AtInitiator::Issued& r = engine.reads[i];
    EXPECT_TRUE(r.ended);
    EXPECT_EQ(r.status, tlm::TLM_OK_RESPONSE);
    EXPECT_NEAR(r.done_ns - r.begin_ns, i < 5 ? 2.0 : 4.0, 1e-3) << "1 KiB at 512 and at 256 GB/s";
    if (i == 0 || i == 5) continue;
    EXPECT_EQ(r.shape.data, engine.reads[0].shape.data);
  }
  EXPECT_NE(engine.reads[0].shape.data, std::vector<uint8_t>(1024, 0));
  EXPECT_EQ(reader.pool.in_use(), 0u);
}

// ---- errors

std::string failure(Platform& platform, const std::string& kernel,
                    const std::vector<std::pair<std::string, std::string>>& params) {
  try {
    run_kernel(platform, options(kernel, params));
  } catch (const RunError& e) {
    return e.what();
  }
  return "";
}

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& p : parts) EXPECT_NE(text.find(p), std::string::npos) << p << " is not in: " << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST_P(AnyKernel, fails_with_its_line_where_the_engine_answers_with_an_error) {
  for (const uint64_t offset : {reg::kDoorbell, reg::kOps}) {
    const std::string said = in_child([&] {
      const auto platform = platform_from_text(one_pe());
      LtEngine engine("engine");
      engine.fails_at = offset;
      bind(*platform, engine);
      return failure(*platform, GetParam(), kSmall);
    });
    expect_in(said, {".cpp:", "pe.pe_gemm", "gemm", "write of ", "answered TLM_GENERIC_ERROR_RESPONSE"});
  }
}

TEST(foreign_gemm, fails_with_its_line_where_the_status_says_error) {
  const auto platform = platform_from_text(one_pe(gemm_with("completion: interrupt")));
  InterruptingEngine engine("engine");
  engine.status = reg::kError;
  bind(*platform, engine, "pe.pe_gemm", false);
  platform->tlm_engine("pe.pe_gemm").interrupt.bind(engine.interrupt);
  expect_in(failure(*platform, "gemm_dot", kSmall), {"gemm_dot.cpp:", "pe.pe_gemm: gemm_i8 at", "STATUS says error"});
}

TEST_P(AnyKernel, fails_where_the_engine_leaves_out_a_part_of_the_result) {
  const auto platform = platform_from_text(one_pe());
  LtEngine engine("engine");
  engine.leave_out = 5;
  bind(*platform, engine);
  expect_in(failure(*platform, GetParam(), kSmall), {"pe.pe_gemm", "252 of the 256 bytes of the result"});
}

TEST(foreign_math, refuses_an_epilogue_of_its_own_composite) {
  const auto platform = platform_from_text(one_pe(kOurGemm, math_with("data: engine")));
  LtEngine engine("engine");
  bind(*platform, engine, "pe.pe_math");
  expect_in(failure(*platform, "engine_test_elementwise_epilogue", {}),
            {"foreign_engines_stand_in_for_ours_test.cpp:", "pe.pe_math", "has an epilogue, which"});
}

TEST(foreign_math, refuses_a_result_that_is_not_there_yet) {
  // One PE is sufficient: the composite's tiles and the sum alternate in its accel_slot.
  const auto platform = platform_from_text(one_pe(gemm_with("data: engine"), math_with("data: engine")));
  LtEngine gemm("gemm"), math("math");
  gemm.ns = [](const EngineModel&) { return 500.0; };
  bind(*platform, gemm);
  bind(*platform, math, "pe.pe_math");
  expect_in(failure(*platform, "engine_test_in_a_hurry", {}), {"pe.pe_math", "composite_gemm", "wait for it first"});
}

std::string start(const std::string& yaml, const std::function<void(Platform&)>& bind_it) {
  return in_child([&]() -> std::string {
    const auto platform = platform_from_text(yaml);
    bind_it(*platform);
    try {
      sc_core::sc_start(sc_core::SC_ZERO_TIME);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  });
}

TEST(foreign_engine, that_is_bound_wrongly_is_told_in_one_line) {
  expect_in(start(one_pe(gemm_with("")), [](Platform&) {}), {"pe.pe_gemm: no engine is bound to its socket"});
  expect_in(start(one_pe(),
                  [](Platform& p) {
                    auto* engine = new LtEngine("engine");
                    bind(p, *engine, "pe.pe_gemm", false);
                  }),
            {"data: engine, but nothing is bound to its tcm_socket"});
  expect_in(start(one_pe(gemm_with("")),
                  [](Platform& p) {
                    auto* engine = new LtEngine("engine");
                    bind(p, *engine);
                  }),
            {"its tcm_socket is bound, and data: replay"});
  const auto interrupting = [](bool bound) {
    return [bound](Platform& p) {
      auto* engine = new InterruptingEngine("engine");
      bind(p, *engine, "pe.pe_gemm", false);
      if (bound) p.tlm_engine("pe.pe_gemm").interrupt.bind(engine->interrupt);
    };
  };
  expect_in(start(one_pe(gemm_with("completion: interrupt")), interrupting(false)),
            {"nothing is bound to its interrupt"});
  expect_in(start(one_pe(gemm_with("")), interrupting(true)), {"completion: response does not look at it"});
}

TEST(foreign_engine, of_another_name_or_width_is_told) {
  const auto platform = platform_from_text(one_pe(gemm_with("bus_width: 64")));
  EXPECT_THROW(platform->tlm_engine("pe.pe_math"), InputError);
  EXPECT_THROW(platform->tlm_engine("pe.pe_gemm").socket<32>(), std::logic_error);
  EXPECT_NO_THROW(platform->tlm_engine("pe.pe_gemm").socket<64>());
  EXPECT_THROW(platform_from_text(one_pe(gemm_with("max_bytes: 12"))), topology::TopologyError);
}

TEST(foreign_engine, that_never_completes_is_in_the_report_of_what_is_stuck) {
  for (const bool interrupts : {false, true}) {
    const std::string said = in_child([&]() -> std::string {
      const auto platform = platform_from_text(one_pe(gemm_with(interrupts ? "completion: interrupt" : "")));
      std::unique_ptr<LtEngine> lt;
      std::unique_ptr<InterruptingEngine> interrupting;
      if (interrupts) {
        interrupting = std::make_unique<InterruptingEngine>("engine");
        interrupting->silent = true;
        bind(*platform, *interrupting, "pe.pe_gemm", false);
        platform->tlm_engine("pe.pe_gemm").interrupt.bind(interrupting->interrupt);
      } else {
        lt = std::make_unique<LtEngine>("engine");
        lt->never = true;
        bind(*platform, *lt, "pe.pe_gemm", false);
      }
      return failure(*platform, "gemm_dot", kSmall);
    });
    EXPECT_NE(said.find("kernel waits for gemm_i8"), std::string::npos) << said;
    EXPECT_NE(said.find(interrupts ? "pe.pe_gemm waits for the engine's interrupt"
                                   : "pe.pe_gemm waits for the engine's answer to the doorbell"),
              std::string::npos)
        << said;
  }
}

}  // namespace
}  // namespace kernbench::testing::foreign_engines_stand_in_for_ours
