// SPDX-License-Identifier: Apache-2.0
// IEEE 1666 allows three ways to end a response, and some models support only one. `end_resp` of hbm_tlm selects one,
// and a port answers END_RESP in a way that an initiator may wait for.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include "system_support.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

/// A memory that serves one request in 20 ns. It starts the next one when the response has ended in the way that it
/// supports.
struct OneWayMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<OneWayMemory> socket{"socket"};
  const std::string knows;  ///< a value of `end_resp`
  std::deque<tlm::tlm_generic_payload*> queue;
  sc_core::sc_event wake, ended;

  OneWayMemory(sc_core::sc_module_name name, std::string way) : sc_module(name), knows(std::move(way)) {
    socket.register_nb_transport_fw(this, &OneWayMemory::nb_transport_fw);
    SC_HAS_PROCESS(OneWayMemory);
    SC_THREAD(run);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == tlm::END_RESP) {
      if (knows == "phase") ended.notify();
      return tlm::TLM_COMPLETED;
    }
    p.acquire();
    queue.push_back(&p);
    wake.notify(sc_core::SC_ZERO_TIME);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void run() {
    for (;;) {
      while (queue.empty()) wait(wake);
      tlm::tlm_generic_payload& p = *queue.front();
      queue.pop_front();
      wait(sc_core::sc_time(20, sc_core::SC_NS));
      p.set_response_status(tlm::TLM_OK_RESPONSE);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay;
      const tlm::tlm_sync_enum answer = socket->nb_transport_bw(p, phase, delay);
      const bool updated = answer == tlm::TLM_UPDATED && phase == tlm::END_RESP;
      if (!(knows == "updated" && updated) && !(knows == "completed" && answer == tlm::TLM_COMPLETED)) wait(ended);
      p.release();
    }
  }
};

class EndResp : public ::testing::TestWithParam<std::string> {};

/// 16 sequential parts of a read. `attribute`: the value of `end_resp`; empty: not set.
void read_from(const std::string& knows, const std::string& attribute) {
  const auto platform = platform_from_text(R"(
timing: {links: ideal}
nodes:
  - {id: cpu, kind: port}
  - {id: hbm, kind: hbm_ctrl, impl: builtin.hbm_tlm, attrs: {storage: image, max_bytes: 64)" +
                                           (attribute.empty() ? "" : ", end_resp: " + attribute) + R"(}}
links:
  - {from: cpu, to: hbm, distance_mm: 0, bw_gbs: 100}
memories:
  - {node: hbm, space: hbm, base: 0x10000, size: 65536}
)");
  OneWayMemory model("model", knows);
  platform->tlm_memory("hbm").socket().bind(model.socket);
  LtInitiator cpu("cpu_model", [&](LtInitiator& self) {
    Shape s;
    s.address = 0x10000;
    s.data.resize(1024);
    EXPECT_EQ(self.access(s), tlm::TLM_OK_RESPONSE);
    EXPECT_NEAR(now_ns(), 16 * 20, 1e-6);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

TEST_P(EndResp, is_what_the_attribute_says) {
  read_from(GetParam(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(of, EndResp, ::testing::Values("updated", "completed", "phase"),
                         [](const auto& i) { return std::string(i.param); });

// DRAMSys 5 is such a memory: TLM_UPDATED ends a response, TLM_COMPLETED does not.
TEST(end_resp, is_updated_where_nobody_says) {
  read_from("updated", "");
}

/// As in the AT examples of the SystemC distribution: a transaction is lost if its END_RESP does not return
/// TLM_COMPLETED.
TEST(end_resp, of_an_initiator_is_answered_completed) {
  const auto platform = platform_from_text(R"(
timing: {links: ideal}
nodes:
  - {id: cpu, kind: port}
  - {id: hbm, kind: hbm_ctrl}
links:
  - {from: cpu, to: hbm, distance_mm: 0, bw_gbs: 100}
memories:
  - {node: hbm, space: hbm, base: 0x10000, size: 65536}
)");
  AtInitiator cpu("cpu_model", [](AtInitiator& self) {
    std::vector<AtInitiator::Issued> all(4);
    for (AtInitiator::Issued& i : all) {
      i.shape.address = 0x10000;
      i.shape.data.resize(64);
      i.end_delay_ns = 3;
      self.issue(i);
    }
    self.drain();
    for (const AtInitiator::Issued& i : all) EXPECT_EQ(i.end_resp_answer, tlm::TLM_COMPLETED);
  });
  cpu.socket.bind(platform->port("cpu").socket());
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
}

}  // namespace
}  // namespace kernbench::testing
