// SPDX-License-Identifier: Apache-2.0
// Cost of the SystemC kernel on this machine, so that scripts/bench can report ratios. One measurement per process:
// staggered waits of 1,000 SC_THREADs (threads), activations of 1,000 SC_METHODs (methods), hops through a TLM socket
// pair (sockets [CALLS]). Prints `name value unit` in CPU time.
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace {

using sc_core::sc_time;

constexpr int kProcesses = 1000;
constexpr int kRounds = 1000;

double cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Wakes up every 1,000 ps; each process has its own offset.
struct Waiter : sc_core::sc_module {
  SC_HAS_PROCESS(Waiter);
  Waiter(sc_core::sc_module_name name, int index, bool thread) : sc_module(name), first_(index, sc_core::SC_PS) {
    if (thread) {
      SC_THREAD(run);
      set_stack_size(64 * 1024);
    } else {
      SC_METHOD(step);
    }
  }

 private:
  void run() {
    wait(first_);
    for (;;) wait(period_);
  }
  void step() {
    next_trigger(started_ ? period_ : first_);
    started_ = true;
  }
  sc_time first_;
  sc_time period_{kProcesses, sc_core::SC_PS};
  bool started_ = false;
};

/// Passes a call on; a chain of these ends at an unbound socket.
struct Hop : sc_core::sc_module {
  tlm_utils::multi_passthrough_target_socket<Hop> in{"in"};
  tlm_utils::multi_passthrough_initiator_socket<Hop, 32, tlm::tlm_base_protocol_types, 0,
                                                sc_core::SC_ZERO_OR_MORE_BOUND>
      out{"out"};
  explicit Hop(const sc_core::sc_module_name& name) : sc_module(name) {
    in.register_nb_transport_fw(this, &Hop::forward);
    out.register_nb_transport_bw(this, &Hop::backward);
  }
  tlm::tlm_sync_enum forward(int, tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_time& delay) {
    return out.size() ? out[0]->nb_transport_fw(p, phase, delay) : tlm::TLM_ACCEPTED;
  }
  tlm::tlm_sync_enum backward(int, tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_time&) { return tlm::TLM_ACCEPTED; }
};

struct Source : sc_core::sc_module {
  tlm_utils::multi_passthrough_initiator_socket<Source> out{"out"};
  explicit Source(const sc_core::sc_module_name& name) : sc_module(name) {
    out.register_nb_transport_bw(this, &Source::backward);
  }
  tlm::tlm_sync_enum backward(int, tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_time&) { return tlm::TLM_ACCEPTED; }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  const bool threads = argc > 1 && std::string(argv[1]) == "threads";
  const bool methods = argc > 1 && std::string(argv[1]) == "methods";
  if (threads || methods) {
    std::vector<std::unique_ptr<Waiter>> waiters;
    for (int i = 0; i < kProcesses; ++i)
      waiters.push_back(std::make_unique<Waiter>(("w" + std::to_string(i)).c_str(), i, threads));
    const sc_time round(kProcesses, sc_core::SC_PS);
    sc_core::sc_start(10 * round);
    const double start = cpu_ns();
    sc_core::sc_start(kRounds * round);
    std::printf("%s %.1f ns\n", threads ? "systemc_thread_wait_1000" : "systemc_method_activation_1000",
                (cpu_ns() - start) / kProcesses / kRounds);
    return 0;
  }
  constexpr int kHops = 16;
  const int calls = argc > 2 ? std::atoi(argv[2]) : 1000000;
  Source source("source");
  std::vector<std::unique_ptr<Hop>> hops;
  for (int i = 0; i < kHops; ++i) hops.push_back(std::make_unique<Hop>(("h" + std::to_string(i)).c_str()));
  source.out.bind(hops[0]->in);
  for (int i = 1; i < kHops; ++i) hops[i - 1]->out.bind(hops[i]->in);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  tlm::tlm_generic_payload payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_time delay;
  const double start = cpu_ns();
  for (int i = 0; i < calls; ++i) source.out[0]->nb_transport_fw(payload, phase, delay);
  std::printf("systemc_socket_hop %.2f ns\n", (cpu_ns() - start) / calls / kHops);
  return 0;
}
