// SPDX-License-Identifier: Apache-2.0
// AXI4 at pins, by the bridges and the protocol checker of Xilinx's libsystemctlm-soc: a loosely timed CPU reaches our
// port over AXI4 signals, and all accesses reach our HBM over AXI4 signals. A kernel reads what the CPU has written,
// and the CPU reads the kernel's result.
#include <systemc.h>  // the bridges need its names
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <iostream>
#include <list>
#include <string>
#include <vector>

#include "checkers/pc-axi.h"
#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/job.h"
#include "kernbench/platform/platform.h"
#include "kernbench/systemc_models/host/port.h"
#include "test-modules/signals-axi.h"
#include "tlm-bridges/axi2tlm-bridge.h"
#include "tlm-bridges/tlm2axi-bridge.h"

/// An AXI4 link at pins with a bridge at each end and a protocol checker between them.
struct AxiLink : sc_core::sc_module {
  static constexpr int kAddress = 64, kData = 128;
  tlm2axi_bridge<kAddress, kData> from{"from"};
  AXISignals<kAddress, kData> pins{"pins"};
  AXIProtocolChecker<kAddress, kData> checker{"checker", AXIPCConfig::all_enabled()};
  axi2tlm_bridge<kAddress, kData> to{"to"};

  AxiLink(sc_core::sc_module_name name, sc_core::sc_clock& clock, sc_core::sc_signal<bool>& resetn) : sc_module(name) {
    const auto at_pins = [&](auto& end) {
      end.clk(clock);
      end.resetn(resetn);
      pins.connect(end);
    };
    at_pins(from);
    at_pins(checker);
    at_pins(to);
  }
};

class Cpu : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Cpu> socket{"socket"};
  bool right = false;

  Cpu(sc_core::sc_module_name name, kernbench::Job& job, sc_core::sc_signal<bool>& resetn)
      : sc_module(name), job_(job), resetn_(resetn) {
    SC_HAS_PROCESS(Cpu);
    SC_THREAD(program);
  }

 private:
  void program() {
    wait(10, sc_core::SC_NS);
    resetn_ = true;
    wait(10, sc_core::SC_NS);
    std::vector<float> a(64), b(64), sum(64);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i);
      b[i] = static_cast<float>(100 * i);
    }
    copy(tlm::TLM_WRITE_COMMAND, "a", a);
    copy(tlm::TLM_WRITE_COMMAND, "b", b);
    std::cout << sc_core::sc_time_stamp() << ": tensors are in the HBM\n";
    job_.start();
    wait(job_.completed());
    std::cout << sc_core::sc_time_stamp() << ": the kernel has ended\n";
    copy(tlm::TLM_READ_COMMAND, "c", sum);
    right = true;
    for (size_t i = 0; i < a.size(); ++i) right = right && sum[i] == a[i] + b[i];
    std::cout << sc_core::sc_time_stamp() << ": the result is " << (right ? "right" : "wrong") << "\n";
    sc_core::sc_stop();
  }
  void copy(tlm::tlm_command command, const std::string& tensor, std::vector<float>& data) {
    tlm::tlm_generic_payload p;
    const auto bytes = static_cast<unsigned>(data.size() * sizeof(float));
    p.set_command(command);
    p.set_address(job_.ranges(tensor).at(0).address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(data.data()));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    wait(delay);
    if (p.is_response_error()) throw std::runtime_error(tensor + ": " + p.get_response_string());
  }

  kernbench::Job& job_;
  sc_core::sc_signal<bool>& resetn_;
};

int sc_main(int argc, char** argv) try {
  sc_core::sc_clock clock("clock", sc_core::sc_time(1, sc_core::SC_NS));
  sc_core::sc_signal<bool> resetn("resetn", false);
  kernbench::Platform device("device", std::string(argc > 1 ? argv[1] : "system.yaml"));
  kernbench::JobOptions options;
  options.kernel = "vector_add";
  options.params = {{"n", "64"}};
  kernbench::Job job(device, options);
  AxiLink to_port("to_port", clock, resetn), to_hbm("to_hbm", clock, resetn);
  Cpu cpu("cpu", job, resetn);
  cpu.socket.bind(to_port.from.tgt_socket);
  to_port.to.socket.bind(device.port("cpu").socket());
  device.foreign("axi").bind(to_hbm.from.tgt_socket, "r0");
  device.foreign("axi").bind(to_hbm.to.socket, "hbm0");
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  sc_core::sc_start();
  return cpu.right ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "axi_pins: " << e.what() << "\n";
  return 2;
}
