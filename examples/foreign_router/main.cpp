// SPDX-License-Identifier: Apache-2.0
// A bus of the user's between our router and our HBM controllers, as the examples of the TLM-2.0 kit have one: it
// decodes the address and passes b_transport on. It knows nothing of kernbench.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <iostream>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/run/run.h"

class Bus : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Bus> in{"in"};
  tlm_utils::simple_initiator_socket<Bus> low{"low"}, high{"high"};
  unsigned to_low = 0, to_high = 0;

  explicit Bus(const sc_core::sc_module_name& name) : sc_module(name) {
    in.register_b_transport(this, &Bus::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(4, sc_core::SC_NS);  // arbitration
    if (p.get_address() < 0x100000) {
      ++to_low;
      low->b_transport(p, delay);
    } else {
      ++to_high;
      high->b_transport(p, delay);
    }
  }
};

int sc_main(int argc, char** argv) try {
  kernbench::Platform device("device", std::string(argc > 1 ? argv[1] : "system.yaml"));
  Bus bus("bus");
  device.foreign("bus").bind(bus.in, "r0");
  device.foreign("bus").bind(bus.low, "c0.hbm");
  device.foreign("bus").bind(bus.high, "c1.hbm");
  kernbench::RunOptions options;
  options.kernel = "gemm";
  options.params = {{"m", "64"}, {"n", "64"}, {"k", "64"}};
  options.verify = true;
  const kernbench::RunReport report = kernbench::run_kernel(device, std::move(options));
  std::cout << report.kernel << ": " << report.end_ns << " ns, " << (report.passed ? "verified" : "wrong") << ", "
            << bus.to_low << " transactions to c0.hbm and " << bus.to_high << " to c1.hbm over the bus\n";
  return report.passed ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "foreign_router: " << e.what() << "\n";
  return 2;
}
