// SPDX-License-Identifier: Apache-2.0
// A foreign CPU at the host's socket: memory through the endpoint, the doorbell, the interrupt, DMA to its own memory.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>

#include "kernbench/platform/job.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/systemc_models/core/registry.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

using H = HostInterface;

/// The host's memory, with only b_transport.
struct HostMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<HostMemory> socket{"socket"};
  std::vector<uint8_t> bytes = std::vector<uint8_t>(1 << 20, 0);
  int accesses = 0;
  explicit HostMemory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &HostMemory::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    ++accesses;
    if (p.get_address() + p.get_data_length() > bytes.size()) {
      p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (p.is_write()) {
      std::memcpy(bytes.data() + p.get_address(), p.get_data_ptr(), p.get_data_length());
    } else {
      std::memcpy(p.get_data_ptr(), bytes.data() + p.get_address(), p.get_data_length());
    }
    delay += sc_core::sc_time(50, sc_core::SC_NS);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// Registers and memory in the form that a driver uses.
struct Driver {
  LtInitiator& cpu;
  tlm::tlm_response_status write(uint64_t reg, uint64_t value) {
    Shape s;
    s.command = tlm::TLM_WRITE_COMMAND;
    s.address = H::kRegisters + reg;
    s.data.resize(8);
    std::memcpy(s.data.data(), &value, 8);
    return cpu.access(s);
  }
  uint64_t read(uint64_t reg) {
    Shape s;
    s.address = H::kRegisters + reg;
    s.data.resize(8);
    EXPECT_EQ(cpu.access(s), tlm::TLM_OK_RESPONSE);
    uint64_t value = 0;
    std::memcpy(&value, s.data.data(), 8);
    return value;
  }
  void copy_in(uint64_t address, const uint8_t* bytes, uint64_t n) {
    for (uint64_t at = 0; at < n; at += 256) {
      Shape s;
      s.command = tlm::TLM_WRITE_COMMAND;
      s.address = address + at;
      s.data.assign(bytes + at, bytes + std::min(n, at + 256));
      EXPECT_EQ(cpu.access(s), tlm::TLM_OK_RESPONSE);
    }
  }
};

// gather stores real bytes, so the CPU's read-back needs no Phase 2.
TEST(host, copies_tensors_in_rings_waits_for_the_interrupt_and_fetches_the_result_by_dma) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  H& host = platform->host();
  Job job(*platform, {"gather", {{"n", "16"}, {"rows", "32"}, {"cols", "64"}}, "sip0.cube0.pe0"});
  const uint64_t number = host.add_job(job);
  HostMemory memory("memory");
  HostTensor x(DType::f32, {32, 64}), idx(DType::i32, {16});
  for (int i = 0; i < 32 * 64; ++i) {
    const float f = static_cast<float>(i);
    std::memcpy(x.bytes.data() + 4 * i, &f, 4);
  }
  for (int32_t i = 0; i < 16; ++i) {
    const int32_t row = (7 * i) % 32;
    std::memcpy(idx.bytes.data() + 4 * i, &row, 4);
  }
  double launched = 0, interrupted = 0;
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    Driver d{self};
    EXPECT_EQ(d.read(H::kId), H::kIdValue);
    d.copy_in(job.ranges("x")[0].address, x.bytes.data(), x.bytes.size());
    d.copy_in(job.ranges("idx")[0].address, idx.bytes.data(), idx.bytes.size());
    launched = now_ns();
    EXPECT_EQ(d.write(H::kDoorbell, number), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(now_ns(), launched) << "registers take no time";
    EXPECT_EQ(d.read(H::kStatus), H::kLaunchRunning);
    EXPECT_EQ(d.write(H::kDoorbell, number), tlm::TLM_GENERIC_ERROR_RESPONSE) << "it runs";
    wait(host.interrupt.posedge_event());
    interrupted = now_ns();
    EXPECT_EQ(d.read(H::kInterrupt), H::kLaunchDone);
    EXPECT_EQ(d.read(H::kStatus), 0u);
    EXPECT_EQ(d.read(H::kLaunchesDone), 1u);
    d.write(H::kInterrupt, H::kLaunchDone);
    wait(sc_core::SC_ZERO_TIME);
    EXPECT_FALSE(host.interrupt.read());

    const Deployment::Range out = job.ranges(job.kernel().tensors.back().name)[0];
    d.write(H::kDmaDevice, out.address);
    d.write(H::kDmaHost, 0x100);
    d.write(H::kDmaBytes, out.nbytes);
    EXPECT_EQ(d.write(H::kDmaCommand, H::kToHost), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(d.read(H::kStatus), H::kDmaRunning);
    wait(host.interrupt.posedge_event());
    EXPECT_GT(now_ns(), interrupted + 50);
    EXPECT_EQ(d.read(H::kInterrupt), H::kDmaDone);
    for (int i = 0; i < 16; ++i) {
      for (int col = 0; col < 64; ++col) {
        float f = 0;
        std::memcpy(&f, memory.bytes.data() + 0x100 + 4 * (64 * i + col), 4);
        EXPECT_EQ(f, static_cast<float>(64 * ((7 * i) % 32) + col));
      }
    }
  });
  cpu.socket.bind(host.socket());
  host.dma_socket().bind(memory.socket);
  sc_core::sc_start();
  ASSERT_TRUE(cpu.finished);
  EXPECT_TRUE(job.result().response.ok());
  EXPECT_NEAR(job.result().response.done_ns, interrupted, 1e-5);
  EXPECT_EQ(memory.accesses, 1);
}

TEST(host, copies_host_memory_in_by_dma_and_tells_what_cannot_be_copied) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  H& host = platform->host();
  HostMemory memory("memory");
  for (size_t i = 0; i < memory.bytes.size(); ++i) memory.bytes[i] = static_cast<uint8_t>(i * 31 + (i >> 8));
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    Driver d{self};
    const auto dma = [&](uint64_t device, uint64_t from, uint64_t n, uint64_t command) {
      d.write(H::kDmaDevice, device);
      d.write(H::kDmaHost, from);
      d.write(H::kDmaBytes, n);
      const auto answer = d.write(H::kDmaCommand, command);
      if (answer == tlm::TLM_OK_RESPONSE) {
        wait(host.interrupt.posedge_event());
        d.write(H::kInterrupt, H::kDmaDone);
        wait(sc_core::SC_ZERO_TIME);
      }
      return answer;
    };
    constexpr uint64_t kBytes = 300001, kAt = 0x12345;
    EXPECT_EQ(dma(kAt, 77, kBytes, H::kToDevice), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(d.read(H::kStatus), 0u);
    Shape s;
    s.address = kAt;
    s.data.resize(kBytes);
    EXPECT_EQ(self.debug(s), kBytes);
    EXPECT_EQ(std::memcmp(s.data.data(), memory.bytes.data() + 77, kBytes), 0);

    EXPECT_EQ(dma(kAt, memory.bytes.size() - 4096, 16384, H::kToDevice), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(d.read(H::kStatus), H::kDmaFailed);
    EXPECT_NE(host.last_error().find("host memory answered"), std::string::npos) << host.last_error();
    EXPECT_EQ(dma(uint64_t{1} << 50, 0, 64, H::kToHost), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_NE(host.last_error().find("no memory is there"), std::string::npos) << host.last_error();
    EXPECT_EQ(dma(0, 0, 0, H::kToHost), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(dma(0, 0, 64, 3), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(d.write(H::kDoorbell, 0), tlm::TLM_GENERIC_ERROR_RESPONSE) << "no job is registered";
    EXPECT_EQ(d.write(H::kId, 1), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(d.write(0x800, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  });
  cpu.socket.bind(host.socket());
  host.dma_socket().bind(memory.socket);
  sc_core::sc_start();
  ASSERT_TRUE(cpu.finished);
}

TEST(host, has_the_time_of_the_pcie_ep_as_an_initiator) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  H& host = platform->host();
  const uint32_t endpoint = platform->graph().index_of.at("sip0.io0.pcie_ep");
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    for (const bool write : {false, true}) {
      Shape s;
      s.command = write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
      s.address = 0x4000;
      s.data.resize(1000);
      const double before = now_ns();
      EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
      const double formula = platform->system().mode().formula_ns(
          platform->routes().route(endpoint, s.address, 1000, write), write, s.address, 1000, {1, 1000, 0});
      EXPECT_NEAR(now_ns() - before, formula, 1e-5);
      wait(sc_core::sc_time(10, sc_core::SC_US));
    }
  });
  cpu.socket.bind(host.socket());
  sc_core::sc_start();
  ASSERT_TRUE(cpu.finished);
}

TEST(jobs, are_launched_before_and_during_simulation_with_event_and_callback) {
  const auto platform = platform_from_file(topology_path("small.yaml"));
  Job job(*platform, {"vector_add", {{"n", "4096"}}});
  job.place_random("a", 1);
  job.place_random("b", 2);
  std::vector<double> done;
  job.start([&](const LaunchResult& r) {
    EXPECT_TRUE(r.response.ok()) << r.response.text;
    done.push_back(r.response.done_ns);
  });
  EXPECT_THROW(job.start(), std::exception) << "it runs";
  struct Thread : sc_core::sc_module {
    Thread(sc_core::sc_module_name name, std::function<void()> b) : sc_module(name), body(std::move(b)) {
      SC_HAS_PROCESS(Thread);
      SC_THREAD(run);
    }
    void run() { body(); }
    std::function<void()> body;
  };
  double second_start = 0;
  Thread host("host_thread", [&] {
    wait(job.completed());
    wait(sc_core::sc_time(1, sc_core::SC_US));
    second_start = now_ns();
    job.start([&](const LaunchResult& r) { done.push_back(r.response.done_ns); });
    wait(job.completed());
    EXPECT_FALSE(job.running());
  });
  sc_core::sc_start();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_NEAR(done[1] - second_start, done[0], 1e-5) << "the same job takes the same time again";
}

TEST(jobs, on_two_platforms_in_one_simulation_do_not_meet) {
  const auto graph = [] { return topology::compile_file(topology_path("small.yaml"), component_catalog()); };
  Platform one("one", graph()), two("two", graph());
  Job first(one, {"gemm", {{"m", "64"}, {"n", "64"}, {"k", "64"}}}),
      second(two, {"gemm", {{"m", "64"}, {"n", "64"}, {"k", "64"}}});
  for (Job* j : {&first, &second}) {
    j->place_random("a", 1);
    j->place_random("b", 2);
    j->start();
  }
  sc_core::sc_start();
  EXPECT_TRUE(first.result().response.ok());
  EXPECT_EQ(first.result().response.done_ns, second.result().response.done_ns);
  EXPECT_GT(first.result().response.done_ns, 0);
}

}  // namespace
}  // namespace kernbench::testing
