// SPDX-License-Identifier: Apache-2.0
// Host time per access of a loosely timed initiator at a port: port_bench ACCESSES QUANTUM_NS DMI(0|1). Sequential
// reads of 4 bytes with 1 ns of work in between, synchronised by a quantum keeper.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernbench/platform/platform.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/registry.h"

namespace {

constexpr const char* kMachine = R"(
nodes:
  - {id: cpu, kind: port, attrs: {allow_dmi: true}}
  - {id: r0, kind: router, attrs: {overhead_ns: 1}}
  - {id: hbm, kind: hbm_ctrl, attrs: {overhead_ns: 4}}
links:
  - {from: cpu, to: r0, distance_mm: 0.5, bw_gbs: 100}
  - {from: r0, to: hbm, distance_mm: 1, bw_gbs: 64}
memories:
  - {node: hbm, space: hbm, base: 0, size: 0x10000}
)";

class Reader : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Reader> socket{"socket"};
  Reader(sc_core::sc_module_name name, uint64_t accesses, bool dmi) : sc_module(name), accesses_(accesses), dmi_(dmi) {
    SC_HAS_PROCESS(Reader);
    SC_THREAD(run);
  }
  uint64_t sum = 0;

 private:
  void run() {
    tlm_utils::tlm_quantumkeeper keeper;
    keeper.reset();
    tlm::tlm_dmi page;
    uint32_t value = 0;
    tlm::tlm_generic_payload p;
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    p.set_data_length(4);
    p.set_streaming_width(4);
    const bool direct = dmi_ && socket->get_direct_mem_ptr(p, page) && page.is_read_allowed();
    for (uint64_t i = 0; i < accesses_; ++i) {
      const uint64_t address = i * 4 % 0x10000;
      if (direct) {
        std::memcpy(&value, page.get_dmi_ptr() + (address - page.get_start_address()), 4);
        keeper.inc(page.get_read_latency());  // for an access of the bus's width
      } else {
        sc_core::sc_time delay = keeper.get_local_time();
        p.set_address(address);
        p.set_dmi_allowed(false);
        p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        socket->b_transport(p, delay);
        keeper.set(delay);
      }
      sum += value;
      keeper.inc(sc_core::sc_time(1, sc_core::SC_NS));
      if (keeper.need_sync()) keeper.sync();
    }
    keeper.sync();
  }
  uint64_t accesses_;
  bool dmi_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: port_bench ACCESSES QUANTUM_NS DMI\n", stderr);
    return 2;
  }
  const uint64_t accesses = std::strtoull(argv[1], nullptr, 10);
  tlm::tlm_global_quantum::instance().set(sc_core::sc_time(std::atof(argv[2]), sc_core::SC_NS));
  kernbench::Platform platform(
      "platform", kernbench::topology::compile_text(kMachine, "port_bench", kernbench::component_catalog()));
  Reader reader("reader", accesses, std::atoi(argv[3]) != 0);
  reader.socket.bind(platform.port("cpu").socket());
  const auto begin = std::chrono::steady_clock::now();
  sc_core::sc_start();
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.2f M accesses/s, %.3f us simulated\n", static_cast<double>(accesses) / s * 1e-6,
              sc_core::sc_time_stamp().to_seconds() * 1e6);
  return 0;
}
