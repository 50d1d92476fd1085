// SPDX-License-Identifier: Apache-2.0
// TLM-2.0 sockets whose bus width is an attribute of the topology. The width is part of a socket's type, and only
// sockets of equal width bind to each other, but their interfaces are the same.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <tlm>

#include "kernbench/systemc_models/core/parameters.h"
#include "kernbench/systemc_models/protocol/protocol_monitor.h"

namespace kernbench::protocol {

/// A monitor for a socket of that name if the build has KERNBENCH_CHECK_TLM, else null.
std::unique_ptr<ProtocolMonitor> monitor_of(const char* socket);

/// Optional binding: an unbound socket is not an error.
template <unsigned W>
using OptionalTargetSocket = tlm::tlm_target_socket<W, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
template <unsigned W>
using OptionalInitiatorSocket =
    tlm::tlm_initiator_socket<W, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

/// `bus_width` of a parameter struct: 32, 64, 128, 256 or 512 bits.
template <class List, class P>
void describe_bus_width(List& list, unsigned P::*member) {
  list.add_choice(member, "bus_width", "bits", "bus width of the socket: 32, 64, 128, 256 or 512; no influence on time",
                  {"32", "64", "128", "256", "512"});
}

class WideTargetSocket {
 public:
  /// Must be created in the constructor of its module.
  WideTargetSocket(const char* name, unsigned width, tlm::tlm_fw_transport_if<>& forward);
  /// The socket with its actual type. For another width std::logic_error, which names the remedy.
  template <unsigned W>
  OptionalTargetSocket<W>& as() const {
    if (auto* s = dynamic_cast<OptionalTargetSocket<W>*>(socket_.get())) return *s;
    throw std::logic_error(wrong_width(W));
  }
  /// The initiator's interface after elaboration; null if nothing is bound.
  tlm::tlm_bw_transport_if<>* backward() const;
  /// The socket's monitor; null without KERNBENCH_CHECK_TLM.
  ProtocolMonitor* monitor() const { return monitor_.get(); }

 private:
  std::string wrong_width(unsigned asked) const;
  std::shared_ptr<sc_core::sc_object> socket_;
  sc_core::sc_port_b<tlm::tlm_bw_transport_if<>>* port_ = nullptr;
  unsigned width_;
  std::unique_ptr<ProtocolMonitor> monitor_;
};

class WideInitiatorSocket {
 public:
  WideInitiatorSocket(const char* name, unsigned width, tlm::tlm_bw_transport_if<>& backward);
  template <unsigned W>
  OptionalInitiatorSocket<W>& as() const {
    if (auto* s = dynamic_cast<OptionalInitiatorSocket<W>*>(socket_.get())) return *s;
    throw std::logic_error(wrong_width(W));
  }
  /// The target's interface after elaboration; null if nothing is bound.
  tlm::tlm_fw_transport_if<>* forward() const;
  /// The socket's monitor; null without KERNBENCH_CHECK_TLM.
  ProtocolMonitor* monitor() const { return monitor_.get(); }

 private:
  std::string wrong_width(unsigned asked) const;
  std::shared_ptr<sc_core::sc_object> socket_;
  sc_core::sc_port_b<tlm::tlm_fw_transport_if<>>* port_ = nullptr;
  unsigned width_;
  std::unique_ptr<ProtocolMonitor> monitor_;
};

}  // namespace kernbench::protocol
