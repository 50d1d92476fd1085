// SPDX-License-Identifier: Apache-2.0
// Do messages pass foreign blocks, by the base protocol alone, and are they delayed by the time in these blocks?
//
//   asker(1) - r1(2) - [foreign] - r2(4) - m_cpu(8) - pe(0)     overheads in brackets, ns; no wires
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "kernbench/systemc_models/fabric/control_legs.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/host/m_cpu.h"
#include "kernbench/systemc_models/protocol/protocol_checker.h"

namespace kernbench::testing::messages_pass_foreign_blocks {
namespace {

constexpr double kToMCpu = 1 + 2 + 4, kToPe = 8;

RouterParameters overhead(double ns) {
  RouterParameters p;
  p.overhead_ns = ns;
  return p;
}

/// Sends messages to an m_cpu, like a host.
class Asker : public Component, public FabricNode, public ControlSender {
 public:
  FabricInitiatorSocket out{"out", *this};
  Asker(sc_core::sc_module_name name, Fabric& f)
      : Component(name, f, overhead(1)), FabricNode(static_cast<Component&>(*this)) {}
  FabricNode* fabric_node() override { return this; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  void ask(uint32_t m_cpu, uint32_t pe) {
    ControlMessage& m = fabric().messages().acquire(7);
    m.addresses = std::make_shared<ControlAddresses>(1, ControlAddress{{0, m_cpu, pe}});
    m.places = {0};
    m.next_stop = ControlAddress::kPeCpu;
    m.send(fabric().control_legs().leg(index(), m_cpu), *this, timeline().now_ns(), 0);
  }
  void response_arrived(ControlMessage& m) override { responses.push_back(m.response); }
  std::vector<HostResponse> responses;
};

/// Responds when a message has arrived.
class Answerer : public Component, public FabricNode, public ControlTarget {
 public:
  FabricTargetSocket in{"in", *this};
  Answerer(sc_core::sc_module_name name, Fabric& f)
      : Component(name, f, BlockParameters{}), FabricNode(static_cast<Component&>(*this)) {}
  FabricNode* fabric_node() override { return this; }
  FabricTargetSocket* target_socket() override { return &in; }
  void message_arrived(ControlMessage& m) override {
    EXPECT_EQ(m.time_ns(), timeline().now_ns());
    arrivals.push_back(m.time_ns());
    m.respond(HostError::ok, {}, m.time_ns());
  }
  std::vector<double> arrivals;
};

/// The test that inserts a foreign block defines the path past it.
class Legs : public ControlLegs {
 public:
  using ControlLegs::ControlLegs;
  const FabricNode* asker = nullptr;
  std::vector<FabricPort*> ways;

 private:
  std::vector<FabricPort*> find(FabricNode& from, FabricNode& to) override {
    return &from == asker ? ways : ControlLegs::find(from, to);
  }
};

struct Chain {
  Fabric fabric;
  Asker asker{"asker", fabric};
  Router r1{"r1", fabric, overhead(2)}, r2{"r2", fabric, overhead(4)};
  MCpu m_cpu{"m_cpu", fabric, [] {
               MCpuParameters p;
               p.overhead_ns = 8;
               return p;
             }()};
  Answerer pe{"pe", fabric};

  /// r1 and r2 are bound later.
  Chain() {
    asker.out.bind(r1.in);
    r2.out.bind(m_cpu.in);
    m_cpu.out.bind(pe.in);
  }
  void ask(size_t times) {
    auto legs = std::make_unique<Legs>(fabric);
    legs->asker = &asker;
    legs->ways = {asker.ports().back(), r1.ports().back(), r2.ports().front()};
    fabric.set_control_legs(std::move(legs));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (size_t i = 0; i < times; ++i) asker.ask(m_cpu.index(), pe.index());
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  }
};

/// A foreign block that delays a transaction before and after it passes it on.
class Lt : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Lt> in{"in"};
  tlm_utils::simple_initiator_socket<Lt> out{"out"};
  Lt(sc_core::sc_module_name name, bool annotates) : sc_module(name), annotates_(annotates) {
    in.register_b_transport(this, &Lt::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    EXPECT_EQ(p.get_command(), tlm::TLM_IGNORE_COMMAND);
    EXPECT_EQ(p.get_data_length(), 4u);
    take(5, delay);
    out->b_transport(p, delay);
    take(3, delay);
  }

 private:
  void take(double ns, sc_core::sc_time& delay) {
    if (annotates_) {
      delay += sc_core::sc_time(ns, sc_core::SC_NS);
    } else {
      wait(sc_core::sc_time(ns, sc_core::SC_NS));
    }
  }
  bool annotates_;
};

class PastLt : public ::testing::TestWithParam<bool> {};

TEST_P(PastLt, messages_are_as_late_as_it_makes_them) {
  Chain chain;
  Lt lt("lt", GetParam());
  ProtocolChecker<32> before("before"), behind("behind");
  chain.r1.out.bind(before.target_socket);
  before.initiator_socket.bind(lt.in);
  lt.out.bind(behind.target_socket);
  behind.initiator_socket.bind(chain.r2.in);
  chain.ask(1);
  ASSERT_EQ(chain.asker.responses.size(), 1u);
  ASSERT_EQ(chain.pe.arrivals.size(), 1u);
  EXPECT_NEAR(chain.pe.arrivals[0], kToMCpu + 5 + kToPe, 1e-6);
  const HostResponse& r = chain.asker.responses[0];
  EXPECT_TRUE(r.ok()) << r.text;
  EXPECT_EQ(r.ids.correlation, 7u);
  EXPECT_NEAR(r.done_ns, 2 * (kToMCpu + kToPe) + 5 + 3, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, PastLt, ::testing::Bool(),
                         [](const auto& parameter) { return parameter.param ? "that_annotates" : "that_waits"; });

TEST(PastAt, messages_keep_the_base_protocol_and_their_time) {
  Chain chain;
  ProtocolChecker<32> checker("checker");
  chain.r1.out.bind(checker.target_socket);
  checker.initiator_socket.bind(chain.r2.in);
  chain.ask(3);  // at one instant: one after another
  ASSERT_EQ(chain.asker.responses.size(), 3u);
  for (const HostResponse& r : chain.asker.responses) {
    EXPECT_TRUE(r.ok()) << r.text;
    EXPECT_NEAR(r.done_ns, 2 * (kToMCpu + kToPe), 1e-6);
  }
}

/// A foreign memory.
class Deaf : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Deaf> in{"in"};
  explicit Deaf(sc_core::sc_module_name name) : sc_module(name) { in.register_b_transport(this, &Deaf::b_transport); }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
    p.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
};

TEST(Message, that_a_foreign_block_answers_itself_comes_back_as_an_error) {
  Chain chain;
  Deaf deaf("deaf");
  chain.r1.out.bind(deaf.in);
  chain.ask(1);
  ASSERT_EQ(chain.asker.responses.size(), 1u);
  const HostResponse& r = chain.asker.responses[0];
  EXPECT_EQ(r.code, HostError::no_path);
  EXPECT_EQ(r.text, "r1: a block outside answered TLM_COMMAND_ERROR_RESPONSE to a message for m_cpu");
  EXPECT_NEAR(r.done_ns, 2 * (1 + 2), 1e-6);
}

}  // namespace
}  // namespace kernbench::testing::messages_pass_foreign_blocks
