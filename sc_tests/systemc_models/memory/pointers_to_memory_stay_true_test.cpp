// DMI: who is granted a pointer, what is seen through it and what becomes of what is written through it; and initiators
// that run ahead of time.
#include <gtest/gtest.h>

#include <systemc>

#include <tlm_utils/tlm_quantumkeeper.h>  // needs systemc before it

#include <cstring>

#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

constexpr const char* kSystem = R"(
nodes:
  - {id: cpu, kind: port, attrs: {allow_dmi: true, bus_width: 64}}
  - {id: other, kind: port}
  - {id: r0, kind: router, attrs: {overhead_ns: 1}}
  - {id: hbm, kind: hbm_ctrl, attrs: {overhead_ns: 4}}
links:
  - {from: cpu, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: other, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: r0, to: hbm, distance_mm: 1, bw_gbs: 64}
memories:
  - {node: hbm, space: hbm, base: 0x18000, size: 0x30000}
)";

/// As LtInitiator, 64 bits wide.
class WideInitiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<WideInitiator, 64> socket{"socket"};
  WideInitiator(sc_core::sc_module_name name, std::function<void(WideInitiator&)> body)
      : sc_module(name), body_(std::move(body)) {
    SC_HAS_PROCESS(WideInitiator);
    SC_THREAD(run);
    socket.register_invalidate_direct_mem_ptr(this, &WideInitiator::invalidated);
  }
  bool dmi(uint64_t address, bool write, tlm::tlm_dmi& d) {
    tlm::tlm_generic_payload p;
    p.set_address(address);
    p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    return socket->get_direct_mem_ptr(p, d);
  }
  tlm::tlm_response_status access(Shape& s) {
    tlm::tlm_generic_payload p;
    s.fill(p);
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    hint = p.is_dmi_allowed();
    return p.get_response_status();
  }
  bool finished = false, hint = false;
  std::vector<std::pair<uint64_t, uint64_t>> invalidations;

 private:
  void run() {
    body_(*this);
    finished = true;
  }
  void invalidated(sc_dt::uint64 first, sc_dt::uint64 last) { invalidations.emplace_back(first, last); }
  std::function<void(WideInitiator&)> body_;
};

TEST(pointers, are_granted_for_pages_within_the_window_where_the_port_allows_it) {
  const auto platform = platform_from_text(kSystem);
  WideInitiator cpu("cpu_model", [&](WideInitiator& self) {
    Shape s;
    s.address = 0x18000;
    s.data.resize(8);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_TRUE(self.hint);
    tlm::tlm_dmi d;
    ASSERT_TRUE(self.dmi(0x18010, false, d));
    EXPECT_EQ(d.get_start_address(), 0x18000u) << "clipped to the window";
    EXPECT_EQ(d.get_end_address(), 0x1ffffu);
    EXPECT_TRUE(d.is_read_allowed());
    EXPECT_FALSE(d.is_write_allowed());
    EXPECT_GT(d.get_read_latency(), sc_core::SC_ZERO_TIME);
    ASSERT_TRUE(self.dmi(0x47fff, true, d));
    EXPECT_EQ(d.get_start_address(), 0x40000u);
    EXPECT_EQ(d.get_end_address(), 0x47fffu);
    EXPECT_TRUE(d.is_write_allowed());
    EXPECT_FALSE(self.dmi(0x48000, false, d)) << "no memory";
    EXPECT_EQ(d.get_start_address(), 0x48000u) << "what is denied is not the memory beside the gap";
    EXPECT_EQ(d.get_end_address(), ~sc_dt::uint64{0});
    EXPECT_FALSE(self.dmi(0x100, false, d)) << "no memory";
    EXPECT_EQ(d.get_start_address(), 0u);
    EXPECT_EQ(d.get_end_address(), 0x17fffu);
  });
  LtInitiator other("other_model", [&](LtInitiator& self) {
    Shape s;
    s.address = 0x18000;
    s.data.resize(8);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_FALSE(self.dmi_hint);
    tlm::tlm_generic_payload p;
    p.set_address(0x18000);
    p.set_read();
    tlm::tlm_dmi d;
    EXPECT_FALSE(self.socket->get_direct_mem_ptr(p, d));
  });
  cpu.socket.bind(platform->port("cpu").socket<64>());
  other.socket.bind(platform->port("other").socket());
  EXPECT_THROW(platform->port("cpu").socket<32>(), std::logic_error);
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
  EXPECT_TRUE(other.finished);
}

TEST(pointers, show_what_others_write_and_what_is_written_through_them_is_seen_and_logged) {
  const auto platform = platform_from_text(kSystem);
  MemoryOpLog log;
  platform->attach_log(&log);
  WideInitiator* cpu_pointer = nullptr;
  LtInitiator other("other_model", [&](LtInitiator& self) {
    tlm::tlm_dmi d;
    ASSERT_TRUE(cpu_pointer->dmi(0x20000, true, d));
    Shape s;
    s.address = 0x20100;
    s.data.assign(16, 7);
    s.command = tlm::TLM_WRITE_COMMAND;
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(d.get_dmi_ptr()[0x100], 7) << "a transaction's bytes are seen by pointer";
    d.get_dmi_ptr()[0x102] = 42;
    s.command = tlm::TLM_READ_COMMAND;
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(s.data[2], 42) << "a pointer's bytes are seen by transactions";
    EXPECT_TRUE(cpu_pointer->invalidations.empty());

    // An op makes part of the page pending: no pointer can show that.
    auto op = std::make_shared<OpDesc>();
    op->name = op->op = "exp";
    op->pe = 0;
    Operand in;
    in.ref.addr = 0x20100;
    in.ref.shape = {4};
    in.ref.strides = {1};
    op->operands = {in};
    op->output = in.ref;
    op->output.addr = 0x21000;
    d.get_dmi_ptr()[0x103] = 43;
    platform->system().apply(op);
    ASSERT_EQ(cpu_pointer->invalidations.size(), 1u);
    EXPECT_EQ(cpu_pointer->invalidations[0].first, 0x20000u);
    EXPECT_EQ(cpu_pointer->invalidations[0].second, 0x2ffffu);
    s.data.assign(16, 0);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(s.data[3], 43) << "what was written before stays";
    EXPECT_FALSE(cpu_pointer->dmi(0x21000, false, d)) << "pending";
    EXPECT_GE(d.get_start_address(), 0x21000u) << "what is denied is the pending bytes";
    EXPECT_LT(d.get_end_address(), 0x30000u);
    ASSERT_TRUE(cpu_pointer->dmi(0x20000, false, d));
    EXPECT_EQ(d.get_end_address(), 0x20fffu) << "clipped to what is not pending";
  });
  WideInitiator cpu("cpu_model", [](WideInitiator&) {});
  cpu_pointer = &cpu;
  cpu.socket.bind(platform->port("cpu").socket<64>());
  other.socket.bind(platform->port("other").socket());
  sc_core::sc_start();
  ASSERT_TRUE(other.finished);
  int writes_by_pointer = 0;
  for (const OpRecord& r : log.records()) {
    if (r.component == platform->port("cpu").index() && r.desc->data && r.desc->data->size() == 1) ++writes_by_pointer;
  }
  EXPECT_EQ(writes_by_pointer, 2);
}

// Two CPUs with local time run ahead by up to a quantum; each one's writes and reads come in its own order.
TEST(decoupled_initiators, see_their_own_writes_in_order_and_are_synchronised_by_every_access) {
  const auto platform = platform_from_text(kSystem);
  tlm::tlm_global_quantum::instance().set(sc_core::sc_time(1, sc_core::SC_US));
  const auto run = [&](uint64_t base, auto& self) {
    tlm_utils::tlm_quantumkeeper keeper;
    keeper.reset();
    std::mt19937_64 random(base);
    std::vector<uint8_t> model(1024, 0);
    for (int i = 0; i < 500; ++i) {
      keeper.inc(sc_core::sc_time(static_cast<double>(random() % 300), sc_core::SC_NS));
      Shape s;
      s.command = random() % 2 ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
      const uint64_t at = random() % 1016;
      s.address = base + at;
      s.data.assign(8, static_cast<uint8_t>(random()));
      tlm::tlm_generic_payload p;
      s.fill(p);
      sc_core::sc_time delay = keeper.get_local_time();
      const double issued = now_ns() + delay.to_seconds() * 1e9;
      self.socket->b_transport(p, delay);
      keeper.set(delay);
      EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE);
      EXPECT_GE(now_ns() + delay.to_seconds() * 1e9, issued + 5);
      if (s.command == tlm::TLM_WRITE_COMMAND) {
        std::copy(s.data.begin(), s.data.end(), model.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        EXPECT_EQ(std::memcmp(s.data.data(), model.data() + at, 8), 0);
      }
      if (keeper.need_sync()) keeper.sync();
    }
  };
  WideInitiator a("a", [&](WideInitiator& self) { run(0x18000, self); });
  LtInitiator b("b", [&](LtInitiator& self) { run(0x28000, self); });
  a.socket.bind(platform->port("cpu").socket<64>());
  b.socket.bind(platform->port("other").socket());
  sc_core::sc_start();
  EXPECT_TRUE(a.finished);
  EXPECT_TRUE(b.finished);
}

}  // namespace
}  // namespace kernbench::testing
