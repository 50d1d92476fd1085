// SPDX-License-Identifier: Apache-2.0
// Launch queues, abort, resets and BARs of a device: whatever ends early, the next job is right, no foreign initiator
// hangs, and a reset's effect on memory is in the op log.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/job.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/memory/system.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing::jobs_wait_end_early_and_restart {
namespace {

using H = HostInterface;
using topology::Links;

topology::Graph machine(Links links, const std::vector<topology::Setting>& settings = {}) {
  topology::Overrides o;
  o.links = links;
  o.response = topology::Response::routed;
  o.settings = settings;
  o.materialize = topology::Materialize::outputs;
  return topology::compile_file(topology_path("small.yaml"), component_catalog(), o);
}

struct Driver {
  LtInitiator& cpu;
  uint64_t registers = H::kRegisters;
  tlm::tlm_response_status write(uint64_t reg, uint64_t value) {
    Shape s;
    s.command = tlm::TLM_WRITE_COMMAND;
    s.address = registers + reg;
    s.data.resize(8);
    std::memcpy(s.data.data(), &value, 8);
    return cpu.access(s);
  }
  uint64_t read(uint64_t reg) {
    Shape s;
    s.address = registers + reg;
    s.data.resize(8);
    EXPECT_EQ(cpu.access(s), tlm::TLM_OK_RESPONSE);
    uint64_t value = 0;
    std::memcpy(&value, s.data.data(), 8);
    return value;
  }
  H::JobState state(uint64_t job) {
    write(H::kJob, job);
    return static_cast<H::JobState>(read(H::kJobState));
  }
};

sc_core::sc_time ns(double t) {
  return {t, sc_core::SC_NS};
}

struct Kind {
  const char* kernel;
  std::vector<std::pair<std::string, std::string>> params;
};
/// Streams, composites, messages between PEs, barriers.
const Kind kKinds[] = {{"vector_add", {{"n", "60000"}}},
                       {"gemm", {{"m", "128"}, {"n", "128"}, {"k", "128"}}},
                       {"all_reduce", {{"n", "6000"}}},
                       {"all_to_all", {{"n", "4096"}}},
                       {"layer_norm", {{"rows", "64"}, {"cols", "512"}}}};

void place_inputs(Job& job, uint64_t seed) {
  for (const TensorSpec& t : job.kernel().tensors) {
    if (t.is_input()) job.place_random(t.name, ++seed);
  }
}

/// "" if a kernel that is aborted at `at` leaves its PEs so that it verifies the second time.
std::string aborted_and_again(Links links, const Kind& kind, double at, const std::string& reset) {
  return in_child([&]() -> std::string {
    Platform platform("system", machine(links));
    JobOptions o{kind.kernel, kind.params};
    o.verify = true;
    Job job(platform, o);
    place_inputs(job, 1);
    std::optional<LaunchResult> ended;
    LtInitiator control("control", [&](LtInitiator&) {
      job.start([&](const LaunchResult& r) { ended = r; });
      wait(ns(at));
      reset.empty() ? job.abort() : platform.reset(reset);
      if (job.running()) wait(job.completed());
      if (ended->response.ok()) return;  // it had ended
      EXPECT_EQ(ended->response.code, HostError::aborted) << ended->response.text;
      wait(ns(at * 0.3));
      job.start([&](const LaunchResult& r) { ended = r; });
      wait(job.completed());
    });
    control.socket.bind(platform.host().socket());
    sc_core::sc_start();
    if (!control.finished) return "it hangs: " + (job.waiting().empty() ? "" : job.waiting().front());
    if (!ended->response.ok()) return ended->response.text;
    return job.verify().passed ? "" : "wrong the second time";
  });
}

TEST(Jobs, that_are_aborted_or_reset_run_again) {
  uint64_t seed = 7;
  for (const Links links : {Links::ideal, Links::cut_through, Links::flit}) {
    for (const Kind& kind : kKinds) {
      for (const double at : {0.5, 150.0, 400.0, 900.0, 2000.0, 5000.0}) {
        const char* const resets[] = {"", "sip0", "sip0.cube0", "sip0.cube0.pe1"};
        const std::string reset = resets[seed++ % 4];
        SCOPED_TRACE(std::string(topology::name_of(links)) + ", " + kind.kernel + " at " + std::to_string(at) + ", " +
                     reset);
        EXPECT_EQ(aborted_and_again(links, kind, at, reset), "");
      }
    }
  }
}

TEST(Jobs, wait_in_the_queue_of_their_pes) {
  Platform platform("system", machine(Links::cut_through, {{"*.pcie_ep.launch_queue", 2}}));
  H& host = platform.host();
  const auto job_on = [&](const char* pes) {
    auto job = std::make_unique<Job>(platform, JobOptions{"vector_add", {{"n", "4096"}}, pes});
    place_inputs(*job, 3);
    return job;
  };
  // a and b share PE 1; c has another PE.
  const auto a = job_on("sip0.cube0.pe0,sip0.cube0.pe1"), b = job_on("sip0.cube0.pe1"), c = job_on("sip0.cube0.pe2");
  for (Job* j : {a.get(), b.get(), c.get()}) host.add_job(*j);
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    Driver d{self};
    const auto ring = [&](uint64_t job) { return d.write(H::kDoorbell, job); };
    EXPECT_EQ(ring(0), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(ring(1), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(ring(2), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(ring(1), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(ring(1), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_NE(host.last_error().find("the queue of its PEs is full (launch_queue: 2)"), std::string::npos);
    EXPECT_EQ(ring(0), tlm::TLM_OK_RESPONSE);  // behind both of b, with a queue of its own
    EXPECT_EQ(d.state(0), H::kRunning);
    EXPECT_EQ(d.state(1), H::kQueued);
    EXPECT_EQ(d.state(2), H::kRunning);
    EXPECT_EQ(d.state(3), H::kIdle);  // no such job
    while (d.read(H::kLaunchesDone) < 5) wait(host.interrupt.default_event()), d.write(H::kInterrupt, ~0u);
    for (const uint64_t job : {0, 1, 2}) {
      EXPECT_EQ(d.state(job), H::kDone);
      EXPECT_EQ(d.read(H::kJobCompletions), job == 2 ? 1u : 2u);
      EXPECT_EQ(d.read(H::kJobError), 0u);
    }
    // The second run of a began when the second one of b had ended.
    EXPECT_GT(a->result().start_ns, b->result().response.done_ns);
    // An abort takes a waiting job from the queue.
    ring(0);
    ring(1);
    EXPECT_EQ(d.write(H::kAbort, 1), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(d.state(1), H::kAborted);
    EXPECT_EQ(d.write(H::kAbort, 0), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(d.state(0), H::kRunning);  // until the response is here
    while (d.state(0) == H::kRunning) wait(ns(10));
    EXPECT_EQ(d.state(0), H::kAborted);
    EXPECT_EQ(d.read(H::kJobError), static_cast<uint64_t>(HostError::aborted));
    EXPECT_EQ(d.write(H::kAbort, 3), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(d.write(H::kReset, 7ull << 32), tlm::TLM_GENERIC_ERROR_RESPONSE);
  });
  cpu.socket.bind(host.socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

/// Ports with outstanding reads and writes, at a device that is reset in the middle.
TEST(Reset, ends_transactions_of_foreign_initiators_with_errors) {
  for (const Links links : {Links::ideal, Links::cut_through, Links::flit}) {
    EXPECT_EQ(in_child([&]() -> std::string {
                Platform platform("system", machine(links));
                H& host = platform.host();
                const uint64_t base = platform.graph().memories.front().base;
                Shape before;
                before.command = tlm::TLM_WRITE_COMMAND;
                before.address = base;
                before.data.assign(4096, 0x11);
                platform.place(base, before.data.data(), before.data.size());
                size_t errors = 0, right = 0;
                AtInitiator at("at", [&](AtInitiator& self) {
                  std::vector<AtInitiator::Issued> all(12);
                  for (size_t i = 0; i < all.size(); ++i) {
                    Shape& s = all[i].shape;
                    s.command = i % 2 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
                    s.address = base + 1024 * (i / 2);
                    s.data.assign(1024, 0x22);
                    all[i].ending = static_cast<AtInitiator::Ending>(i % 3);
                    self.issue(all[i]);
                  }
                  wait(ns(3));
                  platform.reset("sip0");
                  self.drain();
                  for (const auto& i : all) errors += i.status == tlm::TLM_GENERIC_ERROR_RESPONSE;
                  // Afterwards everything works. The initiator's data are its own again.
                  for (auto& i : all) i.shape.data.assign(1024, 0x33);
                  std::vector<AtInitiator::Issued> more(2);
                  more[0].shape = before;
                  more[1].shape.address = base;
                  more[1].shape.data.resize(4096);
                  self.issue(more[0]);
                  self.drain();
                  self.issue(more[1]);
                  self.drain();
                  for (const auto& i : more) right += i.status == tlm::TLM_OK_RESPONSE;
                  right += more[1].shape.data == before.data;
                });
                at.socket.bind(host.socket());
                sc_core::sc_start();
                if (!at.finished) return "it hangs";
                if (errors < 4) return std::to_string(errors) + " errors";
                return right == 3 ? "" : "wrong afterwards";
              }),
              "")
        << topology::name_of(links);
  }
}

TEST(Reset, by_its_signal_clears_memories_that_say_so_and_the_log_replays) {
  for (const bool clears : {false, true}) {
    EXPECT_EQ(in_child([&]() -> std::string {
                Platform platform("system", machine(Links::cut_through, {{"*.hbm_ctrl.*.clear_at_reset", clears}}));
                std::vector<OpRecord> records;
                struct Copy : OpLogSink {
                  std::vector<OpRecord>* to;
                  void record(OpRecord&& r) override { to->push_back(std::move(r)); }
                } log;
                log.to = &records;
                platform.attach_log(&log);
                H& host = platform.host();
                sc_core::sc_signal<bool> reset_n("reset_n", true);
                host.reset_n(reset_n);
                JobOptions o{"vector_add", {{"n", "20000"}}, "sip0.cube0.pe0"};
                o.verify = true;
                Job job(platform, o);
                place_inputs(job, 5);
                const uint64_t number = host.add_job(job);
                const uint64_t a = job.ranges("a").at(0).address;
                bool zeros = false;
                std::string said;
                LtInitiator cpu("cpu", [&](LtInitiator& self) {
                  Driver d{self};
                  d.write(H::kDmaHost, 77);
                  d.write(H::kDoorbell, number);
                  wait(ns(300));
                  reset_n = false;
                  wait(ns(5));
                  EXPECT_EQ(d.write(H::kDoorbell, number), tlm::TLM_GENERIC_ERROR_RESPONSE);
                  EXPECT_EQ(d.read(H::kDmaHost), 0u);
                  reset_n = true;
                  wait(ns(5));
                  while (job.running()) wait(ns(10));
                  Shape s;
                  s.address = a;
                  s.data.resize(256);
                  self.access(s);
                  zeros = s.data == std::vector<uint8_t>(256);
                  place_inputs(job, 9);
                  d.write(H::kDoorbell, number);
                  wait(job.completed());
                  said = job.result().response.text;
                });
                cpu.socket.bind(host.socket());
                const MemoryImage start = platform.system().image();
                sc_core::sc_start();
                if (!cpu.finished) return "it hangs";
                if (zeros != clears) return "the bytes are not as declared";
                if (!said.empty()) return said;
                if (!job.verify().passed) return "wrong";
                const ReplayResult again = replay(records, start);
                const HostTensor now = job.read_back("c");
                const Deployment::Range out = job.ranges("c").at(0);
                const MemoryWindow window = platform.system().window_at(out.address);
                Bytes replayed(out.nbytes);
                again.memory.read(window.key(), out.address, replayed.data(), replayed.size());
                return now.bytes == replayed ? "" : "the replay differs";
              }),
              "")
        << clears;
  }
}

/// Nothing runs, twice, and what is no part.
TEST(Reset, of_an_idle_device_and_of_no_part) {
  Platform platform("system", machine(Links::flit));
  H& host = platform.host();
  Job job(platform, {"vector_add", {{"n", "4096"}}});
  place_inputs(job, 1);
  const uint64_t number = host.add_job(job);
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    Driver d{self};
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(d.write(H::kReset, 0), tlm::TLM_OK_RESPONSE);
      EXPECT_EQ(d.write(H::kReset, uint64_t{H::kCube} << 32 | 1), tlm::TLM_OK_RESPONSE);
      EXPECT_EQ(d.write(H::kReset, uint64_t{H::kPe} << 32 | 7), tlm::TLM_OK_RESPONSE);
      EXPECT_EQ(d.write(H::kAbort, number), tlm::TLM_OK_RESPONSE);
      job.abort();
      EXPECT_EQ(d.state(number), H::kIdle);
    }
    EXPECT_EQ(d.write(H::kReset, uint64_t{H::kPe} << 32 | 8), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(d.write(H::kReset, uint64_t{H::kCube} << 32 | 2), tlm::TLM_GENERIC_ERROR_RESPONSE);
    for (const char* part : {"sip0.cube0.r0c0", "sip0.cube0.pe1.pe_dma", "sip0.io0", "sip9", "sip"})
      EXPECT_THROW(platform.reset(part), InputError) << part;
    platform.reset("");
    d.write(H::kDoorbell, number);
    wait(job.completed());
    EXPECT_EQ(d.state(number), H::kDone);
  });
  cpu.socket.bind(host.socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

TEST(Bars, put_registers_and_memory_below_4_gib) {
  const auto platform =
      std::make_unique<Platform>("system", machine(Links::cut_through, {{"*.pcie_ep.register_bar", "4026531840"},
                                                                        {"*.pcie_ep.memory_bar", "3758096384"},
                                                                        {"*.pcie_ep.memory_bar_mb", 1}}));
  H& host = platform->host();
  const uint64_t base = platform->graph().memories.back().base;
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    Driver d{self, 0xf0000000}, far{self};
    EXPECT_EQ(d.read(H::kId), H::kIdValue);
    EXPECT_EQ(d.write(H::kWindow, base + 4096), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(far.read(H::kWindow), base + 4096);
    Shape write;
    write.command = tlm::TLM_WRITE_COMMAND;
    write.address = 0xe0000000 + 256;
    write.data.assign(64, 0x5a);
    EXPECT_EQ(self.access(write), tlm::TLM_OK_RESPONSE);
    Shape direct;
    direct.address = base + 4096 + 256;
    direct.data.resize(64);
    EXPECT_EQ(self.access(direct), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(direct.data, write.data);
    direct.address = write.address;
    direct.data.assign(64, 0);
    EXPECT_EQ(self.debug(direct), 64u);
    EXPECT_EQ(direct.data, write.data);
    write.address = 0xe0000000 + (1 << 20) - 32;  // across its end
    EXPECT_EQ(self.access(write), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
  cpu.socket.bind(host.socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

}  // namespace
}  // namespace kernbench::testing::jobs_wait_end_early_and_restart
