// SPDX-License-Identifier: Apache-2.0
// Can a run be called as a function: repeatedly, besides the caller's own simulation, on the caller's platform, with
// errors as exceptions?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/entry/run.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/record/run_record.h"

namespace kernbench {
namespace {

spec::RunSpec small_run() {
  spec::RunSpec s;
  s.set("topology", KERNBENCH_TOPOLOGIES "/small.yaml");
  s.set("kernel", "vector_add");
  s.add("param", "n=64");
  s.set("verify", "true");
  return s;
}

/// The exception of `run`; empty: none.
template <class Fault>
std::string fault_of(const spec::RunSpec& s) {
  try {
    run(s);
  } catch (const Fault& e) {
    return e.what();
  }
  return "";
}

TEST(Run, IsTheSameEveryTimeAndOnAPlatformOfTheCallers) {
  const RunRecord first = run(small_run()), second = run(small_run());
  EXPECT_EQ(first.status, 0);
  EXPECT_GT(first.number("sim_ns"), 0);
  EXPECT_EQ(first.figures, second.figures);
  EXPECT_EQ(first.found, nullptr);
  EXPECT_NE(first.report().find("verified"), std::string::npos);

  Platform platform("mine", std::string(KERNBENCH_TOPOLOGIES "/small.yaml"));
  EXPECT_EQ(run(small_run()).figures, first.figures) << "before the caller's simulation";
  const RunRecord here = run(small_run(), platform);
  EXPECT_EQ(here.figures, first.figures);
  EXPECT_EQ(here.document, first.document);
  ASSERT_NE(here.found, nullptr);
  EXPECT_EQ(here.found->end_ns, here.number("sim_ns"));
  EXPECT_EQ(run(small_run()).figures, first.figures) << "behind it, with threads of the replay";
}

TEST(Run, RemediesAndAPageComeByOptions) {
  const std::string page = testing::TempDir() + "run.html";
  spec::RunSpec s = small_run();
  s.set("explain", "verify");
  s.set("report", page);
  s.set("energy", KERNBENCH_TOPOLOGIES "/energy/n7.yaml");
  const RunRecord r = run(s);
  EXPECT_FALSE(r.verdict.empty());
  EXPECT_GT(r.number("energy_j"), 0);
  EXPECT_GT(std::filesystem::file_size(page), 10000u);
  std::filesystem::remove(page);
}

TEST(Run, ThrowsWhatTheCommandLinePrints) {
  spec::RunSpec s = small_run();
  s.set("kernel", "no_such");
  EXPECT_EQ(fault_of<InputError>(s).find("there is no kernel 'no_such'"), 0u) << fault_of<InputError>(s);
  s = small_run();
  s.set("threads", "x");
  EXPECT_EQ(fault_of<InputError>(s), "kernbench: --threads: found 'x', expected a whole number from 0 to 1024");
  s = small_run();
  s.list("topology").clear();
  EXPECT_EQ(fault_of<InputError>(s), "kernbench: --topology is required");
  s = small_run();
  s.set("max-time", "1");
  EXPECT_NE(fault_of<RunError>(s), "");
  s = small_run();
  s.set("corrupt", "c");
  const RunRecord wrong = run(s);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_NE(wrong.report().find("VERIFICATION FAILED"), std::string::npos);
}

struct Caller : sc_core::sc_module {
  SC_HAS_PROCESS(Caller);
  explicit Caller(const sc_core::sc_module_name& name) : sc_module(name) { SC_THREAD(call); }
  void call() { said = fault_of<RunError>(small_run()); }
  std::string said;
};

TEST(Run, IsRefusedInAProcessOfASimulation) {
  Caller caller("caller");
  sc_core::sc_start();
  EXPECT_NE(caller.said.find("called in a process"), std::string::npos) << caller.said;
}

}  // namespace
}  // namespace kernbench
