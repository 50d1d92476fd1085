// SPDX-License-Identifier: Apache-2.0
// A protocol monitor between any initiator and target socket of the TLM-2.0 base protocol:
//
//   kernbench::ProtocolChecker<64> checker("checker");
//   cpu.socket.bind(checker.target_socket);
//   checker.initiator_socket.bind(memory.socket);
//
// protocol_monitor.h lists the checks. Violations are SystemC warnings unless monitor().set_report() changes that.
#pragma once

#include "kernbench/systemc_models/protocol/protocol_monitor.h"

namespace kernbench::protocol {

template <unsigned W = 32>
class ProtocolChecker : public sc_core::sc_module {
 public:
  tlm::tlm_target_socket<W> target_socket{"target_socket"};           ///< to the initiator
  tlm::tlm_initiator_socket<W> initiator_socket{"initiator_socket"};  ///< to the target

  explicit ProtocolChecker(sc_core::sc_module_name name) : sc_module(name), monitor_(this->name()) {
    target_socket.bind(monitor_);
    initiator_socket.bind(monitor_);
  }
  ProtocolMonitor& monitor() { return monitor_; }

 private:
  void end_of_elaboration() override {
    monitor_.set_forward(initiator_socket.get_base_port().operator->());
    monitor_.set_backward(target_socket.get_base_port().operator->());
  }
  ProtocolMonitor monitor_;
};

}  // namespace kernbench::protocol
