// SPDX-License-Identifier: Apache-2.0
// Binds sockets of a foreign block to an open port of the fabric (fabric_node.h). Each gets a separate opposite socket
// of its width, so that sockets that count their peers (multi_passthrough_*) see the expected number.
#pragma once

#include <functional>
#include <memory>
#include <tlm>
#include <utility>
#include <vector>

#include "kernbench/systemc_models/fabric/fabric_port.h"

namespace kernbench::fabric {

class ForeignSockets {
  using Forward = tlm::tlm_fw_transport_if<>;
  using Backward = tlm::tlm_bw_transport_if<>;

 public:
  /// The port's requests go to the foreign block's target socket.
  template <unsigned W>
  void send(FabricPort& port, tlm::tlm_base_target_socket_b<W, Forward, Backward>& target) {
    auto end = std::make_shared<End<tlm::tlm_initiator_socket<W>>>(sc_core::sc_gen_unique_name("to_foreign"));
    end->socket.bind(static_cast<Backward&>(port));
    end->socket.bind(target);
    elaborated_.push_back([&port, end] { port.bound_forward(end->socket.operator->()); });
  }
  /// The foreign block's requests go to the port.
  template <unsigned W, int N, sc_core::sc_port_policy P>
  void take(FabricPort& port, tlm::tlm_base_initiator_socket<W, Forward, Backward, N, P>& initiator) {
    initiator.bind(socket_at<W>(port));
  }
  template <unsigned W>
  void take(FabricPort& port, tlm::tlm_base_initiator_socket_b<W, Forward, Backward>& initiator) {
    tlm::tlm_target_socket<W>& socket = socket_at<W>(port);
    initiator.get_base_port().bind(socket.get_base_interface());
    socket.get_base_port().bind(initiator.get_base_interface());
  }
  /// Call it at the end of elaboration, when the peers are known.
  void end_of_elaboration() const {
    for (const auto& f : elaborated_) f();
  }

 private:
  /// A port must be inside a module.
  template <class Socket>
  struct End : sc_core::sc_module {
    explicit End(sc_core::sc_module_name name) : sc_module(name) {}
    Socket socket{"socket"};
  };
  template <unsigned W>
  tlm::tlm_target_socket<W>& socket_at(FabricPort& port) {
    auto end = std::make_shared<End<tlm::tlm_target_socket<W>>>(sc_core::sc_gen_unique_name("from_foreign"));
    end->socket.bind(static_cast<Forward&>(port));
    elaborated_.push_back([&port, end] { port.bound_backward(end->socket.get_base_port().operator->()); });
    return end->socket;
  }
  std::vector<std::function<void()>> elaborated_;
};

}  // namespace kernbench::fabric
