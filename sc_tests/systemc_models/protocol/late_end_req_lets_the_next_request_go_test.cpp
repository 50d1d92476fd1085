// SPDX-License-Identifier: Apache-2.0
// hbm_tlm whose model leads back into the platform: a user's AT or LT bus is between its socket and a port whose
// END_REQ comes late, on the platform's own timeline. Every request must proceed, and every byte must arrive.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <tuple>

#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

constexpr uint64_t kFar = 0x20000;

/// Passes calls on to the far memory, with the transport of the incoming call.
struct Bus : sc_core::sc_module {
  tlm_utils::simple_target_socket<Bus> in{"in"};
  tlm_utils::simple_initiator_socket<Bus> out{"out"};
  unsigned late = 0;  ///< END_REQs by call

  Bus(sc_core::sc_module_name name, bool at) : sc_module(name) {
    in.register_transport_dbg(this, &Bus::transport_dbg);
    in.register_b_transport(this, &Bus::b_transport);
    if (at) in.register_nb_transport_fw(this, &Bus::nb_transport_fw);
    out.register_nb_transport_bw(this, &Bus::nb_transport_bw);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) {
    p.set_address(p.get_address() + kFar);
    return out->transport_dbg(p);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    p.set_address(p.get_address() + kFar);
    out->b_transport(p, delay);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::BEGIN_REQ) p.set_address(p.get_address() + kFar);
    return out->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    late += phase == tlm::END_REQ;
    return in->nb_transport_bw(p, phase, delay);
  }
};

std::string loop_back(int outstanding) {
  return R"(
timing: {links: cut_through}
nodes:
  - {id: cpu, kind: port}
  - {id: back, kind: port, attrs: {outstanding: )" +
         std::to_string(outstanding) + R"(}}
  - {id: r0, kind: router, attrs: {overhead_ns: 1}}
  - {id: near, kind: hbm_ctrl, impl: builtin.hbm_tlm, attrs: {max_bytes: 64}}
  - {id: far, kind: hbm_ctrl, attrs: {overhead_ns: 10}}
links:
  - {from: cpu, to: r0, distance_mm: 1, bw_gbs: 100}
  - {from: r0, to: near, distance_mm: 1, bw_gbs: 100}
  - {from: back, to: r0, distance_mm: 1, bw_gbs: 100}
  - {from: r0, to: far, distance_mm: 1, bw_gbs: 100}
memories:
  - {node: near, space: hbm, base: 0x10000, size: 65536}
  - {node: far, space: hbm, base: 0x20000, size: 65536}
)";
}

class LateEndReq : public ::testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(LateEndReq, lets_the_next_request_go) {
  const auto [outstanding, at] = GetParam();
  const auto platform = platform_from_text(loop_back(outstanding));
  Bus bus("bus", at);
  platform->tlm_memory("near").socket().bind(bus.in);
  bus.out.bind(platform->port("back").socket());
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.command = tlm::TLM_WRITE_COMMAND;
    s.address = 0x10000;
    s.data.resize(4096);
    for (size_t i = 0; i < s.data.size(); ++i) s.data[i] = static_cast<uint8_t>(i * 7);
    const std::vector<uint8_t> written = s.data;
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    s.command = tlm::TLM_READ_COMMAND;
    for (const uint64_t address : {uint64_t{0x10000}, kFar}) {
      s.address = address;
      s.data.assign(4096, 0);
      EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
      EXPECT_EQ(s.data, written);
    }
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
  if (at) {
    EXPECT_GT(bus.late, 0u) << "the case was not met";
  }
}

INSTANTIATE_TEST_SUITE_P(of, LateEndReq, ::testing::Combine(::testing::Values(1, 8), ::testing::Bool()),
                         [](const ::testing::TestParamInfo<std::tuple<int, bool>>& p) {
                           return "outstanding_" + std::to_string(std::get<0>(p.param)) +
                                  (std::get<1>(p.param) ? "_at" : "_lt");
                         });

}  // namespace
}  // namespace kernbench::testing
