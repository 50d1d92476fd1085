// SPDX-License-Identifier: Apache-2.0
// DMI: grants of pointers, reads through them and the effect of writes through them; and temporally decoupled
// initiators.
#include <gtest/gtest.h>

#include <systemc>

#include <tlm_utils/simple_target_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>  // needs systemc before it

#include <algorithm>
#include <cstring>
#include <map>

#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/platform/topology/graph/foreign_blocks.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/address_map.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/memory/direct_memory.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing::pointers_to_memory_stay_true {
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

/// Like LtInitiator, but 64 bits wide.
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

    // An op makes a part of the page pending, which no pointer can show.
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

// Two CPUs with local time run ahead by up to a quantum. The accesses of each stay in its own order.
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

// ---- at sockets of routers and memories

constexpr const char* kBlocks = R"(
nodes:
  - {id: cpu, kind: port, attrs: {allow_dmi: true}}
  - {id: r0, kind: router, attrs: {overhead_ns: 3}}
  - {id: r1, kind: router, attrs: {overhead_ns: 5, store_and_forward: true}}
  - {id: near, kind: hbm_ctrl, attrs: {overhead_ns: 4}}
  - {id: far, kind: sram, attrs: {overhead_ns: 7}}
links:
  - {from: cpu, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: r0, to: near, distance_mm: 1, bw_gbs: 64}
  - {from: r0, to: r1, distance_mm: 4, bw_gbs: 32}
  - {from: r1, to: far, distance_mm: 1, bw_gbs: 16}
memories:
  - {node: near, space: hbm, base: 0, size: 0x20000}
  - {node: far, space: sram, base: 0x20000, size: 0x20000}
)";

FabricTargetSocket& target_of(Platform& platform, const char* id) {
  return *platform.component(platform.graph().index_of.at(id)).fabric_node()->target_socket();
}

bool pointer(LtInitiator& cpu, uint64_t address, bool write, tlm::tlm_dmi& d) {
  tlm::tlm_generic_payload p;
  p.set_address(address);
  p.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  return cpu.socket->get_direct_mem_ptr(p, d);
}

/// Time of an isolated access of 4 bytes with b_transport, and whether its response hints at DMI.
double access_ns(LtInitiator& cpu, uint64_t address, bool write, bool hint = true) {
  wait(sc_core::sc_time(10, sc_core::SC_US));  // isolated
  Shape s;
  s.command = write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
  s.address = address;
  s.data.resize(4);
  const double begin = now_ns();
  EXPECT_EQ(cpu.access(s), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(cpu.dmi_hint, hint);
  return now_ns() - begin;
}

class Blocks : public ::testing::TestWithParam<topology::Links> {
 protected:
  topology::Overrides timing() const {
    topology::Overrides o;
    o.links = GetParam();
    if (GetParam() != topology::Links::ideal) o.response = topology::Response::routed;
    return o;
  }
};

TEST_P(Blocks, grant_pointers_with_the_latencies_of_a_lone_access_from_there) {
  const auto platform = platform_from_text(kBlocks, timing());
  std::map<std::string, double> read_ns;
  const auto body = [&](const char* who, double begin_us) {
    return [&, who, begin_us](LtInitiator& self) {
      wait(sc_core::sc_time(begin_us, sc_core::SC_US));  // so that accesses of the initiators do not overlap
      for (const uint64_t address : {uint64_t{0x10040}, uint64_t{0x30040}}) {
        if (std::string(who) == (address < 0x20000 ? "far" : "near")) continue;  // no path from there
        for (const bool write : {false, true}) {
          tlm::tlm_dmi d;
          ASSERT_TRUE(pointer(self, address, write, d)) << who << " " << address;
          EXPECT_EQ(d.get_start_address(), address & ~uint64_t{0xffff});
          EXPECT_EQ(d.get_end_address(), address | 0xffff);
          EXPECT_EQ(d.is_write_allowed(), write);
          const double ns = access_ns(self, address, false);
          EXPECT_NEAR(d.get_read_latency().to_seconds() * 1e9, ns, 1e-5) << who;
          read_ns[who] = ns;
          if (!write) continue;
          EXPECT_NEAR(d.get_write_latency().to_seconds() * 1e9, access_ns(self, address, true), 1e-5) << who;
        }
      }
    };
  };
  LtInitiator at_port("at_port", body("cpu", 0)), at_router("at_router", body("r0", 3));
  LtInitiator at_far("at_far", body("far", 6));
  at_port.socket.bind(platform->port("cpu").socket());
  at_router.socket.bind(target_of(*platform, "r0"));
  at_far.socket.bind(target_of(*platform, "far"));
  sc_core::sc_start();
  EXPECT_TRUE(at_port.finished && at_router.finished && at_far.finished);
  EXPECT_GT(read_ns["cpu"], read_ns["r0"]);
  EXPECT_GT(read_ns["r0"], read_ns["far"]);
  EXPECT_GE(read_ns["far"], 7);
}

INSTANTIATE_TEST_SUITE_P(All, Blocks,
                         ::testing::Values(topology::Links::ideal, topology::Links::cut_through, topology::Links::flit),
                         [](const auto& parameter) { return std::string(topology::name_of(parameter.param)); });

TEST(blocks, share_a_page_with_ports_and_lose_it_when_an_op_leaves_bytes_pending) {
  const auto platform = platform_from_text(kBlocks);
  MemoryOpLog log;
  platform->attach_log(&log);
  LtInitiator at_port("at_port", [](LtInitiator&) {}), at_memory("at_memory", [](LtInitiator&) {});
  LtInitiator at_router("at_router", [&](LtInitiator& self) {
    tlm::tlm_dmi of_router, of_port, of_memory;
    ASSERT_TRUE(pointer(self, 0x10000, true, of_router));
    ASSERT_TRUE(pointer(at_port, 0x10000, false, of_port));
    ASSERT_TRUE(pointer(at_memory, 0x10000, false, of_memory));
    EXPECT_EQ(of_port.get_dmi_ptr(), of_router.get_dmi_ptr());
    of_router.get_dmi_ptr()[0x20] = 9;
    Shape s;
    s.address = 0x10020;
    s.data.resize(1);
    EXPECT_EQ(at_port.debug(s), 1u);
    EXPECT_EQ(s.data[0], 9) << "written by the router's pointer, seen by debug transport at the port";
    s.command = tlm::TLM_WRITE_COMMAND;
    s.data[0] = 10;
    EXPECT_EQ(at_memory.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(of_router.get_dmi_ptr()[0x20], 10) << "written at the memory's socket";

    auto op = std::make_shared<OpDesc>();
    op->name = op->op = "exp";
    op->pe = 0;
    Operand in;
    in.ref.addr = 0x10020;
    in.ref.shape = {1};
    in.ref.strides = {1};
    op->operands = {in};
    op->output = in.ref;
    op->output.addr = 0x10100;
    of_router.get_dmi_ptr()[0x21] = 11;
    platform->system().apply(op);
    for (const LtInitiator* i : {&at_port, &at_memory, &self}) {
      ASSERT_EQ(i->invalidations.size(), 1u);
      EXPECT_EQ(i->invalidations[0], (std::pair<uint64_t, uint64_t>(0x10000, 0x1ffff)));
    }
    s.command = tlm::TLM_READ_COMMAND;
    s.address = 0x10021;
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(s.data[0], 11) << "what was written before the op stays";
    EXPECT_FALSE(pointer(self, 0x10100, false, of_router)) << "pending";
    EXPECT_TRUE(pointer(at_memory, 0x10000, true, of_memory));
    EXPECT_EQ(of_memory.get_end_address(), 0x100ffu);
  });
  at_port.socket.bind(platform->port("cpu").socket());
  at_router.socket.bind(target_of(*platform, "r0"));
  at_memory.socket.bind(target_of(*platform, "near"));
  sc_core::sc_start();
  ASSERT_TRUE(at_router.finished);
  const uint32_t router = platform->graph().index_of.at("r0");
  const auto written = [&](uint8_t byte) {
    return std::count_if(log.records().begin(), log.records().end(), [&](const OpRecord& r) {
      return r.component == router && r.foreign && r.desc->data && r.desc->data->size() == 1 &&
             r.desc->data->front() == byte;
    });
  };
  EXPECT_EQ(written(9), 1) << "a write of the router's in the log";
  EXPECT_EQ(written(11), 1);
}

/// Passes everything on, optionally pointers too.
class Bus : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Bus> in{"in"};
  tlm_utils::simple_initiator_socket<Bus> out{"out"};
  size_t asked = 0;
  bool hands_pointers_on = true;
  explicit Bus(sc_core::sc_module_name name) : sc_module(name) {
    in.register_b_transport(this, &Bus::b_transport);
    in.register_get_direct_mem_ptr(this, &Bus::get_direct_mem_ptr);
    out.register_invalidate_direct_mem_ptr(this, &Bus::invalidate);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) { out->b_transport(p, delay); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& d) {
    ++asked;
    return hands_pointers_on && out->get_direct_mem_ptr(p, d);
  }
  void invalidate(sc_dt::uint64 first, sc_dt::uint64 last) { in->invalidate_direct_mem_ptr(first, last); }
};

class PastABus : public ::testing::TestWithParam<bool> {};

TEST_P(PastABus, pointers_are_what_it_hands_on) {
  topology::Graph graph = topology::compile_text(kBlocks, "test.yaml", component_catalog());
  topology::insert_foreign(graph, "tap", "r0", "r1");
  Platform platform("system", graph);
  Bus there("there"), back("back"), before("before");
  platform.foreign("tap").bind(there.in, "r0");
  platform.foreign("tap").bind(there.out, "r1");
  platform.foreign("tap").bind(back.in, "r1");
  platform.foreign("tap").bind(back.out, "r0");
  there.hands_pointers_on = back.hands_pointers_on = GetParam();
  const auto asks = [&](bool near, bool far) {
    return [near, far](LtInitiator& self) {
      for (const bool write : {false, true}) {
        tlm::tlm_dmi d;
        EXPECT_EQ(pointer(self, 0x10000, write, d), near);
        EXPECT_EQ(pointer(self, 0x30000, write, d), far);
      }
    };
  };
  LtInitiator at_port("at_port", asks(true, GetParam())), at_r0("at_r0", asks(true, GetParam()));
  LtInitiator at_r1("at_r1", asks(GetParam(), true));
  // A bus before the socket forwards the request for a pointer.
  LtInitiator behind_bus("behind_bus", asks(true, GetParam()));
  at_port.socket.bind(platform.port("cpu").socket());
  at_r0.socket.bind(target_of(platform, "r0"));
  at_r1.socket.bind(target_of(platform, "r1"));
  behind_bus.socket.bind(before.in);
  before.out.bind(target_of(platform, "r0"));
  sc_core::sc_start();
  EXPECT_TRUE(at_port.finished && at_r0.finished && at_r1.finished && behind_bus.finished);
  EXPECT_EQ(before.asked, 4u);
  EXPECT_GT(there.asked, 0u);
  EXPECT_GT(back.asked, 0u);
}

INSTANTIATE_TEST_SUITE_P(that_hands_them_on, PastABus, ::testing::Bool(), ::testing::PrintToStringParamName());

/// A model with its own DMI, which an adapter does not forward.
class GivesPointers : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<GivesPointers> in{"in"};
  explicit GivesPointers(sc_core::sc_module_name name) : sc_module(name) {
    in.register_b_transport(this, &GivesPointers::b_transport);
    in.register_get_direct_mem_ptr(this, &GivesPointers::get_direct_mem_ptr);
    in.register_transport_dbg(this, &GivesPointers::transport_dbg);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) { p.set_response_status(tlm::TLM_OK_RESPONSE); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& d) {
    d.allow_read_write();
    d.set_dmi_ptr(&byte_);
    return true;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return p.get_data_length(); }
  unsigned char byte_ = 0;
};

TEST(blocks, grant_no_pointer_to_a_memory_whose_bytes_a_foreign_model_keeps) {
  std::string yaml = kBlocks;
  yaml.replace(yaml.find("kind: sram"), 10, "kind: sram, impl: builtin.sram_tlm");
  const auto platform = platform_from_text(yaml);
  GivesPointers model("model");
  platform->tlm_memory("far").socket().bind(model.in);
  const auto body = [](LtInitiator& self) {
    tlm::tlm_dmi d;
    EXPECT_FALSE(pointer(self, 0x20000, false, d));
    EXPECT_EQ(d.get_end_address(), 0x3ffffu);
    access_ns(self, 0x20000, false, false);
  };
  LtInitiator at_port("at_port", body), at_router("at_router", body), at_memory("at_memory", body);
  at_port.socket.bind(platform->port("cpu").socket());
  at_router.socket.bind(target_of(*platform, "r1"));
  at_memory.socket.bind(target_of(*platform, "far"));
  sc_core::sc_start();
  EXPECT_TRUE(at_port.finished && at_router.finished && at_memory.finished);
}

TEST(blocks, hand_on_the_pointer_of_a_foreign_memory_without_an_adapter) {
  System system;
  Router router("r", system);
  HbmCtrl hbm("hbm", system, HbmCtrl::Parameters{});
  GivesPointers outside("outside");
  connect(router, hbm, {0.05, 64});
  router.out.bind(outside.in);
  system.address_map().add(hbm, 0, 1 << 20);
  system.address_map().add_foreign(router, router.out.ports().size() - 1, 1 << 20, 1 << 20);
  LtInitiator cpu("cpu", [](LtInitiator& self) {
    tlm::tlm_dmi d;
    EXPECT_TRUE(pointer(self, 0, true, d));
    EXPECT_TRUE(pointer(self, 1 << 20, false, d));
  });
  cpu.socket.bind(router.in);
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

/// Counts its reads, which a pointer would bypass.
class Counting : public HbmCtrl {
 public:
  using HbmCtrl::HbmCtrl;
  bool allows_dmi() const override { return false; }
};

TEST(blocks, ask_the_memory_whether_it_allows_pointers) {
  System system;
  Router router("r", system);
  Counting hbm("hbm", system, HbmCtrl::Parameters{});
  connect(router, hbm, {0.05, 64});
  system.address_map().add(hbm, 0x10000, 0x8000);
  LtInitiator cpu("cpu", [](LtInitiator& self) {
    tlm::tlm_dmi d;
    EXPECT_FALSE(pointer(self, 0x10000, false, d));
    EXPECT_EQ(d.get_start_address(), 0x10000u);
    EXPECT_EQ(d.get_end_address(), 0x17fffu);
    access_ns(self, 0x10000, true, false);
  });
  cpu.socket.bind(router.in);
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

}  // namespace
}  // namespace kernbench::testing::pointers_to_memory_stay_true
