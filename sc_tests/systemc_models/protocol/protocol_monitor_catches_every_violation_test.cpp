// SPDX-License-Identifier: Apache-2.0
// The protocol monitor accepts legal behaviour and detects each kind of violation: one mutation per test.
#include <gtest/gtest.h>

#include "kernbench/systemc_models/protocol/protocol_monitor.h"
#include "tlm_support.h"

namespace kernbench::testing {
namespace {

/// Both ends of a connection, controlled by the test.
class Connection : public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
 public:
  using Nb = std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&)>;
  Connection() : monitor("m", [this](const std::string& v) { found.push_back(v); }) {
    monitor.set_forward(this);
    monitor.set_backward(this);
    shape.command = tlm::TLM_WRITE_COMMAND;
    shape.data.resize(8);
    payload = pool.take();
    shape.fill(*payload);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& f, sc_core::sc_time& d) override {
    return target(p, f, d);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& f, sc_core::sc_time& d) override {
    return initiator(p, f, d);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& d) override {
    tlm::tlm_phase phase;
    target(p, phase, d);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override { return debug(p); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& d) override { return dmi(p, d); }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  // Steps of a transaction, through the monitor. Delays in ns.
  tlm::tlm_sync_enum forward(tlm::tlm_phase phase, double delay_ns = 0) { return forward(*payload, phase, delay_ns); }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& p, tlm::tlm_phase phase, double delay_ns = 0) {
    sc_core::sc_time delay(delay_ns, sc_core::SC_NS);
    return monitor.nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum backward(tlm::tlm_phase phase, double delay_ns = 0) { return backward(*payload, phase, delay_ns); }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& p, tlm::tlm_phase phase, double delay_ns = 0) {
    sc_core::sc_time delay(delay_ns, sc_core::SC_NS);
    return monitor.nb_transport_bw(p, phase, delay);
  }
  void respond(double delay_ns = 0) {
    payload->set_response_status(tlm::TLM_OK_RESPONSE);
    backward(tlm::BEGIN_RESP, delay_ns);
  }
  void expect(const std::string& part) {
    ASSERT_EQ(found.size(), 1u) << (found.size() > 1 ? found[1] : "nothing was found");
    EXPECT_NE(found[0].find(part), std::string::npos) << found[0];
  }

  ProtocolMonitor monitor;
  std::vector<std::string> found;
  PayloadPool pool;
  Shape shape;
  tlm::tlm_generic_payload* payload;
  Nb target = [](auto&, auto&, auto&) { return tlm::TLM_ACCEPTED; };
  Nb initiator = target;
  std::function<unsigned(tlm::tlm_generic_payload&)> debug = [](auto& p) { return p.get_data_length(); };
  std::function<bool(tlm::tlm_generic_payload&, tlm::tlm_dmi&)> dmi = [](auto&, auto&) { return false; };
};

class Monitor : public ::testing::Test {
 protected:
  Connection c;
};

TEST_F(Monitor, is_silent_about_all_four_phases) {
  c.forward(tlm::BEGIN_REQ, 1);
  c.backward(tlm::END_REQ, 1);
  c.respond(2);
  c.forward(tlm::END_RESP, 3);
  EXPECT_TRUE(c.found.empty()) << c.found[0];
  EXPECT_EQ(c.monitor.under_way(), 0u);
}

TEST_F(Monitor, is_silent_about_every_shortcut) {
  c.forward(tlm::BEGIN_REQ);  // END_REQ omitted, END_RESP returned
  c.initiator = [](auto&, auto& phase, auto&) {
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  };
  c.respond();
  c.shape.fill(*c.payload);
  c.target = [](auto&, auto& phase, auto& delay) {  // END_REQ returned, then TLM_COMPLETED
    phase = tlm::END_REQ;
    delay += sc_core::sc_time(1, sc_core::SC_NS);
    return tlm::TLM_UPDATED;
  };
  c.initiator = [](auto&, auto&, auto&) { return tlm::TLM_COMPLETED; };
  c.forward(tlm::BEGIN_REQ);
  c.respond(2);
  c.shape.fill(*c.payload);
  c.target = [](auto& p, auto&, auto&) {
    p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  };
  c.forward(tlm::BEGIN_REQ);
  c.shape.fill(*c.payload);
  c.target = [](auto& p, auto& phase, auto&) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    phase = tlm::BEGIN_RESP;
    return tlm::TLM_UPDATED;
  };
  c.forward(tlm::BEGIN_REQ);
  c.target = [](auto&, auto&, auto&) { return tlm::TLM_COMPLETED; };
  c.forward(tlm::END_RESP);
  EXPECT_TRUE(c.found.empty()) << c.found[0];
  EXPECT_EQ(c.monitor.under_way(), 0u);
}

TEST_F(Monitor, finds_a_second_request_before_the_first_has_ended) {
  c.forward(tlm::BEGIN_REQ);
  tlm::tlm_generic_payload* other = c.pool.take();
  c.shape.fill(*other);
  c.forward(*other, tlm::BEGIN_REQ);
  c.expect("another request has not ended");
}

TEST_F(Monitor, finds_a_second_response_before_the_first_has_ended) {
  tlm::tlm_generic_payload* other = c.pool.take();
  c.shape.fill(*other);
  c.forward(tlm::BEGIN_REQ);
  c.backward(tlm::END_REQ);
  c.forward(*other, tlm::BEGIN_REQ);
  c.backward(*other, tlm::END_REQ);
  c.respond();
  other->set_response_status(tlm::TLM_OK_RESPONSE);
  c.backward(*other, tlm::BEGIN_RESP);
  c.expect("another response has not ended");
}

TEST_F(Monitor, finds_a_payload_used_twice) {
  c.forward(tlm::BEGIN_REQ);
  c.backward(tlm::END_REQ);
  c.forward(tlm::BEGIN_REQ);
  c.expect("under way");
}

TEST_F(Monitor, finds_end_resp_out_of_turn) {
  c.forward(tlm::BEGIN_REQ);
  c.forward(tlm::END_RESP);
  c.expect("END_RESP without BEGIN_RESP");
}

TEST_F(Monitor, finds_phases_in_the_wrong_direction) {
  c.forward(tlm::BEGIN_REQ);
  c.forward(tlm::END_REQ);
  c.expect("on the forward path");
  c.found.clear();
  c.backward(tlm::END_RESP);
  c.expect("on the backward path");
}

TEST_F(Monitor, finds_end_req_twice) {
  c.forward(tlm::BEGIN_REQ);
  c.backward(tlm::END_REQ);
  c.backward(tlm::END_REQ);
  c.expect("END_REQ out of order");
}

TEST_F(Monitor, finds_begin_resp_twice) {
  c.forward(tlm::BEGIN_REQ);
  c.respond();
  c.respond();
  c.expect("BEGIN_RESP a second time");
}

TEST_F(Monitor, finds_a_response_to_nothing) {
  c.respond();
  c.expect("not under way");
}

TEST_F(Monitor, finds_time_that_goes_back) {
  c.forward(tlm::BEGIN_REQ, 5);
  c.backward(tlm::END_REQ, 3);
  c.expect("time");
}

TEST_F(Monitor, finds_a_delay_that_shrinks_on_return) {
  c.target = [](auto&, auto& phase, auto& delay) {
    phase = tlm::END_REQ;
    delay = sc_core::SC_ZERO_TIME;
    return tlm::TLM_UPDATED;
  };
  c.forward(tlm::BEGIN_REQ, 5);
  ASSERT_FALSE(c.found.empty());
  EXPECT_NE(c.found[0].find("less on return"), std::string::npos);
}

TEST_F(Monitor, finds_accepted_with_a_changed_phase) {
  c.target = [](auto&, auto& phase, auto&) {
    phase = tlm::END_REQ;
    return tlm::TLM_ACCEPTED;
  };
  c.forward(tlm::BEGIN_REQ);
  c.expect("TLM_ACCEPTED with a changed");
}

TEST_F(Monitor, finds_wrong_phases_in_return_values) {
  c.target = [](auto&, auto& phase, auto&) {
    phase = tlm::END_RESP;
    return tlm::TLM_UPDATED;
  };
  c.forward(tlm::BEGIN_REQ);
  c.expect("returned in answer to BEGIN_REQ");
}

TEST_F(Monitor, finds_updated_in_answer_to_end_resp) {
  c.forward(tlm::BEGIN_REQ);
  c.respond();
  c.target = [](auto&, auto&, auto&) { return tlm::TLM_UPDATED; };
  c.forward(tlm::END_RESP);
  c.expect("answer to END_RESP");
}

TEST_F(Monitor, finds_end_req_that_is_answered) {
  c.forward(tlm::BEGIN_REQ);
  c.initiator = [](auto&, auto&, auto&) { return tlm::TLM_COMPLETED; };
  c.backward(tlm::END_REQ);
  c.expect("END_REQ not answered by TLM_ACCEPTED");
}

TEST_F(Monitor, finds_a_response_without_status) {
  c.forward(tlm::BEGIN_REQ);
  c.backward(tlm::BEGIN_RESP);
  c.expect("without a response status");
}

TEST_F(Monitor, finds_a_status_that_changes_after_the_response) {
  c.forward(tlm::BEGIN_REQ);
  c.respond();
  c.payload->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  c.forward(tlm::END_RESP);
  c.expect("response status changed");
}

TEST_F(Monitor, finds_each_payload_field_that_changes_under_way) {
  struct Mutation {
    const char* what;
    std::function<void(tlm::tlm_generic_payload&)> apply;
  };
  static unsigned char elsewhere[8] = {};
  for (const Mutation& m :
       std::vector<Mutation>{{"the command", [](auto& p) { p.set_command(tlm::TLM_IGNORE_COMMAND); }},
                             {"the data length", [](auto& p) { p.set_data_length(4); }},
                             {"the streaming width", [](auto& p) { p.set_streaming_width(4); }},
                             {"the byte enable pointer", [](auto& p) { p.set_byte_enable_ptr(elsewhere); }},
                             {"the byte enable length", [](auto& p) { p.set_byte_enable_length(3); }},
                             {"the data pointer", [](auto& p) { p.set_data_ptr(elsewhere); }},
                             {"the data of a write", [](auto& p) { p.get_data_ptr()[3] ^= 1; }}}) {
    Connection fresh;
    fresh.forward(tlm::BEGIN_REQ);
    m.apply(*fresh.payload);
    fresh.respond();
    ASSERT_FALSE(fresh.found.empty()) << m.what;
    bool named = false;
    for (const std::string& v : fresh.found) named |= v.find(m.what) != std::string::npos;
    EXPECT_TRUE(named) << m.what << ": " << fresh.found[0];
  }
}

struct Mark : tlm::tlm_extension<Mark> {
  tlm::tlm_extension_base* clone() const override { return new Mark; }
  void copy_from(const tlm::tlm_extension_base&) override {}
};

TEST_F(Monitor, finds_an_extension_that_is_taken_away) {
  Mark mark;
  c.payload->set_extension(&mark);
  c.forward(tlm::BEGIN_REQ);
  c.payload->clear_extension(&mark);
  c.respond();
  c.expect("an extension");
}

TEST_F(Monitor, finds_payloads_that_are_not_initialised) {
  const auto begin = [](const std::function<void(tlm::tlm_generic_payload&)>& change) {
    Connection fresh;
    change(*fresh.payload);
    fresh.forward(tlm::BEGIN_REQ);
    return fresh.found.empty() ? std::string() : fresh.found[0];
  };
  static unsigned char enable = 0xff;
  EXPECT_NE(begin([](auto& p) { p.set_data_ptr(nullptr); }).find("no data pointer"), std::string::npos);
  EXPECT_NE(begin([](auto& p) { p.set_data_length(0); }).find("data length 0"), std::string::npos);
  EXPECT_NE(begin([](auto& p) { p.set_streaming_width(0); }).find("streaming width 0"), std::string::npos);
  EXPECT_NE(begin([](auto& p) { p.set_byte_enable_ptr(&enable); }).find("byte enables of length 0"), std::string::npos);
  EXPECT_NE(begin([](auto& p) { p.set_response_status(tlm::TLM_OK_RESPONSE); }).find("TLM_INCOMPLETE_RESPONSE"),
            std::string::npos);
  EXPECT_NE(begin([](auto& p) { p.set_dmi_allowed(true); }).find("dmi_allowed"), std::string::npos);
  EXPECT_NE(begin([](auto& p) { p.set_command(static_cast<tlm::tlm_command>(9)); }).find("command"), std::string::npos);
}

TEST_F(Monitor, finds_payloads_without_a_memory_manager) {
  tlm::tlm_generic_payload p;
  c.shape.fill(p);
  c.forward(p, tlm::BEGIN_REQ);
  c.expect("no memory manager");
}

TEST_F(Monitor, finds_payloads_that_nobody_holds) {
  tlm::tlm_generic_payload p(&c.pool);
  c.shape.fill(p);
  c.forward(p, tlm::BEGIN_REQ);
  c.expect("reference count is 0");
}

TEST_F(Monitor, finds_blocking_transport_of_a_payload_under_way) {
  c.forward(tlm::BEGIN_REQ);
  c.payload->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  c.target = [](auto& p, auto&, auto&) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  };
  sc_core::sc_time delay;
  c.monitor.b_transport(*c.payload, delay);
  c.expect("under way");
}

TEST_F(Monitor, finds_blocking_transport_without_an_answer) {
  sc_core::sc_time delay;
  c.monitor.b_transport(*c.payload, delay);
  c.expect("without a response status");
}

TEST_F(Monitor, finds_debug_transport_that_tells_of_too_many_bytes) {
  c.debug = [](auto& p) { return p.get_data_length() + 1; };
  c.monitor.transport_dbg(*c.payload);
  c.expect("more bytes");
}

TEST_F(Monitor, finds_bad_grants_of_direct_memory) {
  const auto grant = [](const std::function<void(tlm::tlm_dmi&)>& fill) {
    Connection fresh;
    fresh.payload->set_address(0x100);
    fresh.dmi = [&](auto&, tlm::tlm_dmi& d) {
      static unsigned char bytes[16];
      d.set_dmi_ptr(bytes);
      d.set_start_address(0x100);
      d.set_end_address(0x10f);
      d.allow_read_write();
      fill(d);
      return true;
    };
    tlm::tlm_dmi d;
    fresh.monitor.get_direct_mem_ptr(*fresh.payload, d);
    return fresh.found.empty() ? std::string() : fresh.found[0];
  };
  EXPECT_EQ(grant([](auto&) {}), "");
  EXPECT_NE(grant([](auto& d) { d.set_dmi_ptr(nullptr); }).find("without a pointer"), std::string::npos);
  EXPECT_NE(grant([](auto& d) { d.set_start_address(0x101); }).find("does not hold"), std::string::npos);
  EXPECT_NE(grant([](auto& d) { d.allow_read(); }).find("not the access"), std::string::npos);
  EXPECT_NE(grant([](auto& d) { d.set_end_address(0xff); }).find("ends before"), std::string::npos);
}

TEST_F(Monitor, finds_waiting_in_debug_transport_and_in_nb_transport) {
  c.debug = [](auto& p) {
    sc_core::wait(sc_core::sc_time(1, sc_core::SC_NS));
    return p.get_data_length();
  };
  c.target = [](auto&, auto&, auto&) {
    sc_core::wait(sc_core::SC_ZERO_TIME);
    return tlm::TLM_ACCEPTED;
  };
  struct Thread : sc_core::sc_module {
    Thread(sc_core::sc_module_name name, std::function<void()> b) : sc_module(name), body(std::move(b)) {
      SC_HAS_PROCESS(Thread);
      SC_THREAD(run);
    }
    void run() {
      body();
      finished = true;
    }
    std::function<void()> body;
    bool finished = false;
  };
  Thread thread("thread", [&] {
    c.monitor.transport_dbg(*c.payload);
    c.expect("transport_dbg: time passed inside");
    c.found.clear();
    c.forward(tlm::BEGIN_REQ);
    c.expect("nb_transport_fw: time passed inside");
  });
  sc_core::sc_start();
  EXPECT_TRUE(thread.finished);
}

}  // namespace
}  // namespace kernbench::testing
