// SPDX-License-Identifier: Apache-2.0
// TLM-2.0 sockets for any number of peers, with a separate object (a port) of the block for each. A port holds its
// block and its peer, so no look-up by number is needed. These sockets bind to any socket of the protocol.
//
// A Node has port_for_binding(), which returns the port for the next peer. A Port implements both transport interfaces.
// It has bound_forward() and bound_backward(), which are called at the end of elaboration with the peer's interfaces.
#pragma once

#include <tlm>
#include <vector>

#include "kernbench/phase2/rooms.h"

namespace kernbench::protocol {

/// Placeholder behind an export without an own peer: each peer has a port.
template <class Types>
class NobodyThere : public tlm::tlm_fw_transport_if<Types>, public tlm::tlm_bw_transport_if<Types> {
  using Payload = typename Types::tlm_payload_type;
  using Phase = typename Types::tlm_phase_type;

 public:
  static NobodyThere& instance() {
    static NobodyThere nobody;
    return nobody;
  }
  tlm::tlm_sync_enum nb_transport_fw(Payload&, Phase&, sc_core::sc_time&) override { return tlm::TLM_COMPLETED; }
  tlm::tlm_sync_enum nb_transport_bw(Payload&, Phase&, sc_core::sc_time&) override { return tlm::TLM_COMPLETED; }
  void b_transport(Payload&, sc_core::sc_time&) override {}
  unsigned transport_dbg(Payload&) override { return 0; }
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

template <class Types, class Node, class Port>
class PortTargetSocket : public tlm::tlm_target_socket<32, Types, 0, sc_core::SC_ZERO_OR_MORE_BOUND> {
  using Base = tlm::tlm_target_socket<32, Types, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

 public:
  PortTargetSocket(const char* name, Node& node) : Base(name), node_(node) {}
  tlm::tlm_fw_transport_if<Types>& get_base_interface() override {
    ports_.push_back(&node_.port_for_binding());
    return *ports_.back();
  }
  /// Bound as a whole to the socket of an enclosing module: one peer, which is unknown here.
  sc_core::sc_export<tlm::tlm_fw_transport_if<Types>>& get_base_export() override {
    if (!Base::get_interface()) sc_core::sc_export<tlm::tlm_fw_transport_if<Types>>::bind(get_base_interface());
    return *this;
  }
  /// In the order in which peers were bound.
  const std::vector<Port*>& ports() const { return ports_; }

 private:
  void before_end_of_elaboration() override {
    if (!Base::get_interface())
      sc_core::sc_export<tlm::tlm_fw_transport_if<Types>>::bind(NobodyThere<Types>::instance());
  }
  void end_of_elaboration() override {
    auto& peers = Base::get_base_port();
    for (int i = 0; i < static_cast<int>(ports_.size()) && i < peers.size(); ++i)
      ports_[static_cast<size_t>(i)]->bound_backward(peers[i]);
  }

  Node& node_;
  std::vector<Port*> ports_;
};

template <class Types, class Node, class Port>
class PortInitiatorSocket : public tlm::tlm_initiator_socket<32, Types, 0, sc_core::SC_ZERO_OR_MORE_BOUND> {
  using Base = tlm::tlm_initiator_socket<32, Types, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

 public:
  PortInitiatorSocket(const char* name, Node& node) : Base(name), node_(node) {}
  tlm::tlm_bw_transport_if<Types>& get_base_interface() override {
    ports_.push_back(&node_.port_for_binding());
    return *ports_.back();
  }
  sc_core::sc_export<tlm::tlm_bw_transport_if<Types>>& get_base_export() override {
    if (!Base::m_export.get_interface()) Base::m_export.bind(get_base_interface());
    return Base::m_export;
  }
  const std::vector<Port*>& ports() const { return ports_; }

 private:
  void before_end_of_elaboration() override {
    if (!Base::m_export.get_interface()) Base::m_export.bind(NobodyThere<Types>::instance());
  }
  void end_of_elaboration() override {
    for (int i = 0; i < static_cast<int>(ports_.size()) && i < Base::size(); ++i)
      ports_[static_cast<size_t>(i)]->bound_forward((*this)[i]);
  }

  Node& node_;
  std::vector<Port*> ports_;
};

}  // namespace kernbench::protocol
