// SPDX-License-Identifier: Apache-2.0
// Foreign TLM-2.0 memories behind the fabric: their time, their bytes, their errors, with every legal shortcut.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <random>

#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/memory/tlm_memory.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

std::string one_memory(const std::string& attributes, const std::string& timing = "{links: ideal}") {
  return "timing: " + timing + R"(
nodes:
  - {id: cpu, kind: port}
  - {id: r0, kind: router, attrs: {overhead_ns: 1}}
  - {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_tlm, attrs: {overhead_ns: 4, )" +
         attributes + R"(}}
links:
  - {from: cpu, to: r0, distance_mm: 50, bw_gbs: 100}
  - {from: r0, to: hbm, distance_mm: 100, bw_gbs: 100}
memories:
  - {node: hbm, space: hbm, base: 0x10000, size: 65536}
)";
}

/// A memory that serves one request at a time, in 20 ns, and alternates between all legal ways to respond.
struct AtMemory : sc_core::sc_module, tlm::tlm_fw_transport_if<> {
  tlm::tlm_target_socket<> socket{"socket"};
  std::vector<uint8_t> bytes = std::vector<uint8_t>(65536, 0);
  int requests = 0, ends = 0;
  uint64_t largest = 0;
  bool fail = false;

  explicit AtMemory(sc_core::sc_module_name name) : sc_module(name) {
    socket.bind(*this);
    SC_HAS_PROCESS(AtMemory);
    SC_THREAD(run);
  }
  void serve(tlm::tlm_generic_payload& p) {
    largest = std::max<uint64_t>(largest, p.get_data_length());
    if (fail || p.get_address() + p.get_data_length() > bytes.size()) {
      p.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      return;
    }
    uint8_t* at = bytes.data() + p.get_address();
    if (p.is_write()) {
      std::memcpy(at, p.get_data_ptr(), p.get_data_length());
    } else {
      std::memcpy(p.get_data_ptr(), at, p.get_data_length());
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) {
      ++ends;
      return tlm::TLM_COMPLETED;
    }
    const int way = requests++ % 5;
    p.acquire();
    if (way == 0) {  // all at once
      serve(p);
      delay += sc_core::sc_time(20, sc_core::SC_NS);
      p.release();
      return tlm::TLM_COMPLETED;
    }
    if (way == 1) {  // BEGIN_RESP returned
      serve(p);
      delay += sc_core::sc_time(20, sc_core::SC_NS);
      phase = tlm::BEGIN_RESP;
      p.release();
      return tlm::TLM_UPDATED;
    }
    queue.emplace_back(&p, way);
    wake.notify(sc_core::SC_ZERO_TIME);
    if (way == 2) {  // END_REQ returned
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    return tlm::TLM_ACCEPTED;  // 3: END_REQ by call, 4: omitted
  }
  void run() {
    for (;;) {
      while (queue.empty()) wait(wake);
      const auto [p, way] = queue.front();
      queue.pop_front();
      tlm::tlm_phase phase;
      sc_core::sc_time delay;
      wait(sc_core::sc_time(5, sc_core::SC_NS));
      if (way == 3) {
        phase = tlm::END_REQ;
        socket->nb_transport_bw(*p, phase, delay);
      }
      wait(sc_core::sc_time(15, sc_core::SC_NS));
      serve(*p);
      phase = tlm::BEGIN_RESP;
      socket->nb_transport_bw(*p, phase, delay);
      p->release();
    }
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) override { serve(p); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override {
    serve(p);
    return p.get_data_length();
  }
  std::deque<std::pair<tlm::tlm_generic_payload*, int>> queue;
  sc_core::sc_event wake;
};

TEST(foreign_memory, adds_its_own_time_to_the_paths_and_keeps_the_bytes) {
  const auto platform = platform_from_text(one_memory(""));
  AtMemory model("model");
  platform->tlm_memory("hbm").socket().bind(model.socket);
  const std::vector<uint8_t> placed(100, 9);
  platform->place(0x10400, placed.data(), placed.size());
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.address = 0x10400;
    s.data.resize(64);
    EXPECT_EQ(model.bytes[0x400], 9) << "placed by debug transport";
    for (int i = 0; i < 20; ++i) {
      s.command = i % 2 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
      const double before = now_ns();
      EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
      // Router 1, wires 1.5, controller 4, the model 20.
      EXPECT_NEAR(now_ns() - before, 26.5, 1e-5) << "shortcut " << i % 5;
      EXPECT_EQ(model.bytes[0x400], s.data[0]);
      if (i % 2 == 0) {
        EXPECT_EQ(s.data[0], i == 0 ? 9 : i - 2);
      }
      s.data.assign(64, static_cast<uint8_t>(i));
    }
    model.bytes[0x410] = 77;  // changed by the model itself
    s.command = tlm::TLM_READ_COMMAND;
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(s.data[0x10], 77);
    model.bytes[0x411] = 78;
    EXPECT_EQ(self.debug(s), 64u);
    EXPECT_EQ(s.data[0x11], 78);
    s.command = tlm::TLM_WRITE_COMMAND;
    s.data.assign(64, 5);
    EXPECT_EQ(self.debug(s), 64u);
    EXPECT_EQ(model.bytes[0x411], 5);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
  EXPECT_GT(model.ends, 0);
}

/// The steps of a memory's requests; none is reported after it happened.
struct StepLog : FabricObserver {
  std::vector<std::pair<MemoryStep, double>> steps;
  void memory_request(const MemoryTarget&, const FabricTransaction&, MemoryStep step, double t) override {
    EXPECT_GE(t, now_ns() - 1e-6);
    steps.emplace_back(step, t);
  }
};

void watch_one_read(const std::string& timing) {
  const auto platform = platform_from_text(one_memory("", timing));
  AtMemory model("model");
  TlmMemory& memory = platform->tlm_memory("hbm");
  memory.socket().bind(model.socket);
  StepLog log;
  memory.observers().add(log);
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.command = tlm::TLM_READ_COMMAND;
    s.address = 0x10400;
    s.data.resize(64);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  ASSERT_EQ(log.steps.size(), 3u);
  EXPECT_EQ(log.steps[0].first, MemoryStep::arrived);
  EXPECT_EQ(log.steps[1].first, MemoryStep::started);
  EXPECT_EQ(log.steps[2].first, MemoryStep::finished);
  EXPECT_GE(log.steps[2].second - log.steps[1].second, 20 - 1e-6) << "the model's own time is busy time";
}

TEST(foreign_memory, is_seen_busy_while_the_model_works) {
  watch_one_read("{links: ideal}");
}

TEST(foreign_memory, is_seen_busy_while_the_model_works_on_flits) {
  watch_one_read("{links: flit}");
}

TEST(foreign_memory, is_asked_for_no_more_than_max_bytes_and_never_faster_than_the_path) {
  const auto platform = platform_from_text(one_memory("max_bytes: 64"));
  AtMemory model("model");
  platform->tlm_memory("hbm").socket().bind(model.socket);
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.command = tlm::TLM_WRITE_COMMAND;
    s.address = 0x10020;
    s.data.resize(1000);
    for (size_t i = 0; i < s.data.size(); ++i) s.data[i] = static_cast<uint8_t>(i);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(std::memcmp(s.data.data(), model.bytes.data() + 0x20, 1000), 0);
    EXPECT_EQ(model.requests, 17);
    EXPECT_EQ(model.largest, 64u);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

/// A RAM that another master also writes.
struct SharedRam : sc_core::sc_module {
  tlm_utils::simple_target_socket<SharedRam> socket{"socket"};
  std::vector<uint8_t> bytes = std::vector<uint8_t>(65536, 0);
  const bool takes_enables;
  int writes = 0;
  SharedRam(sc_core::sc_module_name name, bool takes) : sc_module(name), takes_enables(takes) {
    socket.register_b_transport(this, &SharedRam::transport);
    socket.register_transport_dbg(this, &SharedRam::debug);
  }
  void transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
    if (p.get_byte_enable_ptr() && !takes_enables) return p.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    writes += p.is_write();
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.get_byte_enable_ptr() && !p.get_byte_enable_ptr()[i % p.get_byte_enable_length()]) continue;
      uint8_t &there = bytes[p.get_address() + i], &here = p.get_data_ptr()[i];
      p.is_write() ? there = here : here = there;
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned debug(tlm::tlm_generic_payload& p) {
    transport(p, no_time);
    return p.get_data_length();
  }
  sc_core::sc_time no_time;
};

/// Cut or not, byte by byte or with a repeated pattern, in a stream, repeatedly: only enabled bytes change.
void check_enabled_bytes(const std::string& attributes, const std::string& timing, bool takes_enables) {
  const auto platform = platform_from_text(one_memory(attributes, timing));
  SharedRam ram("ram", takes_enables);
  platform->tlm_memory("hbm").socket().bind(ram.socket);
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    std::minstd_rand random(7);
    std::vector<uint8_t> wanted(65536, 0);
    for (int round = 0; round < 30; ++round) {
      for (size_t i = 0; i < 2048; ++i) wanted[i] = ram.bytes[i] = static_cast<uint8_t>(random());  // by another master
      Shape s;
      s.command = tlm::TLM_WRITE_COMMAND;
      const uint64_t offset = random() % 1000;
      s.address = 0x10000 + offset;
      s.data.assign(1 + random() % 200, static_cast<uint8_t>(round + 1));
      s.enables.resize(1 + random() % s.data.size());
      for (uint8_t& e : s.enables) e = random() % 3 ? TLM_BYTE_DISABLED : TLM_BYTE_ENABLED;
      if (round % 5 == 4) s.streaming_width = 1 + static_cast<unsigned>(random() % s.data.size());
      const size_t width = s.streaming_width ? s.streaming_width : s.data.size();
      for (size_t i = 0; i < s.data.size(); ++i) {
        if (s.enables[i % s.enables.size()]) wanted[offset + i % width] = s.data[i];
      }
      EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
      EXPECT_EQ(ram.bytes, wanted) << "round " << round;
      s.command = tlm::TLM_READ_COMMAND;
      s.enables.clear();
      s.streaming_width = 0;
      EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
      EXPECT_TRUE(std::equal(s.data.begin(), s.data.end(), wanted.begin() + static_cast<std::ptrdiff_t>(offset)));
    }
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

TEST(foreign_memory, gets_the_enabled_bytes_of_a_write_alone) {
  check_enabled_bytes("", "{links: ideal}", true);
}

TEST(foreign_memory, gets_the_enabled_bytes_of_a_write_alone_in_parts) {
  check_enabled_bytes("max_bytes: 16", "{links: flit, flit_bytes: 64}", true);
}

TEST(foreign_memory, that_refuses_byte_enables_keeps_the_other_bytes) {
  check_enabled_bytes("max_bytes: 16", "{links: cut_through, response: routed}", false);
}

TEST(foreign_memory, is_reached_in_flits_too) {
  const auto platform = platform_from_text(one_memory("", "{links: flit, flit_bytes: 64}"));
  AtMemory model("model");
  platform->tlm_memory("hbm").socket().bind(model.socket);
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.command = tlm::TLM_WRITE_COMMAND;
    s.address = 0x10020;
    s.data.assign(1000, 3);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    s.command = tlm::TLM_READ_COMMAND;
    s.data.assign(1000, 0);
    const double before = now_ns();
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_GT(now_ns() - before, 26.5 + 9);
    EXPECT_EQ(s.data, std::vector<uint8_t>(1000, 3));
    // A write's data have arrived when the model is called: they use the path once.
    s.command = tlm::TLM_WRITE_COMMAND;
    s.data.assign(16384, 4);
    const double begin = now_ns();
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_NEAR(now_ns() - begin, 16384 / 100.0 + 26.5, 10);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

/// A target that has only b_transport: served by its socket's conversion.
struct LtMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<LtMemory> socket{"socket"};
  explicit LtMemory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &LtMemory::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(30, sc_core::SC_NS);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

TEST(foreign_memory, that_only_has_b_transport_and_no_bytes_is_served_with_the_images_bytes) {
  const auto platform = platform_from_text(one_memory("storage: image"));
  LtMemory model("model");
  platform->tlm_memory("hbm").socket().bind(model.socket);
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.command = tlm::TLM_WRITE_COMMAND;
    s.address = 0x10020;
    s.data.assign(64, 3);
    const double before = now_ns();
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_NEAR(now_ns() - before, 36.5, 1e-5);
    s.command = tlm::TLM_READ_COMMAND;
    s.data.assign(64, 0);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(s.data, std::vector<uint8_t>(64, 3));
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

TEST(foreign_memory, passes_its_errors_on_to_foreign_initiators) {
  const auto platform = platform_from_text(one_memory(""));
  AtMemory model("model");
  platform->tlm_memory("hbm").socket().bind(model.socket);
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    model.fail = true;
    Shape s;
    s.address = 0x10020;
    s.data.resize(64);
    EXPECT_EQ(self.access(s), tlm::TLM_GENERIC_ERROR_RESPONSE);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

}  // namespace
}  // namespace kernbench::testing
