// SPDX-License-Identifier: Apache-2.0
// One connection of a block to a neighbour in the fabric.
#pragma once

#include <tlm>

#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/fabric/link.h"
#include "kernbench/systemc_models/fabric/transaction.h"

namespace kernbench::fabric {

class FabricNode;
class ForeignNeighbour;
class InputPort;
class SocketMessage;

/// Phase of a flit that neither begins a request nor ends a response. The base protocol may ignore it.
DECLARE_EXTENDED_PHASE(FLIT);
/// Phase of a credit, which goes the other way than the flit whose room it is. Likewise.
DECLARE_EXTENDED_PHASE(CREDIT);

/// What is bound to the sockets at this end: calls of the neighbour arrive here, and what goes to it leaves from here,
/// over the link in that direction. Requests go by the initiator socket, their responses come back over it; the
/// neighbour's requests and their responses go by the target socket.
///
/// Between two of this project's blocks a request's BEGIN_REQ is answered TLM_COMPLETED where the response is back at
/// once (its time is the call's delay), else TLM_UPDATED with END_REQ, and BEGIN_RESP comes later, answered
/// TLM_COMPLETED. In flit mode a call carries a flit, or several of a message that go on together: x.flits_together,
/// the delay is the first one's. With the first flit of a request it is the BEGIN_REQ, with the last one of a response
/// the BEGIN_RESP; otherwise it has a phase of its own. Beside any other block a ForeignNeighbour keeps the whole base
/// protocol.
class FabricPort final : public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
 public:
  /// With a link of its own, or with that of another port, which leads the same way.
  FabricPort(FabricNode& node, const LinkParameters& to_neighbour);
  FabricPort(FabricNode& node, Link& to_neighbour);
  FabricPort(const FabricPort&) = delete;
  FabricPort& operator=(const FabricPort&) = delete;
  ~FabricPort() override;

 private:
  // What comes in touches the line of these two, what leaves that of the way out and the link.
  FabricNode* node_;
  ForeignNeighbour* foreign_ = nullptr;
  tlm::tlm_fw_transport_if<>* forward_ = nullptr;  ///< the neighbour, for requests; null: not of this project, or none

 public:
  Link& link;  ///< to the neighbour

 private:
  Link own_link_;
  tlm::tlm_bw_transport_if<>* backward_ = nullptr;  ///< the neighbour, for responses to its requests
  Link* incoming_ = nullptr;
  FabricPort* neighbour_ = nullptr;

 public:
  InputPort* input = nullptr;  ///< finite buffers: what has come in and waits (wormhole_links.h)
  uint32_t rank = 0;           ///< among its node's ports

  FabricNode& node() const { return *node_; }
  /// The neighbour's port, and the link from there; null where the neighbour is not of this project.
  FabricPort* neighbour() const { return neighbour_; }
  Link* incoming() const { return incoming_; }
  /// What keeps the protocol beside a block that is not of this project; else null.
  ForeignNeighbour* foreign() const { return foreign_; }
  /// The same, made where there is none yet: before it is known who is bound.
  ForeignNeighbour& foreign_neighbour();
  tlm::tlm_fw_transport_if<>* forward() const { return forward_; }
  tlm::tlm_bw_transport_if<>* backward() const { return backward_; }

  /// Hands a request to the neighbour, where its header is at x.time_ns, `delay` from now. True: the response is back
  /// here, at x.time_ns, which is now `delay` from now.
  bool request(FabricTransaction& x, sc_core::sc_time& delay) {
    if (!forward_) return request_outside(x);
    ++x.node;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    return forward_->nb_transport_fw(x.payload, phase, delay) == tlm::TLM_COMPLETED;
  }
  /// Hands a response to the neighbour, where its header is at x.time_ns.
  void respond(FabricTransaction& x);
  /// Hands flits to the neighbour, where they are at their time_ns, the first one `delay` from now.
  void hand_on(FlitTrain train, sc_core::sc_time delay) {
    if (foreign_) return flits_outside(train);
    Flit& f = train.first;
    FabricTransaction& x = *f.transaction;
    x.flit = &f;
    x.flits_together = train.count;
    if (f.response) {
      tlm::tlm_phase phase = train.last().last ? tlm::tlm_phase(tlm::BEGIN_RESP) : tlm::tlm_phase(FLIT);
      backward_->nb_transport_bw(x.payload, phase, delay);
    } else {
      tlm::tlm_phase phase = f.index == 0 ? tlm::tlm_phase(tlm::BEGIN_REQ) : tlm::tlm_phase(FLIT);
      forward_->nb_transport_fw(x.payload, phase, delay);
    }
  }
  /// Hands a credit to the neighbour by whose request (`response`: response) a flit had come.
  void give_back(const Credit&, FabricTransaction&, bool response);
  /// The same for messages that are no memory traffic: they are at the neighbour at m.time_ns().
  void request(SocketMessage& m);
  void respond(SocketMessage& m);
  /// The answer to a request whose response is back at the neighbour at x.time_ns.
  tlm::tlm_sync_enum completed(const FabricTransaction& x, sc_core::sc_time& delay) const;
  /// The answer to a request whose response comes later.
  static tlm::tlm_sync_enum accepted(tlm::tlm_phase& phase) {
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  // Elaboration has shown who is bound here; an observer between (look_through.h) is looked through.
  void bound_forward(tlm::tlm_fw_transport_if<>* neighbour);
  void bound_backward(tlm::tlm_bw_transport_if<>* neighbour);

  // What the neighbour calls.
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload&) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;

 private:
  void meet(FabricPort* neighbour);
  bool request_outside(FabricTransaction&);
  tlm::tlm_sync_enum other_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time& delay);
  void flits_outside(FlitTrain);
};

}  // namespace kernbench::fabric
