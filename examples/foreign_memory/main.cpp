// SPDX-License-Identifier: Apache-2.0
// A memory model of the user's under our PEs: whatever has a TLM-2.0 target socket stands in for an HBM controller.
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <iostream>
#include <vector>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/run.h"
#include "kernbench/systemc_models/memory/tlm_memory.h"

class Dram : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Dram> socket{"socket"};
  unsigned reads = 0, writes = 0;

  explicit Dram(const sc_core::sc_module_name& name) : sc_module(name), bytes_(1 << 20) {
    socket.register_b_transport(this, &Dram::b_transport);
    socket.register_transport_dbg(this, &Dram::transport_dbg);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    ++(p.is_write() ? writes : reads);
    delay += sc_core::sc_time(40, sc_core::SC_NS);
    p.set_response_status(transport_dbg(p) > 0 ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) {
    if (p.get_address() + p.get_data_length() > bytes_.size()) return 0;
    unsigned char* at = bytes_.data() + p.get_address();
    if (p.is_write()) {
      std::memcpy(at, p.get_data_ptr(), p.get_data_length());
    } else {
      std::memcpy(p.get_data_ptr(), at, p.get_data_length());
    }
    return p.get_data_length();
  }
  std::vector<unsigned char> bytes_;
};

int sc_main(int argc, char** argv) try {
  kernbench::Platform device("device", std::string(argc > 1 ? argv[1] : "system.yaml"));
  Dram dram("dram");
  device.tlm_memory("hbm0").socket().bind(dram.socket);
  kernbench::RunOptions options;
  options.kernel = "vector_add";
  options.params = {{"n", "4096"}};
  options.verify = true;
  const kernbench::RunReport report = kernbench::run_kernel(device, std::move(options));
  std::cout << report.kernel << ": " << report.end_ns << " ns, " << (report.passed ? "verified" : "wrong") << ", "
            << dram.reads << " reads and " << dram.writes << " writes of the model\n";
  return report.passed ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "foreign_memory: " << e.what() << "\n";
  return 2;
}
