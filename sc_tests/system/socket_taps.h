// SPDX-License-Identifier: Apache-2.0
// Observers between bound sockets, which pass all calls unchanged.
#pragma once

#include <functional>
#include <memory>
#include <tlm>
#include <vector>

#include "kernbench/systemc_models/protocol/look_through.h"

namespace kernbench::testing {

/// The calls of one port.
template <class Types, class Interface>
class SocketTap;

template <class Types>
class SocketTap<Types, tlm::tlm_fw_transport_if<Types>> : public tlm::tlm_fw_transport_if<Types>,
                                                          public Between<tlm::tlm_fw_transport_if<Types>> {
  using Payload = typename Types::tlm_payload_type;
  using Phase = typename Types::tlm_phase_type;

 public:
  using Seen = std::function<bool(Payload&, const Phase&)>;  ///< false: drop the call
  SocketTap(tlm::tlm_fw_transport_if<Types>& behind, Seen seen) : behind_(behind), seen_(std::move(seen)) {}
  tlm::tlm_fw_transport_if<Types>* behind() const override { return &behind_; }
  tlm::tlm_sync_enum nb_transport_fw(Payload& p, Phase& phase, sc_core::sc_time& delay) override {
    return seen_(p, phase) ? behind_.nb_transport_fw(p, phase, delay) : tlm::TLM_ACCEPTED;
  }
  void b_transport(Payload& p, sc_core::sc_time& delay) override { behind_.b_transport(p, delay); }
  unsigned transport_dbg(Payload& p) override { return behind_.transport_dbg(p); }
  bool get_direct_mem_ptr(Payload& p, tlm::tlm_dmi& dmi) override { return behind_.get_direct_mem_ptr(p, dmi); }

 private:
  tlm::tlm_fw_transport_if<Types>& behind_;
  const Seen seen_;
};

template <class Types>
class SocketTap<Types, tlm::tlm_bw_transport_if<Types>> : public tlm::tlm_bw_transport_if<Types>,
                                                          public Between<tlm::tlm_bw_transport_if<Types>> {
  using Payload = typename Types::tlm_payload_type;
  using Phase = typename Types::tlm_phase_type;

 public:
  using Seen = std::function<bool(Payload&, const Phase&)>;  ///< false: drop the call
  SocketTap(tlm::tlm_bw_transport_if<Types>& behind, Seen seen) : behind_(behind), seen_(std::move(seen)) {}
  tlm::tlm_bw_transport_if<Types>* behind() const override { return &behind_; }
  tlm::tlm_sync_enum nb_transport_bw(Payload& p, Phase& phase, sc_core::sc_time& delay) override {
    return seen_(p, phase) ? behind_.nb_transport_bw(p, phase, delay) : tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    behind_.invalidate_direct_mem_ptr(first, last);
  }

 private:
  tlm::tlm_bw_transport_if<Types>& behind_;
  const Seen seen_;
};

/// Puts a tap between each port of the nodes and its peer, after binding. `Seen` is called as bool(FabricPort& from,
/// payload, phase) for calls that leave a port, in both directions.
template <class Types, class Port>
class SocketTaps : public sc_core::sc_module {
  using Forward = tlm::tlm_fw_transport_if<Types>;
  using Backward = tlm::tlm_bw_transport_if<Types>;
  using Payload = typename Types::tlm_payload_type;
  using Phase = typename Types::tlm_phase_type;

 public:
  using Seen = std::function<bool(Port& from, Payload&, const Phase&)>;
  SocketTaps(sc_core::sc_module_name name, Seen seen) : sc_module(name), seen_(std::move(seen)) {}

  /// Call it before the simulation starts. Null: no socket.
  template <class InitiatorSocket, class TargetSocket>
  void watch(InitiatorSocket* initiator, TargetSocket* target) {
    if (initiator)
      splices_.push_back([this, initiator] {
        for (size_t i = 0; i < initiator->ports().size(); ++i)
          put(*initiator->ports()[i], (*initiator)[static_cast<int>(i)], forward_, &Port::bound_forward);
      });
    if (target)
      splices_.push_back([this, target] {
        auto& peers = target->get_base_port();
        for (size_t i = 0; i < target->ports().size(); ++i)
          put(*target->ports()[i], peers[static_cast<int>(i)], backward_, &Port::bound_backward);
      });
  }
  size_t count() const { return forward_.size() + backward_.size(); }

 private:
  template <class Interface>
  using Taps = std::vector<std::unique_ptr<SocketTap<Types, Interface>>>;

  template <class Interface>
  void put(Port& port, Interface* peer, Taps<Interface>& taps, void (Port::*bind)(Interface*)) {
    if (!peer) return;
    taps.push_back(std::make_unique<SocketTap<Types, Interface>>(
        *peer, [this, &port](Payload& p, const Phase& phase) { return seen_(port, p, phase); }));
    (port.*bind)(taps.back().get());
  }
  void start_of_simulation() override {
    for (const auto& splice : splices_) splice();
  }

  const Seen seen_;
  std::vector<std::function<void()>> splices_;
  Taps<Forward> forward_;
  Taps<Backward> backward_;
};

}  // namespace kernbench::testing
