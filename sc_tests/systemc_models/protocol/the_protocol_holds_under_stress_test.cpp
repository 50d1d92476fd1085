// SPDX-License-Identifier: Apache-2.0
// Random AT and LT initiators at ports of every depth, and a memory behind a bus that leads back into the platform. All
// forms of phases, random delays, and the project's own monitor on each connection, which must not report. 100,000
// transactions of each kind; KERNBENCH_STRESS=5000000 in the environment sets another number.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdlib>

#include "kernbench/systemc_models/protocol/protocol_checker.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing::the_protocol_holds_under_stress {
namespace {

constexpr unsigned kDepths[] = {1, 2, 3, 8, 16};
constexpr uint64_t kShare = 0x1000;  ///< private bytes of an initiator in each memory
constexpr uint64_t kNear = 0x100000, kForeign = 0x200000, kBehind = 0x300000;

std::string machine(const std::string& end_resp) {
  std::string nodes, links;
  for (const unsigned depth : kDepths) {
    for (const char* kind : {"at", "lt"}) {
      const std::string id = kind + std::to_string(depth);
      nodes += "  - {id: " + id + ", kind: port, attrs: {outstanding: " + std::to_string(depth) + "}}\n";
      links += "  - {from: " + id + ", to: r0, distance_mm: 0.5, bw_gbs: 100}\n";
    }
  }
  return R"(
timing: {links: cut_through, response: routed, header_bytes: 8}
nodes:
)" + nodes +
         R"(  - {id: back, kind: port, attrs: {outstanding: 4}}
  - {id: r0, kind: router, attrs: {overhead_ns: 1}}
  - {id: near, kind: hbm_ctrl, attrs: {overhead_ns: 4}}
  - {id: foreign, kind: hbm_ctrl, impl: builtin.hbm_tlm, attrs: {max_bytes: 64, end_resp: )" +
         end_resp + R"(}}
  - {id: behind, kind: hbm_ctrl, attrs: {overhead_ns: 7}}
links:
)" + links +
         R"(  - {from: back, to: r0, distance_mm: 1, bw_gbs: 100}
  - {from: r0, to: near, distance_mm: 1, bw_gbs: 64}
  - {from: r0, to: foreign, distance_mm: 1, bw_gbs: 64}
  - {from: r0, to: behind, distance_mm: 1, bw_gbs: 64}
memories:
  - {node: near, space: hbm, base: 0x100000, size: 0x100000}
  - {node: foreign, space: hbm, base: 0x200000, size: 0x100000}
  - {node: behind, space: hbm, base: 0x300000, size: 0x100000}
)";
}

/// A user's bus: passes calls on to the memory behind the foreign one.
struct Bus : sc_core::sc_module {
  tlm_utils::simple_target_socket<Bus> in{"in"};
  tlm_utils::simple_initiator_socket<Bus> out{"out"};
  explicit Bus(sc_core::sc_module_name name) : sc_module(name) {
    in.register_nb_transport_fw(this, &Bus::nb_transport_fw);
    in.register_transport_dbg(this, &Bus::transport_dbg);
    out.register_nb_transport_bw(this, &Bus::nb_transport_bw);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) p.set_address(p.get_address() + kBehind);
    return out->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return in->nb_transport_bw(p, phase, delay);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) {
    p.set_address(p.get_address() + kBehind);
    return out->transport_dbg(p);
  }
};

uint64_t transactions() {
  const char* text = std::getenv("KERNBENCH_STRESS");
  return text ? std::stoull(text) : 100'000;
}

class Stress : public ::testing::TestWithParam<const char*> {};

TEST_P(Stress, leaves_the_monitor_silent) {
  const auto platform = platform_from_text(machine(GetParam()));
  uint64_t violations = 0;
  const auto report = [&](const std::string& violation) {
    if (++violations < 5) ADD_FAILURE() << violation;
  };
  Bus bus("bus");
  std::deque<ProtocolChecker<>> checkers;
  const auto checker = [&](const std::string& name) -> ProtocolChecker<>& {
    ProtocolChecker<>& c = checkers.emplace_back(name.c_str());
    c.monitor().set_report(report);
    return c;
  };
  ProtocolChecker<>&into = checker("into"), &out_of = checker("out_of");
  platform->tlm_memory("foreign").socket().bind(into.target_socket);
  into.initiator_socket.bind(bus.in);
  bus.out.bind(out_of.target_socket);
  out_of.initiator_socket.bind(platform->port("back").socket());

  const uint64_t each = transactions() / (2 * std::size(kDepths));
  uint64_t done = 0, wrong = 0;
  std::deque<AtInitiator> at;
  std::deque<LtInitiator> lt;
  const auto shape_of = [](std::mt19937_64& random, uint64_t share, std::vector<uint8_t>& model, bool write,
                           uint64_t at_offset) {
    Shape s;
    s.command = write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    s.data.resize(1 + random() % 100);
    const uint64_t memory = random() % 4 == 0 ? kForeign : kNear;
    const uint64_t offset = at_offset + random() % 100;
    s.address = memory + share * kShare + offset;
    const size_t slot = (memory == kForeign ? kShare : 0) + offset;
    for (size_t i = 0; i < s.data.size(); ++i) {
      if (write) model[slot + i] = static_cast<uint8_t>(random());
      s.data[i] = model[slot + i];
    }
    return s;
  };
  uint64_t share = 0;
  for (const unsigned depth : kDepths) {
    const uint64_t at_share = share++, lt_share = share++;
    at.emplace_back(("at_model" + std::to_string(depth)).c_str(), [&, depth, at_share](AtInitiator& self) {
      std::mt19937_64 random(depth);
      std::vector<uint8_t> model(2 * kShare);
      std::deque<AtInitiator::Issued> all;
      std::vector<Shape> expected;
      for (uint64_t n = 0; n < each;) {
        // Concurrent requests have separate places, so any order of service gives the same result.
        all.clear();
        expected.clear();
        for (uint64_t i = 0; i < 16 && n < each; ++i, ++n) {
          AtInitiator::Issued& x = all.emplace_back();
          x.shape = shape_of(random, at_share, model, random() % 2 != 0, 0x100 * i);
          expected.push_back(x.shape);
          if (x.shape.command == tlm::TLM_READ_COMMAND) x.shape.data.assign(x.shape.data.size(), 0xee);
          x.ending = static_cast<AtInitiator::Ending>(random() % 3);
          x.end_delay_ns = static_cast<double>(random() % 5);
          x.issue_delay_ns = random() % 2 ? static_cast<double>(random() % 6) : 0;
          self.issue(x);
          if (random() % 3 == 0) sc_core::wait(sc_core::sc_time(static_cast<double>(random() % 20), sc_core::SC_NS));
        }
        self.drain();
        for (size_t i = 0; i < all.size(); ++i)
          wrong += all[i].status != tlm::TLM_OK_RESPONSE || all[i].shape.data != expected[i].data;
        done += all.size();
      }
    });
    lt.emplace_back(("lt_model" + std::to_string(depth)).c_str(), [&, depth, lt_share](LtInitiator& self) {
      std::mt19937_64 random(100 + depth);
      std::vector<uint8_t> model(2 * kShare);
      sc_core::sc_time ahead;
      for (uint64_t n = 0; n < each; ++n, ++done) {
        Shape s = shape_of(random, lt_share, model, random() % 2 != 0, random() % (kShare - 200));
        const std::vector<uint8_t> expected = s.data;
        if (s.command == tlm::TLM_READ_COMMAND) s.data.assign(s.data.size(), 0xee);
        wrong += self.access(s, &ahead) != tlm::TLM_OK_RESPONSE || s.data != expected;
        ahead += sc_core::sc_time(static_cast<double>(random() % 30), sc_core::SC_NS);
        if (ahead < sc_core::sc_time(static_cast<double>(random() % 200), sc_core::SC_NS)) continue;
        sc_core::wait(ahead);
        ahead = sc_core::SC_ZERO_TIME;
      }
    });
    for (const bool is_at : {true, false}) {
      const std::string id = (is_at ? "at" : "lt") + std::to_string(depth);
      ProtocolChecker<>& c = checker("checker_" + id);
      if (is_at) {
        at.back().socket.bind(c.target_socket);
      } else {
        lt.back().socket.bind(c.target_socket);
      }
      c.initiator_socket.bind(platform->port(id).socket());
    }
  }
  sc_core::sc_start();
  EXPECT_EQ(done, each * 2 * std::size(kDepths));
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(violations, 0u);
  uint64_t calls = 0;
  for (ProtocolChecker<>& c : checkers) calls += c.monitor().calls();
  EXPECT_GT(calls, 2 * done);
  for (const AtInitiator& a : at) EXPECT_TRUE(a.finished) << a.name();
  for (const LtInitiator& l : lt) EXPECT_TRUE(l.finished) << l.name();
}

INSTANTIATE_TEST_SUITE_P(EndResp, Stress, ::testing::Values("updated", "completed", "phase"),
                         [](const auto& form) { return std::string(form.param); });

}  // namespace
}  // namespace kernbench::testing::the_protocol_holds_under_stress
