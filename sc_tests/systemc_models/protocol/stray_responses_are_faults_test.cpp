// SPDX-License-Identifier: Apache-2.0
// A repeated response, or a response to a payload that is not in flight, is an SC_ERROR. It names the responder and the
// payload, for any block and in any link mode. The same holds for a request that a block passes on twice.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/host/port.h"
#include "kernbench/systemc_models/memory/tlm_memory.h"
#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing::stray_responses {
namespace {

std::string machine(const std::string& links, const std::string& memory, bool tap) {
  return "timing: {links: " + links + R"(, response: routed, header_bytes: 16}
nodes:
- {id: cpu, kind: port}
- {id: r, kind: router, attrs: {overhead_ns: 1}}
- {id: hbm, kind: hbm_ctrl, impl: )" +
         memory + R"(}
links:
- {from: cpu, to: r, distance_mm: 1, bw_gbs: 64}
- {from: r, to: hbm, distance_mm: 1, bw_gbs: 64}
memories:
- {node: hbm, space: hbm, base: 0, size: 65536}
)" + (tap ? "foreign:\n- {id: tap, between: [r, hbm]}\n" : "");
}

enum class Fault { none, doubled, stray, request };

/// Passes everything on, and then makes one additional call.
struct Tap : sc_core::sc_module {
  tlm_utils::simple_target_socket<Tap> in{"in"};
  tlm_utils::simple_initiator_socket<Tap> out{"out"};
  Fault fault;
  tlm::tlm_generic_payload stray;
  Tap(sc_core::sc_module_name name, Fault f) : sc_module(name), fault(f) {
    in.register_nb_transport_fw(this, &Tap::forward);
    out.register_nb_transport_bw(this, &Tap::backward);
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    tlm::tlm_phase again = phase;
    const tlm::tlm_sync_enum answer = out->nb_transport_fw(p, phase, delay);
    sc_core::sc_time none;
    if (fault == Fault::request && again == tlm::BEGIN_REQ) out->nb_transport_fw(p, again, none);
    return answer;
  }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    const bool responds = phase == tlm::BEGIN_RESP;
    const tlm::tlm_sync_enum answer = in->nb_transport_bw(p, phase, delay);
    tlm::tlm_phase again = tlm::BEGIN_RESP;
    sc_core::sc_time none;
    if (responds && fault == Fault::doubled) in->nb_transport_bw(p, again, none);
    if (responds && fault == Fault::stray) in->nb_transport_bw(stray, again, none);
    return answer;
  }
};

/// A memory that responds twice.
struct Memory : sc_core::sc_module, tlm::tlm_fw_transport_if<> {
  tlm::tlm_target_socket<> socket{"socket"};
  Fault fault;
  bool by_return;
  Memory(sc_core::sc_module_name name, Fault f, bool r) : sc_module(name), fault(f), by_return(r) {
    socket.bind(*this);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) override {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    for (int i = 0; i < (fault == Fault::doubled && !by_return ? 2 : 1); ++i) {
      tlm::tlm_phase responds = tlm::BEGIN_RESP;
      sc_core::sc_time none;
      socket->nb_transport_bw(p, responds, none);
    }
    return fault == Fault::doubled && by_return ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override { return p.get_data_length(); }
};

/// The report for a read of 64 bytes at 0x1240; "ok": none.
template <class Bind>
std::string told(Platform& platform, const Bind& bind) {
  bind();
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) {
    if (r.get_severity() >= sc_core::SC_ERROR) throw RunError(std::string(r.get_msg_type()) + ": " + r.get_msg());
  });
  std::string result;
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.address = 0x1240;
    s.data.resize(64);
    result = self.access(s) == tlm::TLM_OK_RESPONSE ? "ok" : "error";
  });
  cpu.socket.bind(platform.port("cpu").socket());
  try {
    sc_core::sc_start();
  } catch (const std::exception& e) {
    return e.what();
  }
  return result;
}

std::string past_a_tap(const std::string& links, Fault fault) {
  return in_child([&] {
    const auto platform = platform_from_text(machine(links, "builtin.hbm_ctrl", true));
    Tap tap("tap_block", fault);
    return told(*platform, [&] {
      platform->foreign("tap").bind(tap.in, "r");
      platform->foreign("tap").bind(tap.out, "hbm");
    });
  });
}

std::string of_a_memory(const std::string& links, Fault fault, bool by_return) {
  return in_child([&] {
    const auto platform = platform_from_text(machine(links, "builtin.hbm_tlm, attrs: {storage: image}", false));
    Memory memory("memory", fault, by_return);
    return told(*platform, [&] { platform->tlm_memory("hbm").socket().bind(memory.socket); });
  });
}

class StrayResponses : public ::testing::TestWithParam<const char*> {};

TEST_P(StrayResponses, of_a_block_on_a_link_are_told) {
  const std::string came = ": the response to a read of 64 bytes at 0x1240 came twice or without its request";
  EXPECT_EQ(past_a_tap(GetParam(), Fault::none), "ok");
  EXPECT_NE(past_a_tap(GetParam(), Fault::doubled).find("/kernbench/tlm: tap" + came), std::string::npos)
      << past_a_tap(GetParam(), Fault::doubled);
  const std::string stray = past_a_tap(GetParam(), Fault::stray);
  EXPECT_NE(stray.find("/kernbench/tlm: tap: the response to a "), std::string::npos) << stray;
  const std::string request = past_a_tap(GetParam(), Fault::request);
  EXPECT_NE(request.find("/kernbench/tlm: tap: BEGIN_REQ of a payload that it does not have"), std::string::npos)
      << request;
}

TEST_P(StrayResponses, of_a_memory_are_told) {
  EXPECT_EQ(of_a_memory(GetParam(), Fault::none, false), "ok");
  for (const bool by_return : {false, true}) {
    const std::string said = of_a_memory(GetParam(), Fault::doubled, by_return);
    EXPECT_NE(said.find("/kernbench/tlm: hbm: the response to a read of 64 bytes at 0x1240 came twice"),
              std::string::npos)
        << said;
  }
}

INSTANTIATE_TEST_SUITE_P(links, StrayResponses, ::testing::Values("ideal", "cut_through", "flit"),
                         [](const auto& i) { return std::string(i.param); });

}  // namespace
}  // namespace kernbench::testing::stray_responses
