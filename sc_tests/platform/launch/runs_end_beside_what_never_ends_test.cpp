// SPDX-License-Identifier: Apache-2.0
// Runs and jobs in a shared simulation: an endless clock, slices of sc_start(t), sc_pause, sc_stop, several consecutive
// runs; messages about blocked jobs and about error responses of memories.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>

#include "clock.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/job.h"
#include "kernbench/platform/run/host_program.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/host/port.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

using sc_core::sc_time;

sc_time ns(double t) {
  return sc_time(t, sc_core::SC_NS);
}

std::string one_pe(const std::string& memory = "{id: hbm, kind: hbm_ctrl, attrs: {overhead_ns: 10}}",
                   const std::string& link = "") {
  return R"(
timing: {links: cut_through, response: routed, header_bytes: 16}
nodes:
- {id: pe.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}
- {id: pe.pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}
- {id: pe.pe_dma, kind: pe_dma, attrs: {queue_depth: 2}}
- {id: pe.pe_fetch_store, kind: pe_fetch_store}
- {id: pe.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 4096, freq_ghz: 1, rates: {f32: 0.5}}}
- {id: pe.pe_math, kind: pe_math, attrs: {lanes: 128, freq_ghz: 1, cycles: {exp: 4}}}
- {id: pe.pe_tcm, kind: pe_tcm, attrs: {size_mb: 16, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 512}}
- {id: r, kind: router, attrs: {overhead_ns: 1}}
- )" + memory +
         R"(
links:
- {from: pe.pe_dma, to: r, distance_mm: 0.5, bw_gbs: 256}
- {from: r, to: hbm, distance_mm: 2.5, bw_gbs: 256}
)" + link +
         R"(memories:
- {node: hbm, space: hbm, base: 0, size: 16777216}
)";
}

RunOptions options_of(const std::string& kernel) {
  RunOptions o;
  o.kernel = kernel;
  o.verify = true;
  return o;
}

/// end_ns of an isolated run, in a separate process.
double alone(const std::string& kernel) {
  return std::stod(in_child([&] {
    const auto platform = platform_from_file(topology_path("small.yaml"));
    return std::to_string(run_kernel(*platform, options_of(kernel)).end_ns);
  }));
}

class EveryKernel : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryKernel, runs_several_times_beside_a_clock) {
  const double expected = alone(GetParam());
  const auto platform = platform_from_file(topology_path("small.yaml"));
  Clock clock("clocked");
  double end = 0;
  RunReport first;
  for (int i = 0; i < 3; ++i) {
    RunOptions o = options_of(GetParam());
    o.timed_transfer = i == 2;
    const RunReport r = run_kernel(*platform, std::move(o));
    EXPECT_TRUE(r.passed);
    EXPECT_GE(r.begin_ns, end);
    end = r.begin_ns + r.end_ns;
    EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_PAUSED);
    if (i == 2) continue;
    EXPECT_NEAR(r.end_ns, expected, 1e-3) << "run " << i;
    if (i == 0) first = r;
    ASSERT_EQ(r.engines.size(), first.engines.size());
    for (size_t e = 0; e < r.engines.size(); ++e) {
      EXPECT_EQ(r.engines[e].ops, first.engines[e].ops);
      EXPECT_NEAR(r.engines[e].busy_ns, first.engines[e].busy_ns, 1e-3) << r.engines[e].id;
    }
    EXPECT_EQ(r.queues.size(), first.queues.size());
  }
  EXPECT_GT(clock.edges, 0u);
}

INSTANTIATE_TEST_SUITE_P(of, EveryKernel, ::testing::Values("gemm", "vector_add", "all_reduce", "barrier"),
                         [](const auto& i) { return std::string(i.param); });

/// The end is that of its last operation, not of the clock.
TEST(run_program, ends_beside_a_clock) {
  const auto run = [] {
    const auto platform = platform_from_file(topology_path("six_sip_torus.yaml"));
    RunOptions o;
    o.program = "all_reduce_loop";
    o.params = {{"n", "64"}, {"times", "2"}};
    o.ranks = "2";
    o.pes = "leaders";
    o.verify = true;
    const ProgramReport r = run_program(*platform, std::move(o));
    EXPECT_TRUE(r.run.passed);
    return r.run.end_ns;
  };
  const double alone = std::stod(in_child([&] { return std::to_string(run()); }));
  Clock clock("clocked");
  EXPECT_NEAR(run(), alone, 1e-3);
  EXPECT_GT(clock.edges, 0u);
  EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_PAUSED);
}

TEST(several_runs, of_virtual_addresses_leave_no_mapping) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  for (int i = 0; i < 3; ++i) {
    RunOptions o = options_of("gemm");
    o.addresses = AddressMode::virtual_;
    o.timed_transfer = i == 1;
    EXPECT_TRUE(run_kernel(*platform, std::move(o)).passed);
  }
}

TEST(several_runs, of_jobs_and_other_kernels_do_not_mind_what_is_pending) {
  const auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  Job job(*platform, {"vector_add", {{"n", "4096"}}});
  job.place_random("a", 1);
  job.place_random("b", 2);
  job.run();
  EXPECT_THROW(job.read_back("c"), RunError) << "pending";
  for (const char* kernel : {"gemm", "vector_add", "gemm"})
    EXPECT_TRUE(run_kernel(*platform, options_of(kernel)).passed);
}

TEST(job, runs_and_is_verified_again_and_again_beside_a_clock) {
  const auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  JobOptions o{"gemm", {{"m", "64"}, {"n", "64"}, {"k", "64"}}};
  o.verify = true;
  Job job(*platform, o);
  double took = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    job.place_random("a", seed);
    job.place_random("b", seed + 10);
    const LaunchResult& r = job.run();
    ASSERT_TRUE(r.response.ok()) << r.response.text;
    if (seed > 1) {
      EXPECT_NEAR(r.response.done_ns - r.start_ns, took, 1e-3);
    }
    took = r.response.done_ns - r.start_ns;
    const JobVerification v = job.verify();
    EXPECT_TRUE(v.passed);
    ASSERT_EQ(v.tensors.size(), 1u);
    EXPECT_EQ(v.tensors[0].name, "c");
  }
}

TEST(job, that_is_wrong_is_not_verified) {
  const auto platform = platform_from_text(one_pe());
  JobOptions o{"vector_add", {{"n", "256"}}};
  o.verify = true;
  Job job(*platform, o);
  EXPECT_THROW(job.verify(), RunError);
  job.place_random("a", 1);
  job.place_random("b", 2);
  job.run();
  EXPECT_TRUE(job.verify().passed);
  const std::vector<uint8_t> wrong(4, 0x41);
  platform->place(job.ranges("c")[0].address, wrong.data(), wrong.size());
  EXPECT_FALSE(job.verify().passed);
}

TEST(job, goes_on_in_slices) {
  const auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  JobOptions o{"vector_add", {{"n", "4096"}}};
  o.verify = true;
  Job job(*platform, o);
  job.place_random("a", 1);
  job.place_random("b", 2);
  for (int i = 0; i < 2; ++i) {
    int slices = 0;
    job.start();
    while (job.running()) {
      sc_core::sc_start(ns(10));
      ASSERT_LT(++slices, 1000);
    }
    EXPECT_GT(slices, 10);
    EXPECT_TRUE(job.verify().passed);
    sc_core::sc_start(ns(100));  // idle
  }
}

/// Calls a function at a time.
struct At : sc_core::sc_module {
  At(sc_core::sc_module_name name, double t_ns, std::function<void()> what)
      : sc_module(name), t_ns_(t_ns), what_(std::move(what)) {
    SC_HAS_PROCESS(At);
    SC_THREAD(run);
  }
  void run() {
    wait(ns(t_ns_));
    what_();
  }
  double t_ns_;
  std::function<void()> what_;
};

TEST(job, goes_on_after_a_pause_of_somebody_elses) {
  const auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  At pause("pause", 100, [] { sc_core::sc_pause(); });
  JobOptions o{"vector_add", {{"n", "4096"}}};
  o.verify = true;
  Job job(*platform, o);
  job.place_random("a", 1);
  job.place_random("b", 2);
  EXPECT_THROW(job.run(), RunError);
  EXPECT_TRUE(job.running());
  sc_core::sc_start(ns(10000));
  EXPECT_FALSE(job.running());
  EXPECT_TRUE(job.verify().passed);
}

// Actions in flight at a fault may end in a simulation that continues.
TEST(run_kernel, is_told_of_a_pause_of_somebody_elses_and_the_simulation_goes_on) {
  const auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  At pause("pause", 100, [] { sc_core::sc_pause(); });
  try {
    run_kernel(*platform, options_of("vector_add"));
    FAIL() << "it was paused";
  } catch (const RunError& e) {
    EXPECT_STREQ(e.what(), "kernel vector_add: the simulation was paused or stopped before it had completed");
  }
  sc_core::sc_start(ns(100000));
}

TEST(run_kernel, and_a_job_say_in_a_process_that_they_simulate_themselves) {
  const auto platform = platform_from_text(one_pe());
  Job job(*platform, JobOptions{"vector_add", {{"n", "4096"}}});
  std::vector<std::string> said;
  const auto told = [&](auto call) {
    try {
      call();
    } catch (const RunError& e) {
      said.push_back(e.what());
    }
  };
  At inside("inside", 100, [&] {
    told([&] { run_kernel(*platform, options_of("vector_add")); });
    told([&] { job.run(); });
  });
  sc_core::sc_start(ns(1000));
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], said[1]);
  EXPECT_NE(said[0].find("called in a process, expected sc_main"), std::string::npos) << said[0];
  EXPECT_FALSE(job.running());
  EXPECT_TRUE(run_kernel(*platform, options_of("vector_add")).passed);
}

TEST(job, may_be_stopped_and_destroyed_in_mid_run) {
  auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  At stop("stop", 100, [] { sc_core::sc_stop(); });
  auto job = std::make_unique<Job>(*platform, JobOptions{"vector_add", {{"n", "4096"}}});
  job->place_random("a", 1);
  job->place_random("b", 2);
  job->start();
  sc_core::sc_start();
  EXPECT_TRUE(job->running());
  EXPECT_FALSE(job->waiting().empty());
  job.reset();
  platform.reset();
}

TEST(job, that_is_destroyed_in_mid_run_leaves_its_pes_to_the_next) {
  const auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  for (int i = 0; i < 3; ++i) {
    auto job = std::make_unique<Job>(*platform, JobOptions{"vector_add", {{"n", "4096"}}});
    job->place_random("a", 1);
    job->place_random("b", 2);
    job->start();
    sc_core::sc_start(ns(i == 0 ? 1 : 100));
    ASSERT_TRUE(job->running());
    job.reset();
    JobOptions o{"gemm", {{"m", "64"}, {"n", "64"}, {"k", "64"}}};
    o.verify = true;
    Job next(*platform, o);
    next.place_random("a", 3);
    next.place_random("b", 4);
    const LaunchResult& r = next.run();
    ASSERT_TRUE(r.response.ok()) << r.response.text;
    EXPECT_TRUE(next.verify().passed);
  }
}

/// A platform suspends and resumes a kernel's process: meanwhile the run has not ended.
TEST(job, waits_for_a_process_that_is_suspended) {
  const auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  const auto kernels = [](bool suspend) {
    std::function<void(const std::vector<sc_core::sc_object*>&)> visit = [&](const auto& objects) {
      for (sc_core::sc_object* o : objects) {
        sc_core::sc_process_handle process(o);
        const bool kernel = std::string(o->basename()).rfind("kernel", 0) == 0;
        if (process.valid() && kernel) suspend ? process.suspend() : process.resume();
        visit(o->get_child_objects());
      }
    };
    visit(sc_core::sc_get_top_level_objects());
  };
  At stop("stop", 100, [&] { kernels(true); });
  At go_on("go_on", 5000, [&] { kernels(false); });
  JobOptions o{"vector_add", {{"n", "4096"}}};
  o.verify = true;
  Job job(*platform, o);
  job.place_random("a", 1);
  job.place_random("b", 2);
  ASSERT_TRUE(job.run().response.ok()) << job.result().response.text;
  EXPECT_GT(job.result().response.done_ns, 5000) << "the kernel has stood still";
  EXPECT_NEAR(job.result().response.done_ns, sc_core::sc_time_stamp().to_seconds() * 1e9, 1e-3);
  EXPECT_TRUE(job.verify().passed);
}

TEST(run_kernel, says_that_an_error_has_ended_the_simulation_before) {
  const auto platform = platform_from_text(one_pe());
  At fails("fails", 10, [] { SC_REPORT_ERROR("/somebody", "else's error"); });
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) {
    if (r.get_severity() == sc_core::SC_ERROR) throw r;
  });
  EXPECT_ANY_THROW(sc_core::sc_start(ns(100)));
  try {
    run_kernel(*platform, options_of("vector_add"));
    FAIL() << "the simulation cannot go on";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("an error has ended the simulation before"), std::string::npos) << e.what();
  }
}

TEST(platform, may_be_destroyed_idle_and_between_runs) {
  { Platform never_simulated("other", topology::compile_text(one_pe(), "test.yaml", component_catalog(), {})); }
  auto platform = platform_from_text(one_pe());
  Clock clock("clocked");
  run_kernel(*platform, options_of("vector_add"));
  platform.reset();
}

// ---- what cannot go on

/// Accepts requests and never responds, or responds to each with an error.
struct BadMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<BadMemory> socket{"socket"};
  bool silent;
  sc_core::sc_event never;
  BadMemory(sc_core::sc_module_name name, bool never_answers) : sc_module(name), silent(never_answers) {
    socket.register_b_transport(this, &BadMemory::b_transport);
    socket.register_transport_dbg(this, &BadMemory::transport_dbg);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_time&) {
    if (silent) wait(never);
    p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return p.get_data_length(); }
};

const char* const kForeign = "{id: hbm, kind: hbm_ctrl, impl: builtin.hbm_tlm}";

struct Reported {
  std::string id, text;
  double at_ns;
};
std::vector<Reported> reported;

/// From here on, SystemC's reports are stored and are no failures of the test.
void keep_reports(sc_core::sc_severity up_to = sc_core::SC_WARNING) {
  static sc_core::sc_severity most;
  most = up_to;
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions& a) {
    reported.push_back({r.get_msg_type(), r.get_msg(), sc_core::sc_time_stamp().to_seconds() * 1e9});
    if (r.get_severity() > most)
      sc_core::sc_report_handler::default_handler(r, a & ~sc_core::SC_DISPLAY & ~sc_core::SC_ABORT);
  });
}

TEST(stuck_job, is_told_at_starvation_and_not_before) {
  keep_reports();
  const auto platform = platform_from_text(one_pe(kForeign));
  BadMemory memory("memory", true);
  platform->tlm_memory("hbm").socket().bind(memory.socket);
  At later("later", 5000, [] {});  // while other events exist, nothing is reported
  Job job(*platform, {"vector_add", {{"n", "256"}}});
  job.start();
  sc_core::sc_start();
  EXPECT_TRUE(job.running());
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0].id, "/kernbench/stuck");
  EXPECT_NE(reported[0].text.find("vector_add"), std::string::npos) << reported[0].text;
  EXPECT_NE(reported[0].text.find("pe: kernel waits for dma_read"), std::string::npos) << reported[0].text;
  EXPECT_NEAR(reported[0].at_ns, 5000, 1e-6);
  ASSERT_EQ(job.waiting().size(), 1u);
}

TEST(stuck_job, is_told_with_foreign_initiators_that_wait) {
  keep_reports();
  const auto platform = platform_from_text(
      one_pe(std::string(kForeign) + "\n- {id: at, kind: port}", "- {from: at, to: r, distance_mm: 1}\n"));
  BadMemory memory("memory", true);
  platform->tlm_memory("hbm").socket().bind(memory.socket);
  LtInitiator cpu("cpu", [](LtInitiator& self) {
    wait(sc_time(3, sc_core::SC_NS));
    Shape s;
    s.address = 0x40;
    s.data.resize(8);
    self.access(s);
  });
  cpu.socket.bind(platform->port("at").socket());
  Job job(*platform, {"vector_add", {{"n", "256"}}});
  job.start();
  sc_core::sc_start();
  EXPECT_FALSE(cpu.finished);
  const std::string line = "at: a foreign read of 8 bytes at 0x40, asked for at 3.000 ns, is not answered";
  ASSERT_FALSE(job.waiting().empty());
  EXPECT_EQ(job.waiting().back(), line);
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_NE(reported[0].text.find(line), std::string::npos) << reported[0].text;
}

TEST(stuck_job, makes_run_fail) {
  keep_reports();
  const auto platform = platform_from_text(one_pe(kForeign));
  BadMemory memory("memory", true);
  platform->tlm_memory("hbm").socket().bind(memory.socket);
  Job job(*platform, {"vector_add", {{"n", "256"}}});
  EXPECT_THROW(job.run(), RunError);
  EXPECT_EQ(reported.size(), 1u);
}

TEST(stuck_jobs, of_two_platforms_are_both_told) {
  keep_reports();
  const topology::Graph graph = topology::compile_text(one_pe(kForeign), "test.yaml", component_catalog(), {});
  Platform one("one", graph), two("two", graph);
  BadMemory first("first", true), second("second", true);
  one.tlm_memory("hbm").socket().bind(first.socket);
  two.tlm_memory("hbm").socket().bind(second.socket);
  Job a(one, {"vector_add", {{"n", "256"}}}), b(two, {"vector_add", {{"n", "4096"}}});
  a.start();
  b.start();
  sc_core::sc_start();
  ASSERT_EQ(reported.size(), 2u);
  EXPECT_EQ(reported[1].id, "/kernbench/stuck");
}

TEST(stuck_job, is_silent_beside_a_clock_and_told_when_asked) {
  keep_reports();
  const auto platform = platform_from_text(one_pe(kForeign));
  BadMemory memory("memory", true);
  platform->tlm_memory("hbm").socket().bind(memory.socket);
  Clock clock("clocked");
  Job job(*platform, {"vector_add", {{"n", "256"}}});
  job.start();
  sc_core::sc_start(ns(1000));
  EXPECT_TRUE(reported.empty());
  EXPECT_EQ(job.waiting().size(), 1u);
}

TEST(memory_error, ends_a_job_as_failed_whatever_is_done_with_reports) {
  keep_reports(sc_core::SC_FATAL);  // errors do not throw
  const auto platform = platform_from_text(one_pe(kForeign));
  BadMemory memory("memory", false);
  platform->tlm_memory("hbm").socket().bind(memory.socket);
  JobOptions o{"vector_add", {{"n", "256"}}};
  o.verify = true;
  Job job(*platform, o);
  const LaunchResult& r = job.run();
  EXPECT_FALSE(r.response.ok());
  EXPECT_EQ(r.response.code, HostError::kernel_fault);
  for (const char* part : {"vector_add.cpp:", "pe.pe_dma: read of", "of hbm", "TLM_GENERIC_ERROR_RESPONSE"})
    EXPECT_NE(r.response.text.find(part), std::string::npos) << part << " in: " << r.response.text;
  EXPECT_THROW(job.verify(), RunError);
  EXPECT_TRUE(reported.empty());
}

TEST(memory_error, ends_a_run) {
  const auto platform = platform_from_text(one_pe(kForeign));
  BadMemory memory("memory", false);
  platform->tlm_memory("hbm").socket().bind(memory.socket);
  EXPECT_THROW(run_kernel(*platform, options_of("gemm")), RunError);
}

/// All blocks belong to the platform, so no message can come from outside: no need to wait for starvation.
TEST(stuck_calls, end_beside_a_clock) {
  keep_reports();
  const auto platform = platform_from_file(topology_path("small.yaml"));
  Clock clock("clocked");
  const auto fails = [](const std::function<void()>& call) {
    try {
      call();
      return std::string("it ended");
    } catch (const RunError& e) {
      return std::string(e.what());
    }
  };
  RunOptions o;
  o.kernel = "messages_all_receive";  // of messages_carry_values_between_kernels_test.cpp
  o.params = {{"members", "8"}};
  const std::string run = fails([&] { run_kernel(*platform, std::move(o)); });
  EXPECT_NE(run.find("nothing can move"), std::string::npos) << run;
  EXPECT_LT(clock.edges, 100'000u);
  sc_core::sc_start(ns(100));  // the simulation continues
  EXPECT_GE(clock.edges, 100u);
}

TEST(stuck_jobs, end_beside_a_clock) {
  keep_reports();
  const auto platform = platform_from_file(topology_path("small.yaml"));
  Clock clock("clocked");
  JobOptions o;
  o.kernel = "messages_all_receive";
  o.params = {{"members", "8"}};
  Job job(*platform, o);
  try {
    job.run();
    ADD_FAILURE() << "it ended";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("circle of waiting"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(job.running());
}

}  // namespace
}  // namespace kernbench::testing
