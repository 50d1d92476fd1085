// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench::protocol {
namespace {

constexpr const char* kWidths = "32, 64, 128, 256 or 512";

/// Calls make() with the width as a constant, for a legal width.
template <class Make>
void with_width(unsigned width, Make make) {
  switch (width) {
    case 32:
      return make(std::integral_constant<unsigned, 32>());
    case 64:
      return make(std::integral_constant<unsigned, 64>());
    case 128:
      return make(std::integral_constant<unsigned, 128>());
    case 256:
      return make(std::integral_constant<unsigned, 256>());
    case 512:
      return make(std::integral_constant<unsigned, 512>());
    default:
      throw std::invalid_argument("bus_width: found " + std::to_string(width) + "; legal: " + kWidths);
  }
}

std::string other_width(const sc_core::sc_object& socket, unsigned width, unsigned asked) {
  return std::string(socket.name()) + ": is " + std::to_string(width) + " bits wide, a socket of " +
         std::to_string(asked) + " was asked for; legal: bus_width: " + std::to_string(asked) + " (" + kWidths + ")";
}

}  // namespace

std::unique_ptr<ProtocolMonitor> monitor_of([[maybe_unused]] const char* socket) {
#ifdef KERNBENCH_CHECK_TLM
  return std::make_unique<ProtocolMonitor>(socket);
#else
  return nullptr;
#endif
}

WideTargetSocket::WideTargetSocket(const char* name, unsigned width, tlm::tlm_fw_transport_if<>& forward)
    : width_(width) {
  with_width(width, [&](auto w) {
    auto socket = std::make_shared<OptionalTargetSocket<decltype(w)::value>>(name);
    monitor_ = monitor_of(socket->name());
    if (monitor_) {
      monitor_->set_forward(&forward);
      socket->bind(*monitor_);
    } else {
      socket->bind(forward);
    }
    port_ = &socket->get_base_port();
    socket_ = std::move(socket);
  });
}

tlm::tlm_bw_transport_if<>* WideTargetSocket::backward() const {
  tlm::tlm_bw_transport_if<>* initiator = port_->size() > 0 ? (*port_)[0] : nullptr;
  if (!initiator || !monitor_) return initiator;
  monitor_->set_backward(initiator);
  return monitor_.get();
}

std::string WideTargetSocket::wrong_width(unsigned asked) const {
  return other_width(*socket_, width_, asked);
}

WideInitiatorSocket::WideInitiatorSocket(const char* name, unsigned width, tlm::tlm_bw_transport_if<>& backward)
    : width_(width) {
  with_width(width, [&](auto w) {
    auto socket = std::make_shared<OptionalInitiatorSocket<decltype(w)::value>>(name);
    monitor_ = monitor_of(socket->name());
    if (monitor_) {
      monitor_->set_backward(&backward);
      socket->bind(*monitor_);
    } else {
      socket->bind(backward);
    }
    port_ = &socket->get_base_port();
    socket_ = std::move(socket);
  });
}

tlm::tlm_fw_transport_if<>* WideInitiatorSocket::forward() const {
  tlm::tlm_fw_transport_if<>* target = port_->size() > 0 ? (*port_)[0] : nullptr;
  if (!target || !monitor_) return target;
  monitor_->set_forward(target);
  return monitor_.get();
}

std::string WideInitiatorSocket::wrong_width(unsigned asked) const {
  return other_width(*socket_, width_, asked);
}

}  // namespace kernbench::protocol
