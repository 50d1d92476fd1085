// SPDX-License-Identifier: Apache-2.0
// A checker without further settings warns. It never stops a simulation that would continue without it.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>

#include "kernbench/systemc_models/protocol/protocol_checker.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

struct Target : sc_core::sc_module {
  tlm_utils::simple_target_socket<Target> socket{"socket"};
  explicit Target(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &Target::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) {}  // sets no response status
};

TEST(ProtocolChecker, warns_and_goes_on) {
  static std::vector<std::pair<sc_core::sc_severity, std::string>> reports;
  static std::vector<std::string> texts;
  sc_core::sc_report_handler::set_handler([](const sc_core::sc_report& r, const sc_core::sc_actions&) {
    reports.emplace_back(r.get_severity(), r.get_msg_type());
    texts.push_back(r.get_msg());
  });
  auto checker = std::make_unique<ProtocolChecker<32>>("checker");
  Target target("target");
  LtInitiator cpu("cpu", [](LtInitiator& self) {
    Shape s;
    s.data.resize(4);
    for (int i = 0; i < 5; ++i) self.access(s);
  });
  cpu.socket.bind(checker->target_socket);
  checker->initiator_socket.bind(target.socket);
  sc_core::sc_start();
  EXPECT_TRUE(cpu.finished);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].first, sc_core::SC_WARNING);
  EXPECT_EQ(reports[0].second, "/kernbench/protocol");
  checker.reset();  // the first of each kind, and their numbers
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[1].first, sc_core::SC_WARNING);
  EXPECT_EQ(texts[1], "checker: 5 times: payload: a response without a response status");
}

}  // namespace
}  // namespace kernbench::testing
