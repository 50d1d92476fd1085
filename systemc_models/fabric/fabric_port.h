// SPDX-License-Identifier: Apache-2.0
// A block's connection to a neighbour in the fabric.
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
/// Phase of a credit, which travels opposite to the flit whose buffer space it returns. The base protocol may ignore
/// it.
DECLARE_EXTENDED_PHASE(CREDIT);

/// The sockets' end of a connection. Calls of the neighbour arrive here, and messages to it leave from here, over the
/// link in that direction. Requests use the initiator socket, and their responses return over it. The neighbour's
/// requests and their responses use the target socket.
///
/// Between two blocks of the project, BEGIN_REQ of a request returns TLM_COMPLETED if the response is back immediately
/// (its time is the call's delay). Otherwise it returns TLM_UPDATED with END_REQ, and BEGIN_RESP follows later and
/// returns TLM_COMPLETED. In flit mode a call carries one flit, or several flits of a message that move together
/// (x.flits_together; the delay is that of the first). The first flit of a request is the BEGIN_REQ, and the last one
/// of a response is the BEGIN_RESP; other flits have their own phase. Next to a foreign block, a ForeignNeighbour
/// implements the complete base protocol.
class FabricPort final : public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
 public:
  /// With a new link, or with that of another port that leads to the same place.
  FabricPort(FabricNode& node, const LinkParameters& to_neighbour);
  FabricPort(FabricNode& node, Link& to_neighbour);
  FabricPort(const FabricPort&) = delete;
  FabricPort& operator=(const FabricPort&) = delete;
  ~FabricPort() override;

 private:
  // Incoming messages access the cache line of these two members; outgoing messages access that of the forward path and
  // the link.
  FabricNode* node_;
  ForeignNeighbour* foreign_ = nullptr;
  tlm::tlm_fw_transport_if<>* forward_ = nullptr;  ///< the neighbour, for requests; null: foreign, or none

 public:
  Link& link;  ///< to the neighbour

 private:
  Link own_link_;
  tlm::tlm_bw_transport_if<>* backward_ = nullptr;  ///< the neighbour, for responses to its requests
  Link* incoming_ = nullptr;
  FabricPort* neighbour_ = nullptr;

 public:
  InputPort* input = nullptr;  ///< finite buffers: waiting messages that arrived here (wormhole_links.h)
  uint32_t rank = 0;           ///< among its node's ports

  FabricNode& node() const { return *node_; }
  /// The neighbour's port, and the link from there; null for a foreign neighbour.
  FabricPort* neighbour() const { return neighbour_; }
  Link* incoming() const { return incoming_; }
  /// Implements the protocol towards a foreign block; else null.
  ForeignNeighbour* foreign() const { return foreign_; }
  /// The same; created if necessary, because the peer may not be bound yet.
  ForeignNeighbour& foreign_neighbour();
  tlm::tlm_fw_transport_if<>* forward() const { return forward_; }
  tlm::tlm_bw_transport_if<>* backward() const { return backward_; }

  /// Hands a request to the neighbour. Its header is there at x.time_ns, `delay` from now. Returns true if the response
  /// is back here, at x.time_ns; `delay` is then updated.
  bool request(FabricTransaction& x, sc_core::sc_time& delay) {
    if (!forward_) return request_outside(x);
    ++x.node;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    return forward_->nb_transport_fw(x.payload, phase, delay) == tlm::TLM_COMPLETED;
  }
  /// Hands a response to the neighbour. Its header is there at x.time_ns.
  void respond(FabricTransaction& x);
  /// Hands flits to the neighbour. They are there at their time_ns, the first one `delay` from now.
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
  /// Hands a credit to the neighbour whose request (`response`: response) carried the flit.
  void give_back(const Credit&, FabricTransaction&, bool response);
  /// The same for messages other than memory traffic. They are at the neighbour at m.time_ns().
  void request(SocketMessage& m);
  void respond(SocketMessage& m);
  /// The return status of a request whose response is back at the neighbour at x.time_ns.
  tlm::tlm_sync_enum completed(const FabricTransaction& x, sc_core::sc_time& delay) const;
  /// The return status of a request whose response follows later.
  static tlm::tlm_sync_enum accepted(tlm::tlm_phase& phase) {
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  // Elaboration has determined the peer. An observer in between (look_through.h) is transparent.
  void bound_forward(tlm::tlm_fw_transport_if<>* neighbour);
  void bound_backward(tlm::tlm_bw_transport_if<>* neighbour);

  // Called by the neighbour.
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
