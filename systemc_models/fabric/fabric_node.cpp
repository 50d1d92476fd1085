#include "kernbench/systemc_models/fabric/fabric_node.h"

#include <stdexcept>

#include "kernbench/systemc_models/fabric/control_message.h"

namespace kernbench {
namespace {

Fabric& fabric_of(Component& owner) {
  if (auto* fabric = dynamic_cast<Fabric*>(&owner.context())) return *fabric;
  throw std::invalid_argument(owner.id() + ": its context is no Fabric, which a block with fabric sockets needs");
}

}  // namespace

FabricNode::FabricNode(Component& owner) : owner_(owner), fabric_(fabric_of(owner)) {
  fabric_.add_node(*this);
}

FabricNode::~FabricNode() {
  for (FabricPort* p : ports_) p->~FabricPort();
}

FabricPort& FabricNode::add_port(Link* link) {
  void* place = fabric_.arena().allocate(sizeof(FabricPort));
  ports_.push_back(new (place) FabricPort(*this, link ? *link : fabric_.make_link({})));
  return *ports_.back();
}

FabricPort& FabricNode::port_for_binding() {
  return connecting_ ? *connecting_ : add_port(nullptr);
}

tlm::tlm_sync_enum FabricNode::request_in(FabricTransaction& x, FabricPort&, tlm::tlm_phase&, sc_core::sc_time&) {
  x.payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum FabricNode::other_request_in(tlm::tlm_generic_payload& payload, FabricPort& in,
                                                tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (auto* m = payload.get_extension<ControlMessage>()) {
    m->request_in(in);
    return FabricPort::accepted(phase);
  }
  payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum FabricNode::other_response_in(tlm::tlm_generic_payload& payload, FabricPort& out, tlm::tlm_phase&,
                                                 sc_core::sc_time&) {
  auto* m = payload.get_extension<ControlMessage>();
  if (!m) return tlm::TLM_ACCEPTED;
  m->response_in(out);
  return tlm::TLM_COMPLETED;
}

void connect(FabricNode& a, FabricNode& b, Link* there, Link* back, Requests requests) {
  a.connecting_ = &a.add_port(there);
  b.connecting_ = &b.add_port(back);
  if (there && a.initiator_socket() && b.target_socket()) a.initiator_socket()->bind(*b.target_socket());
  if (back && requests == Requests::both_ways && b.initiator_socket() && a.target_socket())
    b.initiator_socket()->bind(*a.target_socket());
  a.connecting_ = b.connecting_ = nullptr;
}

void connect(FabricNode& a, FabricNode& b, const LinkParameters& p) {
  connect(a, b, &a.fabric().make_link(p), &a.fabric().make_link(p));
}

namespace {

/// What stands behind an export that nobody is bound to as a whole: peers have an interface each (FabricPort).
class NobodyThere : public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
 public:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_COMPLETED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

NobodyThere& nobody_there() {
  static NobodyThere nobody;
  return nobody;
}

}  // namespace

tlm::tlm_fw_transport_if<>& FabricTargetSocket::get_base_interface() {
  FabricPort& port = node_.port_for_binding();
  port.response_binding_ = bound_++;
  return port;
}

/// Bound as a whole to the socket of a module around: one peer, which is not known here.
sc_core::sc_export<tlm::tlm_fw_transport_if<>>& FabricTargetSocket::get_base_export() {
  if (!get_interface()) sc_export::bind(get_base_interface());
  return *this;
}

void FabricTargetSocket::before_end_of_elaboration() {
  if (!get_interface()) sc_export::bind(nobody_there());
}

void FabricTargetSocket::end_of_elaboration() {
  for (FabricPort* p : node_.ports()) {
    if (p->response_binding_ < 0 || p->response_binding_ >= get_base_port().size()) continue;
    p->backward_ = get_base_port()[p->response_binding_];
    p->meet(dynamic_cast<FabricPort*>(p->backward_));
  }
}

tlm::tlm_bw_transport_if<>& FabricInitiatorSocket::get_base_interface() {
  FabricPort& port = node_.port_for_binding();
  port.request_binding_ = bound_++;
  return port;
}

sc_core::sc_export<tlm::tlm_bw_transport_if<>>& FabricInitiatorSocket::get_base_export() {
  if (!m_export.get_interface()) m_export.bind(get_base_interface());
  return m_export;
}

void FabricInitiatorSocket::before_end_of_elaboration() {
  if (!m_export.get_interface()) m_export.bind(nobody_there());
}

void FabricInitiatorSocket::end_of_elaboration() {
  for (FabricPort* p : node_.ports()) {
    if (p->request_binding_ < 0 || p->request_binding_ >= size()) continue;
    p->forward_ = (*this)[p->request_binding_];
    p->meet(dynamic_cast<FabricPort*>(p->forward_));
  }
}

}  // namespace kernbench
