// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/fabric_node.h"

#include <stdexcept>

#include "kernbench/systemc_models/fabric/foreign_neighbour.h"
#include "kernbench/systemc_models/fabric/socket_message.h"

namespace kernbench::fabric {
namespace {

Fabric& fabric_of(Component& owner) {
  if (auto* fabric = dynamic_cast<Fabric*>(&owner.context())) return *fabric;
  throw std::invalid_argument(owner.id() + ": its context is no Fabric, which a block with fabric sockets needs");
}

}  // namespace

FabricNode::FabricNode(Component& owner) : fabric_(fabric_of(owner)), owner_(owner) {
  fabric_.add_node(*this);
}

FabricNode::~FabricNode() {
  for (FabricPort* p : ports_) p->~FabricPort();
}

FabricPort& FabricNode::add_port(const LinkTo& to) {
  void* place = fabric_.arena().allocate(sizeof(FabricPort));
  ports_.push_back(to.link ? new (place) FabricPort(*this, *to.link) : new (place) FabricPort(*this, to.parameters));
  ports_.back()->rank = static_cast<uint32_t>(ports_.size() - 1);
  return *ports_.back();
}

FabricPort& FabricNode::port_for_binding() {
  return connecting_ ? *connecting_ : add_port({});
}

tlm::tlm_sync_enum FabricNode::request_in(FabricTransaction& x, FabricPort&, tlm::tlm_phase&, sc_core::sc_time&) {
  x.payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum FabricNode::other_request_in(tlm::tlm_generic_payload& payload, FabricPort& in,
                                                tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (auto* m = payload.get_extension<SocketMessage>()) {
    m->request_in(in);
    return FabricPort::accepted(phase);
  }
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum FabricNode::other_response_in(tlm::tlm_generic_payload& payload, FabricPort& out, tlm::tlm_phase&,
                                                 sc_core::sc_time&) {
  auto* m = payload.get_extension<SocketMessage>();
  if (!m) return tlm::TLM_ACCEPTED;
  m->response_in(out);
  return tlm::TLM_COMPLETED;
}

void connect(FabricNode& a, FabricNode& b, const LinkTo& there, const LinkTo& back, Requests requests) {
  FabricPort &at_a = a.add_port(there), &at_b = b.add_port(back);
  if (there.exists && a.initiator_socket() && b.target_socket()) bind(at_a, at_b);
  if (back.exists && requests == Requests::both_ways && b.initiator_socket() && a.target_socket()) bind(at_b, at_a);
}

void bind(FabricPort& from, FabricPort& to) {
  FabricNode &a = from.node(), &b = to.node();
  a.connecting_ = &from;
  b.connecting_ = &to;
  a.initiator_socket()->bind(*b.target_socket());
  a.connecting_ = b.connecting_ = nullptr;
}

FabricPort& open_port(FabricNode& node, const LinkTo& there, const LinkParameters& back) {
  FabricPort& port = node.add_port(there);
  port.foreign_neighbour().from.set(back);
  return port;
}

void connect(FabricNode& a, FabricNode& b, const LinkParameters& p) {
  connect(a, b, LinkTo(p), LinkTo(p));
}

}  // namespace kernbench::fabric
