// SPDX-License-Identifier: Apache-2.0
// Accesses past foreign blocks: do breakdowns sum, does the log replay from files, do debug transport and pointers use
// the same path, does a PE read the contents of a foreign memory, and who executes its atomics?
#include <gtest/gtest.h>
#include <unistd.h>

#include "hostile_blocks.h"
#include "kernbench/kernel_api/tl.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/memory_file.h"
#include "kernbench/phase2/log/oplog_file.h"
#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/fabric/address_map.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/memory/tlm_memory.h"
#include "kernbench/systemc_models/pe/processing_element.h"
#include "system_support.h"
#include "tapped_system.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

/// 7 ns there and 7 ns back.
class Later : public LtBlock {
 public:
  using LtBlock::LtBlock;
  void access(Payload& p, sc_core::sc_time& t) override {
    t += sc_core::sc_time(7, sc_core::SC_NS);
    out->b_transport(p, t);
    t += sc_core::sc_time(7, sc_core::SC_NS);
  }
  void atomic(Payload& p, sc_core::sc_time& t) override { access(p, t); }
};

class PastABlock : public ::testing::TestWithParam<topology::Links> {};

TEST_P(PastABlock, the_parts_of_an_access_sum_to_its_latency) {
  topology::Graph g = small(GetParam(), topology::Response::routed);
  const uint32_t dma = g.pes[0].blocks.at("pe_dma");
  const topology::Memory near = g.memories[0], far = g.memories[g.memories.size() / 2];
  topology::insert_foreign(g, "later", "sip0.cube0.r0c0", g.nodes[dma].id);
  Platform platform("system", g);
  Later there("there", 1), back("back", 2);
  there.bind(platform.foreign("later"), g.nodes[dma].id, "sip0.cube0.r0c0");
  back.bind(platform.foreign("later"), "sip0.cube0.r0c0", g.nodes[dma].id);
  struct Sum {
    double latency = 0, parts = 0, least = 0, outside = 0, queue = 0;
  };
  const std::pair<bool, AtomicKind> accesses[] = {{false, AtomicKind::none},
                                                  {true, AtomicKind::none},
                                                  {true, AtomicKind::fetch},
                                                  {true, AtomicKind::reduce},
                                                  {true, AtomicKind::compare}};
  for (const auto& [write, atomic] : accesses) {
    for (const topology::Memory& memory : {near, far}) {
      Sum sum;
      MemoryRequest r;
      Rows rows{1, 4096, 0};
      rows.atomic = atomic;
      r.rows = &rows;
      r.write = write;
      r.address = memory.base;
      r.nbytes = 4096;
      r.context = &sum;
      r.issue_ns = platform.timeline().now_ns();
      r.done = [](MemoryRequest& done, const FabricTransaction& x) {
        Sum& s = *static_cast<Sum*>(done.context);
        const auto parts = {x.overhead_ns,   x.wire_ns,         x.drain_ns,  x.store_forward_ns,
                            x.link_queue_ns, x.memory_queue_ns, x.outside_ns};
        s.latency = x.done_ns - x.grant_ns;
        for (const double part : parts) s.parts += part;
        s.least = std::min(parts);
        s.outside = x.outside_ns;
      };
      platform.request_port(dma)->request(r);
      sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US));
      EXPECT_NEAR(sum.parts, sum.latency, 1e-6);
      EXPECT_GE(sum.least, -1e-9);
      // A driver's atomic has no description. The block immediately passes on commands that it does not support.
      EXPECT_NEAR(sum.outside, atomic == AtomicKind::none ? 14 : 0, 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(of, PastABlock,
                         ::testing::Values(topology::Links::ideal, topology::Links::cut_through, topology::Links::flit),
                         [](const auto& p) { return std::string(topology::name_of(p.param)); });

struct Replayed {
  const char *kernel, *pending;
  size_t kind;  ///< of hostile_kinds()
  float factor;
};

/// The block moves scratch ranges (6), or passes everything on with its own payloads (5). A replay from files must have
/// the same contents as the run.
TEST(PastABlock, a_log_replays_from_its_files) {
  for (const Replayed& c : {Replayed{"hostile_probe", "false", 6, 1}, Replayed{"hostile_probe", "true", 6, 2},
                            Replayed{"hostile_ranges", "false", 6, 2}, Replayed{"hostile_ranges", "true", 6, 4},
                            Replayed{"hostile_ranges", "false", 5, 2}}) {
    SCOPED_TRACE(std::string(c.kernel) + c.pending + hostile_kinds()[c.kind].name);
    for (const char* ending : {".jsonl", ".sqlite"}) {
      const std::string base = ::testing::TempDir() + "past" + ending + c.pending + std::to_string(::getpid());
      const std::string said = in_child([&]() -> std::string {
        topology::Graph g = small(topology::Links::flit, topology::Response::routed);
        const std::string dma = g.nodes[g.pes[0].blocks.at("pe_dma")].id;
        const topology::Graph plain = g;
        topology::insert_foreign(g, "moves", "sip0.cube0.r0c0", dma);
        Platform platform("system", g);
        const auto there = hostile_kinds()[c.kind].make("there", 1), back = hostile_kinds()[c.kind].make("back", 2);
        there->bind(platform.foreign("moves"), dma, "sip0.cube0.r0c0");
        back->bind(platform.foreign("moves"), "sip0.cube0.r0c0", dma);
        RunOptions o;
        o.kernel = c.kernel;
        o.params = {{"n", "500"}, {"pending", c.pending}};
        o.verify = true;
        o.header.isa = std::string(name_of(o.isa));
        for (const auto& n : platform.graph().nodes) o.header.components.push_back(n.id);
        for (const auto& pe : platform.graph().pes) o.header.pes.push_back(pe.id);
        o.log = make_op_log(base + ending);
        o.memory_file = std::make_unique<WrittenFile>(base + ".kbmem");
        return run_kernel(platform, std::move(o)).passed ? "" : "failed";
      });
      ASSERT_EQ(said, "");
      OpLogContents file = read_op_log(base + ending);
      const MemoryFileContents start = read_memory_file(base + ".kbmem");
      EXPECT_THROW(replay(file.records, start.image), std::exception);  // the bytes are in the memory file
      attach_data(file.records, start);
      const ReplayResult again = replay(file.records, start.image);
      const PlacedTensor *x = nullptr, *y = nullptr;
      for (const PlacedTensor& t : file.header.tensors) (t.name == "x" ? x : y) = &t;
      ASSERT_TRUE(x && y);
      size_t moved = 0, done_by_block = 0;
      for (const OpRecord& r : file.records) {
        done_by_block += r.desc && r.desc->type == CommandType::atomic && r.desc->carried;
        if (!r.desc || !r.desc->carried || r.desc->type == CommandType::atomic) continue;
        const TensorRef& at = r.desc->type == CommandType::load ? r.desc->operands[0].ref : r.desc->output;
        uint64_t bytes = 0;
        for (const Carried::Part& p : r.desc->carried->parts) {
          moved += p.addr != at.addr + p.offset && at.contiguous();
          bytes += p.nbytes;
        }
        if (c.kind == 6) {  // else by the block's own writes and reads
          EXPECT_EQ(bytes, at.nbytes());
        }
      }
      EXPECT_EQ(moved > 0, c.kind == 6);
      EXPECT_EQ(done_by_block > 0, c.kind == 5);
      const Bytes in = read_tensor(*x, again.memory), out = read_tensor(*y, again.memory);
      for (size_t i = 0; i < in.size(); i += sizeof(float)) {
        float from = 0, to = 0;
        std::memcpy(&from, &in[i], sizeof from);
        std::memcpy(&to, &out[i], sizeof to);
        ASSERT_EQ(to, from * c.factor) << i;
      }
    }
  }
}

TEST(PastABlock, a_second_block_for_one_side_is_told) {
  EXPECT_NE(in_child([]() -> std::string {
              topology::Graph g = small(topology::Links::ideal, topology::Response::ideal);
              topology::insert_foreign(g, "tap", "sip0.cube0.r0c0", "sip0.cube0.r0c1");
              Platform platform("system", g);
              PassesOn one("one", 1), two("two", 2);
              one.bind(platform.foreign("tap"), "sip0.cube0.r0c0", "sip0.cube0.r0c1");
              two.bind(platform.foreign("tap"), "sip0.cube0.r0c0", "sip0.cube0.r0c1");
              return "taken";
            }).find("tap: found a second block bound that takes the requests of sip0.cube0.r0c0, expected one"),
            std::string::npos);
}

/// A block that does not support atomics and responds OK.
TEST(PastABlock, an_atomic_that_nobody_has_done_is_a_fault) {
  for (const auto links : {topology::Links::ideal, topology::Links::cut_through, topology::Links::flit}) {
    const std::string said = in_child([&]() -> std::string {
      topology::Graph g = small(links, topology::Response::routed);
      const std::string dma = g.nodes[g.pes[0].blocks.at("pe_dma")].id;
      topology::insert_foreign(g, "splits", "sip0.cube0.r0c0", dma);
      Platform platform("system", g);
      const auto there = hostile_kinds()[4].make("there", 1), back = hostile_kinds()[4].make("back", 2);
      there->bind(platform.foreign("splits"), dma, "sip0.cube0.r0c0");
      back->bind(platform.foreign("splits"), "sip0.cube0.r0c0", dma);
      RunOptions o;
      o.kernel = "hostile_ranges";
      o.params = {{"n", "500"}};
      try {
        run_kernel(platform, std::move(o));
      } catch (const RunError& e) {
        return e.what();
      }
      return "no fault";
    });
    for (const char* word : {"sip0.cube0.pe0", "foreign_blocks_may_do_anything_test.cpp:", "atomic_add",
                             "of sip0.cube0.hbm_ctrl.pe0", "not done"})
      EXPECT_NE(said.find(word), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

/// A foreign memory: bytes, and pointers to them.
struct PlainMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<PlainMemory> in{"in"};
  std::vector<uint8_t> bytes = std::vector<uint8_t>(1 << 16);
  bool knows_atomics = false;
  explicit PlainMemory(sc_core::sc_module_name name) : sc_module(name) {
    in.register_b_transport(this, &PlainMemory::serve);
    in.register_get_direct_mem_ptr(this, &PlainMemory::point);
    in.register_transport_dbg(this, &PlainMemory::debug);
  }
  void serve(Payload& p, sc_core::sc_time& t) {
    if (AtomicExtension* e = knows_atomics ? atomic_of(p) : nullptr) add(p, *e);
    if (p.get_command() != tlm::TLM_IGNORE_COMMAND) debug(p);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    t += sc_core::sc_time(10, sc_core::SC_NS);
  }
  /// It supports only this: adding i32.
  void add(Payload& p, AtomicExtension& e) {
    e.done = e.op == "add" && e.dtype == DType::i32;
    size_t at = 0;
    for (const AtomicExtension::Range& r : e.ranges) {
      for (uint64_t i = 0; i < r.nbytes; i += 4, at += 4) {
        uint8_t* here = bytes.data() + (p.get_address() - base + r.offset + i);
        int32_t now = 0, more = 0;
        std::memcpy(&now, here, 4);
        std::memcpy(&more, e.operand.data() + at, 4);
        if (e.returns_old) e.old.insert(e.old.end(), here, here + 4);
        now += more;
        std::memcpy(here, &now, 4);
      }
    }
  }
  uint64_t base = 1 << 20;
  unsigned debug(Payload& p) {
    uint8_t* here = bytes.data() + (p.get_address() - base);
    p.is_write() ? std::memcpy(here, p.get_data_ptr(), p.get_data_length())
                 : std::memcpy(p.get_data_ptr(), here, p.get_data_length());
    return p.get_data_length();
  }
  bool point(Payload&, tlm::tlm_dmi& dmi) {
    dmi.set_dmi_ptr(bytes.data());
    dmi.set_start_address(1 << 20);
    dmi.set_end_address((1 << 20) + bytes.size() - 1);
    dmi.set_granted_access(tlm::tlm_dmi::DMI_ACCESS_READ_WRITE);
    dmi.set_read_latency(sc_core::sc_time(10, sc_core::SC_NS));
    dmi.set_write_latency(sc_core::sc_time(10, sc_core::SC_NS));
    return true;
  }
};

/// A PE loads, dense or in rows, the data that a CPU wrote to a foreign memory; the PE's stores arrive there.
std::string by_hand(Links links) {
  FabricTiming timing;
  timing.links = links;
  timing.response = Response::routed;
  System system(timing);
  ProcessingElementParameters parameters;
  parameters.gemm.macs_per_cycle = 1024;
  parameters.gemm.freq_ghz = 1;
  parameters.math.lanes = 64;
  parameters.math.freq_ghz = 1;
  parameters.tcm.size_mb = 2;
  parameters.tcm.read_bw_gbs = parameters.tcm.write_bw_gbs = 256;
  ProcessingElement pe("pe", system, parameters);
  Router router("r", system);
  HbmCtrl hbm("hbm", system);
  PlainMemory outside("outside");
  connect(pe.dma, router, {0.02, 128});
  connect(router, hbm, {0.05, 64});
  router.out.bind(outside.in);
  system.address_map().add(hbm, 0, 1 << 20);
  system.address_map().add_foreign(router, router.out.ports().size() - 1, 1 << 20, 1 << 16);
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  std::memcpy(outside.bytes.data(), values.data(), 32);
  std::string fault = "nothing ran";
  float seen[4] = {};
  pe.run(
      [&](tl::Context& tl) {
        const tl::Ptr there(Space::hbm, 1 << 20, DType::f32);
        const auto all = tl.load(there, {8});
        seen[0] = static_cast<float>(all(7));
        const auto rows = tl.load(there.block({2, 2}, 4));
        seen[1] = static_cast<float>(rows(1, 1));
        tl.store(there + 100, all);
        seen[2] = static_cast<float>(tl.load(there + 100, {8})(2));
        seen[3] = static_cast<float>(tl.load(there + 200, {4})(0));  // unwritten: the initial contents of that memory
      },
      [&](const KernelOutcome& outcome) { fault = outcome.fault; });
  sc_core::sc_start();
  float stored = 0;
  std::memcpy(&stored, &outside.bytes[400 + 4], 4);
  if (!fault.empty()) return fault;
  return std::to_string(seen[0] + 10 * seen[1] + 100 * seen[2] + 1000 * seen[3] + 10000 * stored);
}

TEST(PastABlock, a_pe_and_a_foreign_memory_see_each_others_bytes) {
  for (const Links links : {Links::ideal, Links::cut_through, Links::flit})
    EXPECT_EQ(in_child([&] { return by_hand(links); }), std::to_string(8.f + 60 + 300 + 0 + 20000.f));
}

/// Results of atomics at a foreign memory: bound directly, or behind an adapter that stores its bytes in the model or
/// uses it for time only. The sum of the returned values, the final contents, and the model's contents.
std::string atomics_at_a_memory(Links links, bool knows, const std::string& storage) {
  FabricTiming timing;
  timing.links = links;
  timing.response = Response::routed;
  System system(timing);
  ProcessingElementParameters parameters;
  parameters.gemm.macs_per_cycle = 1024;
  parameters.gemm.freq_ghz = 1;
  parameters.math.lanes = 64;
  parameters.math.freq_ghz = 1;
  parameters.tcm.size_mb = 2;
  parameters.tcm.read_bw_gbs = parameters.tcm.write_bw_gbs = 256;
  ProcessingElement pe("pe", system, parameters);
  Router router("r", system);
  HbmCtrl hbm("hbm", system);
  PlainMemory outside("outside");
  outside.knows_atomics = knows;
  connect(pe.dma, router, {0.02, 128});
  connect(router, hbm, {0.05, 64});
  std::unique_ptr<TlmMemory> adapter;
  if (storage.empty()) {
    router.out.bind(outside.in);
    system.address_map().add_foreign(router, router.out.ports().size() - 1, 1 << 20, 1 << 16);
  } else {
    TlmMemoryParameters<HbmParameters> p;
    p.storage = storage;
    outside.base = 0;
    adapter = std::make_unique<TlmMemory>("adapter", system, p);
    connect(router, *adapter, {0.05, 64});
    adapter->socket().bind(outside.in);
    system.address_map().add(*adapter, 1 << 20, 1 << 16);
    const std::vector<uint8_t> zeros(256);
    system.place(1 << 20, zeros.data(), zeros.size());
  }
  system.address_map().add(hbm, 0, 1 << 20);
  std::string fault = "nothing ran";
  int64_t sum = 0, after = 0;
  pe.run(
      [&](tl::Context& tl) {
        const tl::Ptr there(Space::hbm, 1 << 20, DType::i32);
        const tl::Tensor index = tl.tensor(std::vector<int64_t>{3, 1, 3}, {3}, DType::i32);
        tl.red_add(there, index, 5);
        const auto old = tl.atomic_add(there, index, 100);
        for (int64_t i = 0; i < 3; ++i) sum += old(i);
        after = tl.load(there, {4})(3);
      },
      [&](const KernelOutcome& outcome) { fault = outcome.fault; });
  sc_core::sc_start();
  int32_t held = 0;
  std::memcpy(&held, outside.bytes.data() + 12, 4);
  if (!fault.empty()) return fault;
  return std::to_string(sum) + " " + std::to_string(after) + " " + std::to_string(held);
}

TEST(PastABlock, a_foreign_memory_does_atomics_that_it_knows) {
  for (const Links links : {Links::ideal, Links::cut_through, Links::flit}) {
    for (const std::string storage : {"", "target", "image"}) {
      for (const bool knows : {true, false}) {
        const std::string said = in_child([&] { return atomics_at_a_memory(links, knows, storage); });
        if (storage == "image") {
          EXPECT_EQ(said.substr(0, 8), "125 210 ") << said;  // 10 + 5 + 110: on the platform's image
        } else if (knows) {
          EXPECT_EQ(said, "125 210 210");
        } else {
          for (const char* word : {"pe", "accesses_past_foreign_blocks_test.cpp:", "red_add", "not done"})
            EXPECT_NE(said.find(word), std::string::npos) << said;
        }
      }
    }
  }
}

/// A pointer with the latency of the block's own and of the path there; and one that is denied because the block does
/// not forward it.
TEST(PastABlock, pointers_go_through_the_blocks) {
  System system;
  Router router("r", system);
  HbmCtrl hbm("hbm", system);
  PlainMemory outside("outside");
  connect(router, hbm, {0.05, 64});
  router.out.bind(outside.in);
  system.address_map().add(hbm, 0, 1 << 20);
  system.address_map().add_foreign(router, router.out.ports().size() - 1, 1 << 20, 1 << 16);
  bool granted = false, debugged = false;
  LtInitiator cpu("cpu", [&](LtInitiator& self) {
    Payload p;
    uint8_t byte = 0;
    p.set_read();
    p.set_address((1 << 20) + 5);
    p.set_data_ptr(&byte);
    p.set_data_length(1);
    p.set_streaming_width(1);
    tlm::tlm_dmi dmi;
    granted = self.socket->get_direct_mem_ptr(p, dmi);
    EXPECT_EQ(dmi.get_dmi_ptr(), outside.bytes.data());
    EXPECT_GE(dmi.get_read_latency(), sc_core::sc_time(10, sc_core::SC_NS));
    outside.bytes[5] = 77;
    debugged = self.socket->transport_dbg(p) == 1 && byte == 77;
  });
  cpu.socket.bind(router.in);
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished && granted && debugged);
}

/// Accepts every request and never responds.
struct Silent : sc_core::sc_module {
  tlm_utils::simple_target_socket<Silent> in{"in"};
  explicit Silent(sc_core::sc_module_name name) : sc_module(name) {
    in.register_nb_transport_fw(this, &Silent::forward);
  }
  tlm::tlm_sync_enum forward(Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
};

/// With a clock, so that the simulation never runs out of events.
std::string asks_the_silent(double timeout_ns) {
  return in_child([&]() -> std::string {
    sc_core::sc_clock clock("clock", 10, sc_core::SC_NS);
    System system;
    ProcessingElementParameters parameters;
    parameters.gemm.macs_per_cycle = 1024;
    parameters.gemm.freq_ghz = 1;
    parameters.math.lanes = 64;
    parameters.math.freq_ghz = 1;
    parameters.tcm.size_mb = 2;
    parameters.tcm.read_bw_gbs = parameters.tcm.write_bw_gbs = 256;
    parameters.dma.timeout_ns = timeout_ns;
    ProcessingElement pe("pe", system, parameters);
    Router router("r", system);
    HbmCtrl hbm("hbm", system);
    Silent silent("silent");
    connect(pe.dma, router, {0.02, 128});
    connect(router, hbm, {0.05, 64});
    router.out.bind(silent.in);
    system.address_map().add(hbm, 0, 1 << 20);
    system.address_map().add_foreign(router, router.out.ports().size() - 1, 1 << 20, 1 << 16);
    const std::vector<float> zeros(64);
    system.place(0, zeros.data(), 256);
    bool ended = false;
    pe.run(
        [&](tl::Context& tl) {
          for (int i = 0; i < 100; ++i) tl.load(tl::Ptr(Space::hbm, 0, DType::f32), {64});
          tl.load(tl::Ptr(Space::hbm, 1 << 20, DType::f32), {8});
        },
        [&](const KernelOutcome&) { ended = true; });
    try {
      sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    } catch (const std::exception& e) {
      return e.what();
    }
    return ended ? "ended" : "still waits";
  });
}

TEST(Timeout, names_the_access_and_who_has_it) {
  EXPECT_EQ(asks_the_silent(0), "still waits");
  const std::string told = asks_the_silent(500);
  for (const char* word : {"pe.pe_dma: read of 32 bytes at 0x100000", "not answered 500 ns after its grant",
                           "it is in the foreign block behind r"})
    EXPECT_NE(told.find(word), std::string::npos) << told;
}

}  // namespace
}  // namespace kernbench::testing
