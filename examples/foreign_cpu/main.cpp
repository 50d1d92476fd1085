// SPDX-License-Identifier: Apache-2.0
// A CPU model of the user's drives the device as a driver would: it copies tensors in over a TLM-2.0 socket, rings the
// doorbell, waits for the interrupt, and reads the result back.
#include <tlm_utils/simple_initiator_socket.h>

#include <iostream>
#include <utility>
#include <vector>

#include "kernbench/platform/job.h"
#include "kernbench/platform/launch/host_interface.h"
#include "kernbench/platform/platform.h"
#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/systemc_models/core/registry.h"

using kernbench::HostInterface;

class Cpu : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Cpu> socket{"socket"};
  sc_core::sc_in<bool> interrupt{"interrupt"};

  Cpu(const sc_core::sc_module_name& name, const kernbench::Job& job, uint64_t job_number)
      : sc_module(name), job_(job), job_number_(job_number) {
    SC_HAS_PROCESS(Cpu);
    SC_THREAD(program);
  }

 private:
  void program() {
    std::vector<float> a(8), b(8), sum(8);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i);
      b[i] = static_cast<float>(10 * i);
    }
    copy(tlm::TLM_WRITE_COMMAND, address_of("a"), a.data(), a.size() * sizeof(float));
    copy(tlm::TLM_WRITE_COMMAND, address_of("b"), b.data(), b.size() * sizeof(float));
    say("tensors are in the device");

    set(HostInterface::kDoorbell, job_number_);
    wait(interrupt.posedge_event());
    set(HostInterface::kInterrupt, HostInterface::kLaunchDone);
    say("interrupt");

    copy(tlm::TLM_READ_COMMAND, address_of("c"), sum.data(), sum.size() * sizeof(float));
    say("result is in the host");
    for (size_t i = 0; i < sum.size(); ++i) std::cout << sum[i] << (i + 1 < sum.size() ? " " : "\n");
  }

  uint64_t address_of(const std::string& tensor) const { return job_.ranges(tensor).at(0).address; }
  void set(uint64_t reg, uint64_t value) {
    copy(tlm::TLM_WRITE_COMMAND, HostInterface::kRegisters + reg, &value, sizeof value);
  }

  /// One loosely-timed access.
  void copy(tlm::tlm_command command, uint64_t address, void* data, size_t bytes) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(static_cast<unsigned char*>(data));
    p.set_data_length(static_cast<unsigned>(bytes));
    p.set_streaming_width(static_cast<unsigned>(bytes));
    p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    wait(delay);
    if (p.is_response_error()) throw std::runtime_error(p.get_response_string());
  }
  static void say(const char* what) { std::cout << sc_core::sc_time_stamp() << ": " << what << "\n"; }

  const kernbench::Job& job_;
  uint64_t job_number_;
};

int sc_main(int argc, char** argv) try {
  auto system = kernbench::topology::compile_file(argc > 1 ? argv[1] : "system.yaml", kernbench::component_catalog());
  // As `materialize: outputs` in the file: the results that are read back are computed first.
  system.materialize = kernbench::topology::Materialize::outputs;
  kernbench::Platform device("device", std::move(system));
  HostInterface& host = device.host();
  kernbench::Job add(device, {"vector_add", {{"n", "8"}}, "sip0.cube0.pe0"});
  Cpu cpu("cpu", add, host.add_job(add));
  cpu.socket.bind(host.socket());
  cpu.interrupt.bind(host.interrupt);
  sc_core::sc_start();
  return 0;
} catch (const std::exception& e) {
  std::cerr << "foreign_cpu: " << e.what() << "\n";
  return 2;
}
