// SPDX-License-Identifier: Apache-2.0
// Does `run` with check_races report each kind of race, with the kernel's lines, and nothing for the corrected twin?
#include <gtest/gtest.h>

#include <sstream>

#include "kernbench/phase2/check/races.h"
#include "kernbench/platform/run/record/run_report.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "system_support.h"

namespace kernbench::testing::races_are_reported {
namespace {

// x and y have one row of 64 for each PE; z is one row that all share.

void load_overtakes_store(tl::Context& tl, const tl::Args& args, bool corrected) {
  const auto e = tl.store_async(args["y"], tl.load(args["x"]));
  if (corrected) tl.wait(e);
  tl.load(args["y"]);
}

void store_over_a_load(tl::Context& tl, const tl::Args& args, bool corrected) {
  const auto value = tl.load(args["x"]);
  tl.store(args["y"], value);
  const auto old = tl.load_async(args["y"]);
  if (corrected) tl.wait(old);
  tl.store(args["y"], value);
}

void result_that_another_engine_still_makes(tl::Context& tl, const tl::Args& args, bool corrected) {
  const auto x = tl.load(args["x"]).reshape({8, 8});
  const auto e = tl.async().exp(x);
  if (corrected) tl.wait(e);
  const auto y = tl.dot(e, x);
  tl.store(args["y"], y.reshape({1, 64}));
}

void composites_without_a_wait_between(tl::Context& tl, const tl::Args& args, bool corrected) {
  const auto first = tl.composite(tl::elementwise("neg", {args["x"].block()}).out(args["y"]));
  if (corrected) tl.wait(first);
  tl.wait(tl.composite(tl::elementwise("abs", {args["y"].block()}).out(args["y"])));
  tl.wait(first);
}

void all_write_one_row(tl::Context& tl, const tl::Args& args, bool corrected) {
  const auto x = tl.load(args["x"]);
  if (!corrected || tl.index() == 0) tl.store(args["z"], x);
}

void one_reads_what_another_writes(tl::Context& tl, const tl::Args& args, bool corrected) {
  const auto x = tl.load(args["x"]);
  tl.store(args["y"], x);
  tl.load(corrected || tl.index() == 0 ? args["y"] : args.shard("y", 0));
}

/// Loads its row repeatedly, with others in between; the corrected twin loads another place each time.
void polls(tl::Context& tl, const tl::Args& args, bool corrected) {
  if (args["x"].empty()) return;
  for (int64_t i = 0; i < 2000; ++i) {
    tl.load(args["x"].ptr + (corrected ? i % 60 : 0), {1});
    tl.store(args["y"].ptr + i % 64, tl.load(args["x"].ptr + (i + 1) % 64, {1}));
  }
}

KernelSpec spec_of(const std::string& name, void (*body)(tl::Context&, const tl::Args&, bool)) {
  const auto rows = [](const Params&) { return Dims{2, 64}; };
  const auto row = [](const Params&) { return Dims{1, 64}; };
  const auto f32 = [](const Params&) { return DType::f32; };
  KernelSpec s;
  s.name = name;
  s.help = "a race, or its corrected twin";
  s.params = {ParamSpec::flag("corrected", false, "without the race")};
  s.tensors = {{"x", TensorSpec::Role::in, rows, f32, Placement::rows, Init::uniform()},
               {"y", TensorSpec::Role::out, rows, f32, Placement::rows, {}},
               {"z", TensorSpec::Role::out, row, f32, Placement::single, {}}};
  s.function = [body](tl::Context& tl, const tl::Args& args) { body(tl, args, args.flag("corrected")); };
  return s;
}

const RegisterKernel registered[] = {
    RegisterKernel{spec_of("load_overtakes_store", load_overtakes_store)},
    RegisterKernel{spec_of("store_over_a_load", store_over_a_load)},
    RegisterKernel{spec_of("result_that_another_engine_still_makes", result_that_another_engine_still_makes)},
    RegisterKernel{spec_of("composites_without_a_wait_between", composites_without_a_wait_between)},
    RegisterKernel{spec_of("polls", polls)},
    RegisterKernel{spec_of("all_write_one_row", all_write_one_row)},
    RegisterKernel{spec_of("one_reads_what_another_writes", one_reads_what_another_writes)}};

/// "kind: op of PE, op of PE" of each race in a run on the first two PEs, followed by the text of the first.
std::vector<std::string> races_of(const std::string& kernel, bool corrected) {
  std::vector<std::string> found;
  const std::string all = in_child([&] {
    const auto platform = platform_from_file(topology_path("small.yaml"));
    RunOptions options;
    options.kernel = kernel;
    options.params = {{"corrected", corrected ? "true" : "false"}};
    options.pes = platform->graph().pes[0].id + "," + platform->graph().pes[1].id;
    options.check_races = true;
    const RunReport report = run_kernel(*platform, std::move(options));
    std::string text = report.races_checked ? "" : "not looked for\n";
    for (const Race& r : report.races) {
      text += std::string(name_of(r.kind)) + ": " + r.first.what + " " + std::to_string(r.first.pe) + ", " +
              r.second.what + " " + std::to_string(r.second.pe) + " x" + std::to_string(r.count);
      const bool lines = std::string(r.first.where.file).find("races_are_reported_test.cpp") != std::string::npos &&
                         r.first.where.line > 0 && r.second.where.line > 0;
      text += lines && r.first.done_ns > r.first.submit_ns && r.nbytes == 256 ? "\n" : " without line, time or range\n";
    }
    return text;
  });
  for (size_t at = 0; at < all.size();) {
    const size_t end = all.find('\n', at);
    found.push_back(all.substr(at, end - at));
    at = end == std::string::npos ? all.size() : end + 1;
  }
  return found;
}

using Found = std::vector<std::string>;

void expect(const std::string& kernel, const Found& races) {
  EXPECT_EQ(races_of(kernel, false), races) << kernel;
  EXPECT_EQ(races_of(kernel, true), Found{}) << kernel << ", corrected";
}

TEST(CheckRaces, tells_a_load_that_may_overtake_a_store) {
  expect("load_overtakes_store", {"read_of_unfinished_write: dma_write 0, dma_read 0 x2"});
}

TEST(CheckRaces, tells_a_store_over_a_load_in_flight) {
  expect("store_over_a_load", {"overwrite_of_unfinished_read: dma_read 0, dma_write 0 x2"});
}

TEST(CheckRaces, tells_a_result_that_another_engine_still_makes) {
  expect("result_that_another_engine_still_makes", {"read_of_unfinished_write: exp 0, gemm_f32 0 x2"});
}

TEST(CheckRaces, tells_composites_that_overlap) {
  expect("composites_without_a_wait_between", {"read_of_unfinished_write: composite_math 0, composite_math 0 x2",
                                               "two_writes: composite_math 0, composite_math 0 x2"});
}

TEST(CheckRaces, tells_two_pes_that_write_one_range) {
  expect("all_write_one_row", {"two_writes: dma_write 0, dma_write 1 x1"});
}

TEST(CheckRaces, tells_a_pe_that_reads_what_another_writes) {
  expect("one_reads_what_another_writes", {"read_of_unfinished_write: dma_write 0, dma_read 1 x1"});
}

/// A program that uses PeBackend directly, which may allocate TCM that a DMA still writes.
std::string races_of_tcm_used_again(bool corrected) {
  return in_child([&] {
    const auto platform = platform_from_file(topology_path("small.yaml"));
    CommandHistory history;
    platform->pes().attach_history(&history);
    const float ones[16] = {1};
    platform->system().image().write({Space::hbm, kNoPe}, 0, ones, sizeof ones);
    const auto program = [&](PeBackend& pe) {
      const auto command = [&](CommandType type, const char* name, uint64_t tcm) {
        auto d = std::make_shared<OpDesc>();
        d->type = type;
        d->name = d->op = name;
        d->where = {"program.cpp", static_cast<int>(tcm) + 1};
        TensorRef memory;
        memory.shape = {16};
        memory.strides = {1};
        d->output = memory;
        d->output.space = Space::tcm;
        d->output.pe = pe.pe_index();
        d->output.addr = tcm;
        d->operands.resize(1);
        d->operands[0].ref = type == CommandType::load ? memory : d->output;
        return pe.submit(d);
      };
      const uint64_t room = pe.tcm_alloc(64);
      const Ticket load = command(CommandType::load, "dma_read", room);
      if (corrected) pe.wait(load);
      command(CommandType::math, "neg", room);
    };
    platform->pes().runner(0).launch(program, 0, [](const KernelOutcome&) {});
    sc_core::sc_start();
    std::string text;
    for (const Race& r : find_races(history))
      text += std::string(name_of(r.kind)) + " in " + std::string(name_of(r.space)) + "; ";
    return text;
  });
}

std::string* told = nullptr;

/// The messages about a polling kernel with a limit of `many` accesses, and about its races.
std::string polling(bool corrected, uint64_t many) {
  return in_child([&] {
    std::string text;
    told = &text;
    sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) {
      *told += std::string(r.get_msg_type()) + ": " + r.get_msg() + "; ";
    });
    const auto platform = platform_from_file(topology_path("small.yaml"));
    RunOptions o;
    o.kernel = "polls";
    o.params = {{"corrected", corrected ? "true" : "false"}};
    o.check_races = true;
    platform->pes().runner(1).polls_after(many);
    const RunReport r = run_kernel(*platform, std::move(o));
    std::ostringstream report;
    write_run_json(report, r);
    const std::string json = report.str();
    const size_t races = json.find("\"races\"");
    return text + json.substr(races, json.find('}', races) - races);
  });
}

TEST(CheckRaces, ends_where_a_kernel_polls_and_says_so) {
  const std::string polls = polling(false, 1000);
  for (const char* word :
       {"/kernbench/polling: sip0.cube0.pe1 has accessed 0x", " 1000 times, now at races_are_reported",
        "race detection stops here", "\"unknown\": \"sip0.cube0.pe1 has accessed"})
    EXPECT_NE(polls.find(word), std::string::npos) << word << ": " << polls;
  EXPECT_EQ(polls.find("/kernbench/polling"), polls.rfind("/kernbench/polling")) << "once";
  for (const std::string& quiet : {polling(true, 1000), polling(false, 5000)}) {
    EXPECT_EQ(quiet.find("polling"), std::string::npos) << quiet;
    EXPECT_EQ(quiet.find("unknown"), std::string::npos) << quiet;
  }
}

TEST(CheckRaces, tells_tcm_that_is_used_under_a_dma) {
  const std::string races = races_of_tcm_used_again(false);
  EXPECT_NE(races.find("read_of_unfinished_write in tcm"), std::string::npos) << races;
  EXPECT_NE(races.find("two_writes in tcm"), std::string::npos) << races;
  EXPECT_EQ(races_of_tcm_used_again(true), "");
}

}  // namespace
}  // namespace kernbench::testing::races_are_reported
