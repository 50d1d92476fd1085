// SPDX-License-Identifier: Apache-2.0
// Does a PE with router and memory, made by hand from parameter structs, take the same time for a kernel as the one
// from YAML? And are omissions reported there too?
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <sstream>

#include "kernbench/kernel_api/tl.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/launch/queue_connections.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/host/m_cpu.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
#include "kernbench/systemc_models/memory/hbm_pc.h"
#include "kernbench/systemc_models/pe/processing_element.h"
#include "system_support.h"

namespace kernbench::testing::systems_made_by_hand_have_the_times_of_yaml {
namespace {

constexpr const char* kYaml = R"(
nodes:
- {id: pe.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}
- {id: pe.pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}
- {id: pe.pe_dma, kind: pe_dma, attrs: {overhead_ns: 3, rd_engines: 2}}
- {id: pe.pe_fetch_store, kind: pe_fetch_store}
- {id: pe.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 1024, freq_ghz: 2}}
- {id: pe.pe_math, kind: pe_math, attrs: {lanes: 64, freq_ghz: 1}}
- {id: pe.pe_tcm, kind: pe_tcm, attrs: {size_mb: 2, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 256}}
- {id: r, kind: router, attrs: {overhead_ns: 1}}
- {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_pc,
   attrs: {overhead_ns: 10, pseudo_channels: 4, interleave_bytes: 256, pc_bw_gbs: 32}}
links:
- {from: pe.pe_dma, to: r, distance_mm: 2, bw_gbs: 128}
- {from: r, to: hbm, distance_mm: 5, bw_gbs: 64}
memories:
- {node: hbm, space: hbm, base: 0, size: 1048576}
)";

/// Loads, a product, elementwise math, a composite and a store.
void kernel(tl::Context& tl) {
  const auto at = [](uint64_t address) { return tl::Ptr(Space::hbm, address, DType::f32); };
  const auto a = tl.load_async(at(0), {32, 32}), b = tl.load_async(at(4096), {32, 32});
  tl.store(at(8192), tl.dot(a, b) + 1);
  const auto ref = [&](uint64_t address) { return tl::Context::ref(at(address), {32, 32}); };
  tl.wait(tl.composite(tl::gemm(ref(0), ref(4096)).tiles(16, 16, 16).out(ref(16384))));
}

std::string outcome_text(const KernelRunner::Outcome& o) {
  std::ostringstream text;
  text.precision(17);
  text << o.end_ns << " " << o.fault;
  return text.str();
}

const std::vector<uint8_t> kZeros(8192);

std::string from_yaml(topology::Links links) {
  topology::Overrides o;
  o.links = links;
  o.response = topology::Response::routed;
  const auto platform = platform_from_text(kYaml, o);
  platform->place(0, kZeros.data(), kZeros.size());
  std::string text;
  platform->pes().runner(0).launch(
      [](PeBackend& backend) {
        tl::Context context(backend);
        kernel(context);
        context.finish();
      },
      0, [&](const KernelRunner::Outcome& outcome) { text = outcome_text(outcome); });
  sc_core::sc_start();
  return text;
}

ProcessingElementParameters parameters() {
  ProcessingElementParameters p;
  p.cpu.overhead_ns = 2;
  p.scheduler.overhead_ns = 1;
  p.dma.overhead_ns = 3;
  p.dma.rd_engines = 2;
  p.gemm.macs_per_cycle = 1024;
  p.gemm.freq_ghz = 2;
  p.math.lanes = 64;
  p.math.freq_ghz = 1;
  p.tcm.size_mb = 2;
  p.tcm.reserved_mb = 1;
  p.tcm.read_bw_gbs = 512;
  p.tcm.write_bw_gbs = 256;
  return p;
}

std::string by_hand(Links links) {
  FabricTiming timing;
  timing.links = links;
  timing.response = Response::routed;
  System system(timing);
  ProcessingElement pe("pe", system, parameters());
  RouterParameters passes;
  passes.overhead_ns = 1;
  Router router("r", system, passes);
  HbmPcParameters slice;
  slice.overhead_ns = 10;
  slice.pseudo_channels = 4;
  slice.interleave_bytes = 256;
  slice.pc_bw_gbs = 32;
  HbmPc hbm("hbm", system, slice);
  connect(pe.dma, router, {0.02, 128});
  connect(router, hbm, {0.05, 64});
  system.address_map().add(hbm, 0, 1 << 20);
  system.place(0, kZeros.data(), kZeros.size());
  std::string text;
  pe.run(kernel, [&](const KernelRunner::Outcome& outcome) { text = outcome_text(outcome); });
  sc_core::sc_start();
  return text;
}

TEST(ByHand, a_pe_takes_as_long_as_one_from_yaml) {
  const std::pair<Links, topology::Links> modes[] = {{Links::ideal, topology::Links::ideal},
                                                     {Links::cut_through, topology::Links::cut_through},
                                                     {Links::flit, topology::Links::flit}};
  std::string before;
  for (const auto& [hand, yaml] : modes) {
    const std::string text = in_child([mode = hand] { return by_hand(mode); });
    EXPECT_EQ(text, in_child([mode = yaml] { return from_yaml(mode); })) << topology::name_of(yaml);
    EXPECT_GT(std::stod("0" + text), 100) << text;
    EXPECT_NE(text, before);
    before = text;
  }
}

// Two PEs that send each other messages.

constexpr const char* kSecondPe = R"(
- {id: second.pe_cpu, kind: pe_cpu, attrs: {overhead_ns: 2}}
- {id: second.pe_scheduler, kind: pe_scheduler, attrs: {overhead_ns: 1}}
- {id: second.pe_dma, kind: pe_dma, attrs: {overhead_ns: 3, rd_engines: 2}}
- {id: second.pe_fetch_store, kind: pe_fetch_store}
- {id: second.pe_gemm, kind: pe_gemm, attrs: {macs_per_cycle: 1024, freq_ghz: 2}}
- {id: second.pe_math, kind: pe_math, attrs: {lanes: 64, freq_ghz: 1}}
- {id: second.pe_tcm, kind: pe_tcm, attrs: {size_mb: 2, reserved_mb: 1, read_bw_gbs: 512, write_bw_gbs: 256}}
- {id: pe.pe_ipcq, kind: pe_ipcq, attrs: {overhead_ns: 1.5, slots: 2, slot_bytes: 1024}}
- {id: second.pe_ipcq, kind: pe_ipcq, attrs: {overhead_ns: 1.5, slots: 2, slot_bytes: 1024}}
links:
- {from: second.pe_dma, to: r, distance_mm: 2, bw_gbs: 128})";

constexpr uint64_t kRings = 65536;

/// Loads, sends in four segments, and stores the doubled reply.
void sender(tl::Context& tl) {
  tl.send("E", tl.load(tl::Ptr(Space::hbm, 0, DType::f32), {32, 32}));
  tl.store(tl::Ptr(Space::hbm, 8192, DType::f32), tl.recv("E", {32, 32}, DType::f32));
}
void receiver(tl::Context& tl) {
  const auto x = tl.recv("W", {32, 32}, DType::f32);
  tl.send("W", x + x);
}

/// `tier`: place of the rings of both PEs.
std::string messages_from_yaml(topology::Links links, const std::string& tier) {
  topology::Overrides o;
  o.links = links;
  o.response = topology::Response::routed;
  std::string yaml = kYaml;
  yaml.replace(yaml.find("\nlinks:"), std::string("\nlinks:").size(), kSecondPe);
  const auto platform = platform_from_text(yaml, o);
  platform->place(0, kZeros.data(), kZeros.size());
  RingsAlone places(platform->machine());
  QueueConnection c;
  c.tier = tier;
  c.port = "E";
  c.b = 1;
  c.peer_port = "W";
  auto ports = connect_queues(platform->machine(), {c}, {0, 1}, places, "test");
  std::string text;
  for (size_t p = 0; p < 2; ++p) {
    platform->pes().pe(p).ipcq->open_ports(std::move(ports[p]), 0);
    platform->pes().runner(p).launch(
        [p](PeBackend& backend) {
          tl::Context context(backend);
          p == 0 ? sender(context) : receiver(context);
          context.finish();
        },
        0, [&](const KernelRunner::Outcome& outcome) { text += outcome_text(outcome) + ";"; });
  }
  sc_core::sc_start();
  return text;
}

std::string messages_by_hand(Links links, const std::string& tier) {
  FabricTiming timing;
  timing.links = links;
  timing.response = Response::routed;
  System system(timing);
  ProcessingElementParameters p = parameters();
  p.ipcq.emplace();
  p.ipcq->overhead_ns = 1.5;
  p.ipcq->slots = 2;
  p.ipcq->slot_bytes = 1024;
  p.ipcq->tier = tier;
  FirstFitAllocator room(kRings, 8192);
  ProcessingElement pe("pe", system, p), second("second", system, p);
  if (tier == "hbm") {
    pe.lay_rings_in(Space::hbm, room);
    second.lay_rings_in(Space::hbm, room);
  }
  RouterParameters passes;
  passes.overhead_ns = 1;
  Router router("r", system, passes);
  HbmPcParameters slice;
  slice.overhead_ns = 10;
  slice.pseudo_channels = 4;
  slice.interleave_bytes = 256;
  slice.pc_bw_gbs = 32;
  HbmPc hbm("hbm", system, slice);
  connect(pe.dma, router, {0.02, 128});
  connect(router, hbm, {0.05, 64});
  connect(second.dma, router, {0.02, 128});
  system.address_map().add(hbm, 0, 1 << 20);
  system.place(0, kZeros.data(), kZeros.size());
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  connect_ports({{&pe, "E", &second, "W"}});
  std::string text;
  const auto told = [&](const KernelRunner::Outcome& outcome) { text += outcome_text(outcome) + ";"; };
  pe.run(sender, told);
  second.run(receiver, told);
  if (room.used_bytes() != (tier == "hbm" ? 2 * 2 * 1024u : 0u)) return "the rings are elsewhere";
  sc_core::sc_start();
  return room.used_bytes() == 0 ? text : "the rings have outlived their kernels";
}

TEST(ByHand, messages_take_as_long_as_from_yaml) {
  std::string in_tcm;
  const std::pair<Links, topology::Links> modes[] = {{Links::ideal, topology::Links::ideal},
                                                     {Links::cut_through, topology::Links::cut_through},
                                                     {Links::flit, topology::Links::flit}};
  for (const auto& [hand, yaml] : modes) {
    for (const std::string tier : {"tcm", "hbm"}) {
      const std::string text = in_child([&, mode = hand] { return messages_by_hand(mode, tier); });
      EXPECT_EQ(text, in_child([&, mode = yaml] { return messages_from_yaml(mode, tier); }))
          << topology::name_of(yaml) << " " << tier;
      EXPECT_GT(std::stod("0" + text), 100) << text;
      if (tier == "tcm") {
        in_tcm = text;
      } else {
        EXPECT_NE(text, in_tcm);
      }
    }
  }
}

TEST(ByHand, ports_that_cannot_be_joined_are_told) {
  EXPECT_EQ(in_child([]() -> std::string {
              System system;
              ProcessingElementParameters p = parameters();
              ProcessingElement without("without", system, p);
              p.ipcq.emplace();
              ProcessingElement a("a", system, p), b("b", system, p);
              p.ipcq->slots = 1024;
              ProcessingElement large("large", system, p);
              p.ipcq->tier = "hbm";
              ProcessingElement far("far", system, p);
              std::string told;
              const auto refuse = [&](const std::vector<PortConnection>& all) {
                try {
                  connect_ports(all);
                  told += "nothing\n";
                } catch (const std::invalid_argument& e) {
                  told += e.what() + std::string("\n");
                }
              };
              refuse({{&a, "E", &a, "W"}});
              refuse({{&a, "E", &without, "W"}});
              refuse({{&a, "E", &b, "W"}, {&b, "E", &a, "E"}});
              refuse({{&a, "E", &large, "W"}});
              refuse({{&a, "E", &far, "W"}});
              FirstFitAllocator room(0, 4096);
              far.lay_rings_in(Space::hbm, room);
              refuse({{&a, "E", &far, "W"}});
              return told;
            }),
            "a: is connected with itself; expected two PEs\n"
            "without, port W: the PE has no pe_ipcq\n"
            "a, port E: it has a connection already\n"
            "large, port W: no room for a ring of 4194304 bytes in tcm, of which 1048576 are free\n"
            "far, port W: tier hbm: lay_rings_in() has not said where\n"
            "far, port W: no room for a ring of 4194304 bytes in hbm, of which 4096 are free\n");
}

/// A foreign memory.
struct LtMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<LtMemory> in{"in"};
  explicit LtMemory(sc_core::sc_module_name name) : sc_module(name) { in.register_b_transport(this, &LtMemory::serve); }
  void serve(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(10, sc_core::SC_NS);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// Sequential reads of an m_cpu.
struct Reader {
  Reader(RequestPort& p, Timeline& t) : port(p), timeline(t) {}
  double read(uint64_t address) {
    MemoryRequest r;
    double latency = -1;
    r.address = address;
    r.nbytes = 1024;
    r.issue_ns = timeline.now_ns();
    r.context = &latency;
    r.done = [](MemoryRequest& done, const FabricTransaction& x) {
      *static_cast<double*>(done.context) = x.done_ns - x.issue_ns;
    };
    port.request(r);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    return latency;
  }
  RequestPort& port;
  Timeline& timeline;
};

// A transaction object is reused after one whose header waited at a link on its path to pseudo-channels. Nothing of
// that wait may remain when the next one goes to a foreign memory.
TEST(ByHand, a_read_of_a_foreign_memory_takes_the_same_whatever_was_before) {
  FabricTiming timing;
  timing.links = Links::cut_through;
  timing.response = Response::routed;
  timing.header_bytes = 640;
  System system(timing);
  MCpu a("a", system), b("b", system);
  Router router("r", system);
  HbmPcParameters slice;
  slice.pseudo_channels = 4;
  slice.interleave_bytes = 256;
  slice.pc_bw_gbs = 32;
  HbmPc hbm("hbm", system, slice);
  LtMemory outside("outside");
  connect(a, router, {0.02, 128});
  connect(b, router, {0.02, 128});
  connect(router, hbm, {0.05, 64});
  router.out.bind(outside.in);
  system.address_map().add(hbm, 0, 1 << 20);
  system.address_map().add_foreign(router, router.out.ports().size() - 1, 1 << 20, 1 << 20);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Reader reader(a, system.timeline());
  const double before = reader.read(1 << 20);
  EXPECT_GT(before, 10);
  MemoryRequest first, second;  // at one instant: the header of the second waits 10 ns for the link to the slice
  for (auto& [r, port] : {std::pair<MemoryRequest*, RequestPort*>{&first, &a}, {&second, &b}}) {
    r->nbytes = 1024;
    r->issue_ns = system.timeline().now_ns();
    r->done = [](MemoryRequest&, const FabricTransaction&) {};
    port->request(*r);
  }
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(reader.read(1 << 20), before, 1e-6) << i;
}

/// A foreign block between two routers: 7 ns delay.
struct LtBlock : sc_core::sc_module {
  tlm_utils::simple_target_socket<LtBlock> in{"in"};
  tlm_utils::simple_initiator_socket<LtBlock> out{"out"};
  explicit LtBlock(sc_core::sc_module_name name) : sc_module(name) { in.register_b_transport(this, &LtBlock::serve); }
  void serve(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(7, sc_core::SC_NS);
    out->b_transport(p, delay);
  }
};

/// Latency of a read past two routers with a foreign block (or, with `number` 0, a link) in between.
std::string past_a_block(bool block, size_t number) {
  return in_child([&]() -> std::string {
    System system;
    MCpu a("a", system);
    Router near("near", system), far("far", system);
    HbmCtrl hbm("hbm", system);
    std::unique_ptr<LtBlock> between;
    connect(a, near, {0.02, 128});
    connect(far, hbm, {0.05, 64});
    if (block) {
      between = std::make_unique<LtBlock>("between");
      near.out.bind(between->in);
      between->out.bind(far.in);
      system.address_map().add_way(near, number, far, far.in.ports().size() - 1);
    } else {
      connect(near, far, {0, 0});
    }
    system.address_map().add(hbm, 0, 1 << 20);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    Reader reader(a, system.timeline());
    try {
      return fmt::format("{:.6f}", reader.read(0));
    } catch (const std::exception& e) {
      return e.what();
    }
  });
}

TEST(ByHand, a_way_leads_past_a_foreign_block) {
  const std::string there = past_a_block(true, 1), plain = past_a_block(false, 0);
  EXPECT_NEAR(std::stod(there), std::stod(plain) + 7, 1e-6);
  EXPECT_EQ(past_a_block(true, 9), "near: nothing is bound to its initiator socket as number 9, expected less than 2");
}

TEST(ByHand, parameters_that_are_not_legal_are_told) {
  EXPECT_EQ(in_child([]() -> std::string {
              System system;
              ProcessingElementParameters p = parameters();
              p.tcm.size_mb = 0;
              try {
                ProcessingElement pe("pe", system, p);
              } catch (const std::invalid_argument& e) {
                return e.what();
              }
              return "nothing";
            }),
            "size_mb: found 0, expected more than 0 MiB");
}

TEST(ByHand, a_pe_of_blocks_tells_what_they_lack) {
  EXPECT_EQ(in_child([]() -> std::string {
              System system;
              Router router("r", system);
              Pe pe;
              PeParts parts;
              parts.add("pe_tcm", router);
              try {
                assemble(pe, parts, parts.standard_edges(), system);
              } catch (const InputError& e) {
                return e.what() + std::string("; without ") + missing_for_kernels(parts);
              }
              return "nothing";
            }),
            "r: is no TcmRole, which a block of kind pe_tcm must be (systemc_models/pe/roles.h); without pe_cpu, "
            "pe_scheduler, pe_dma, pe_fetch_store, pe_gemm, pe_math");
}

}  // namespace
}  // namespace kernbench::testing::systems_made_by_hand_have_the_times_of_yaml
