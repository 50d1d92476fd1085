// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/fabric_port.h"

#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/socket_message.h"
#include "kernbench/systemc_models/protocol/look_through.h"

namespace kernbench::fabric {

FabricPort::FabricPort(FabricNode& node, const LinkParameters& to_neighbour) : node_(&node), link(own_link_) {
  link.set(to_neighbour);
}

FabricPort::FabricPort(FabricNode& node, Link& to_neighbour) : node_(&node), link(to_neighbour) {}

FabricPort::~FabricPort() {
  delete foreign_;
}

bool FabricPort::request_outside(FabricTransaction& x) {
  foreign_->send_request(x);
  return false;
}

void FabricPort::respond(FabricTransaction& x) {
  if (foreign_) return foreign_->send_response(x);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = node_->fabric().timeline().delay_until(x.time_ns);
  backward_->nb_transport_bw(x.payload, phase, delay);
}

void FabricPort::flits_outside(FlitTrain train) {
  for (uint32_t i = 0; i < train.count; ++i) foreign_->send_flit(train[i]);
}

void FabricPort::give_back(const Credit& c, FabricTransaction& x, bool response) {
  x.credit = &c;
  sc_core::sc_time delay = node_->fabric().timeline().delay_until(c.time_ns);
  tlm::tlm_phase phase = CREDIT;
  if (response) {
    forward_->nb_transport_fw(x.payload, phase, delay);
  } else {
    backward_->nb_transport_bw(x.payload, phase, delay);
  }
}

void FabricPort::request(SocketMessage& m) {
  if (foreign_) return foreign_->send_request(m);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = node_->fabric().timeline().delay_until(m.time_ns());
  forward_->nb_transport_fw(m.payload, phase, delay);
}

void FabricPort::respond(SocketMessage& m) {
  if (foreign_) return foreign_->send_response(m);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = node_->fabric().timeline().delay_until(m.time_ns());
  backward_->nb_transport_bw(m.payload, phase, delay);
}

tlm::tlm_sync_enum FabricPort::completed(const FabricTransaction& x, sc_core::sc_time& delay) const {
  delay = node_->fabric().timeline().delay_until(x.time_ns);
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum FabricPort::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
  FabricPayload* own = own_payload(payload);
  if (own && !foreign_) return node_->request_in(own->transaction, *this, phase, delay);
  return other_transport_fw(payload, phase, delay);
}

/// For neighbours of foreign blocks, messages, and payloads whose class is unknown. A separate function, so that the
/// usual calls do not pay for it.
tlm::tlm_sync_enum FabricPort::other_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  if (foreign_) return foreign_->nb_transport_fw(payload, phase, delay);
  if (auto* x = transaction_of(payload)) return node_->request_in(*x, *this, phase, delay);
  return node_->other_request_in(payload, *this, phase, delay);
}

tlm::tlm_sync_enum FabricPort::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
  if (foreign_) return foreign_->nb_transport_bw(payload, phase, delay);
  if (auto* x = transaction_of(payload)) return node_->fabric().mode().response_at(*x, *this, phase);
  return node_->other_response_in(payload, *this, phase, delay);
}

void FabricPort::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (foreign_) return foreign_->b_transport(payload, delay);
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);  // blocks of the project never use b_transport between
                                                                 // each other
}

unsigned FabricPort::transport_dbg(tlm::tlm_generic_payload& payload) {
  return foreign_ ? foreign_->transport_dbg(payload) : 0;
}

bool FabricPort::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  return foreign_ && foreign_->get_direct_mem_ptr(payload, dmi);
}

/// Blocks of the project request pointers only from foreign blocks.
void FabricPort::invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
  if (foreign_) foreign_->invalidate(first, last);
}

void FabricPort::bound_forward(tlm::tlm_fw_transport_if<>* neighbour) {
  forward_ = neighbour;
  meet(look_through_to<FabricPort>(neighbour));
}

void FabricPort::bound_backward(tlm::tlm_bw_transport_if<>* neighbour) {
  backward_ = neighbour;
  meet(look_through_to<FabricPort>(neighbour));
}

/// Null: a foreign block.
void FabricPort::meet(FabricPort* neighbour) {
  neighbour_ = neighbour;
  incoming_ = neighbour ? &neighbour->link : nullptr;
  if (neighbour) return;
  if (forward_) foreign_neighbour().set_forward(forward_);
  forward_ = nullptr;
  foreign_neighbour().set_backward(backward_);
}

ForeignNeighbour& FabricPort::foreign_neighbour() {
  if (!foreign_) {
    foreign_ = new ForeignNeighbour(*this);
    node_->fabric().meet_foreign_block();
  }
  return *foreign_;
}

}  // namespace kernbench::fabric
