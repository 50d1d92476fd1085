// SPDX-License-Identifier: Apache-2.0
// A system made by hand, without YAML and Platform: a CPU model of the user's and one PE reach an HBM through a router.
// The CPU writes a tensor, has the PE run a kernel on it, and reads the result.
#include <tlm_utils/simple_initiator_socket.h>

#include <iostream>
#include <vector>

#include "kernbench/kernel_api/tl.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/memory/hbm_ctrl.h"
#include "kernbench/systemc_models/pe/processing_element.h"

using namespace kernbench;
constexpr uint64_t kX = 0, kY = 4096;  // addresses

void kernel(tl::Context& tl) {
  tl.store(tl::Ptr(Space::hbm, kY, DType::f32), tl.load(tl::Ptr(Space::hbm, kX, DType::f32), {8}) * 2 + 1);
}

struct Cpu : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Cpu> socket{"socket"};
  ProcessingElement& pe;
  Cpu(const sc_core::sc_module_name& name, ProcessingElement& p) : sc_module(name), pe(p) {
    SC_HAS_PROCESS(Cpu);
    SC_THREAD(program);
  }
  void program() {
    std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7}, y(x.size());
    copy(tlm::TLM_WRITE_COMMAND, kX, x);
    copy(tlm::TLM_READ_COMMAND, kX, y);
    say(x == y ? ": written and read back" : ": what was read back differs");
    sc_core::sc_event done;
    pe.run(kernel, [&](const KernelRunner::Outcome& o) {
      std::cout << "kernel: " << o.end_ns - o.start_ns << " ns, " << (o.fault.empty() ? "done" : o.fault) << "\n";
      done.notify(sc_core::SC_ZERO_TIME);
    });
    wait(done);
    copy(tlm::TLM_READ_COMMAND, kY, y);
    say(": result");
    for (const float& v : y) std::cout << v << (&v == &y.back() ? "\n" : " ");
  }
  static void say(const char* what) { std::cout << sc_core::sc_time_stamp() << what << "\n"; }
  void copy(tlm::tlm_command command, uint64_t address, std::vector<float>& data) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(data.data()));
    p.set_data_length(static_cast<unsigned>(data.size() * sizeof(float)));
    p.set_streaming_width(p.get_data_length());
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    if (p.is_response_error()) throw std::runtime_error(p.get_response_string());
  }
};

int sc_main(int, char**) try {
  System system({Links::cut_through, Response::routed, 16});
  system.materialize_outputs();  // a read from outside has the kernel's results computed first
  Router router("router", system);
  HbmParameters serves;
  serves.overhead_ns = 10;
  HbmCtrl hbm("hbm", system, serves);
  ProcessingElementParameters p;
  p.gemm.macs_per_cycle = 4096;
  p.math.lanes = 128;
  p.gemm.freq_ghz = p.math.freq_ghz = 1;
  p.tcm.size_mb = 16;
  p.tcm.read_bw_gbs = p.tcm.write_bw_gbs = 512;
  ProcessingElement pe("pe", system, p);
  connect(router, hbm, {0.025, 256});  // ns, GB/s
  connect(pe.dma, router, {0.005, 256});
  system.address_map().add(hbm, 0, 1 << 30);
  Cpu cpu("cpu", pe);
  cpu.socket.bind(router.in);
  sc_core::sc_start();
  return 0;
} catch (const std::exception& e) {
  std::cerr << "by_hand: " << e.what() << "\n";
  return 2;
}
