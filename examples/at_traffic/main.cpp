// SPDX-License-Identifier: Apache-2.0
// An approximately-timed traffic generator of the user's on the fabric: reads of 256 bytes, as many under way as its
// port lets in.
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <iostream>
#include <vector>

#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/host/port.h"

class Generator : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_initiator_socket<Generator> socket{"socket"};

  Generator(const sc_core::sc_module_name& name, unsigned count)
      : sc_module(name), count_(count), responses_(this, &Generator::response) {
    socket.register_nb_transport_bw(this, &Generator::nb_transport_bw);
    SC_HAS_PROCESS(Generator);
    SC_THREAD(run);
  }

 private:
  static constexpr unsigned kBytes = 256;

  void run() {
    for (unsigned i = 0; i < count_; ++i) {
      auto* p = new tlm::tlm_generic_payload(this);
      p->acquire();
      p->set_command(tlm::TLM_READ_COMMAND);
      p->set_address(uint64_t{i} * kBytes);
      p->set_data_ptr(new unsigned char[kBytes]);
      p->set_data_length(kBytes);
      p->set_streaming_width(kBytes);
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay;
      const tlm::tlm_sync_enum answer = socket->nb_transport_fw(*p, phase, delay);
      if (answer == tlm::TLM_COMPLETED) throw std::runtime_error(p->get_response_string());
      if (answer == tlm::TLM_ACCEPTED) wait(request_taken_);  // the exclusion rule: one request at a time
    }
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_REQ) {
      request_taken_.notify(delay);
      return tlm::TLM_ACCEPTED;
    }
    responses_.notify(p, phase, delay);
    return tlm::TLM_ACCEPTED;
  }

  void response(tlm::tlm_generic_payload& p, const tlm::tlm_phase&) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay;
    socket->nb_transport_fw(p, phase, delay);
    std::cout << sc_core::sc_time_stamp() << ": " << p.get_address() << " " << p.get_response_string() << "\n";
    p.release();
  }

  void free(tlm::tlm_generic_payload* p) override {
    delete[] p->get_data_ptr();
    delete p;
  }

  unsigned count_;
  sc_core::sc_event request_taken_;
  tlm_utils::peq_with_cb_and_phase<Generator> responses_;
};

int sc_main(int argc, char** argv) try {
  kernbench::Platform device("device", std::string(argc > 1 ? argv[1] : "system.yaml"));
  Generator generator("generator", 8);
  generator.socket.bind(device.port("port0").socket());
  sc_core::sc_start();
  return 0;
} catch (const std::exception& e) {
  std::cerr << "at_traffic: " << e.what() << "\n";
  return 2;
}
