// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/fabric/fabric.h"

#include <stdexcept>

#include "kernbench/systemc_models/fabric/address_map.h"
#include "kernbench/systemc_models/fabric/control_legs.h"
#include "kernbench/systemc_models/fabric/control_message.h"
#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/protocol/atomic_extension.h"

namespace kernbench::fabric {

FabricTransaction::FabricTransaction(tlm::tlm_mm_interface* pool) : payload(pool, *this) {
  payload.set_extension(this);
}

FabricTransaction::~FabricTransaction() {
  payload.clear_extension<AtomicExtension>();  // for a transaction in flight: the extension belongs to another object,
                                               // which may be deleted
  payload.clear_extension(this);
}

Hop& FabricTransaction::own_hop(uint32_t i) {
  if (!rerouted) own_hops.assign(hops, hops + hop_count);
  rerouted = true;
  if (own_hops.size() <= i) own_hops.resize(i + 1);
  take_own_hops();
  return own_hops[i];
}

/// A response with a separate path keeps that path.
void FabricTransaction::take_own_hops() {
  const bool same = !returns_elsewhere();
  hops = own_hops.data();
  hop_count = static_cast<uint32_t>(own_hops.size());
  if (!same) return;
  back = hops;
  back_count = hop_count;
}

void FabricTransaction::note_way_out(FabricPort& out) {
  if (node < hop_count && hops[node].out == &out) return;
  own_hop(node).out = &out;
  own_hops.resize(node + 1);  // the path beyond is unknown
  take_own_hops();
}

void FabricTransaction::head_for(uint64_t new_address, FabricPort& in) {
  address = new_address;
  moved = true;
  own_hop(node - 1).in = &in;
  own_hops.resize(node);
  take_own_hops();
}

Fabric::Fabric(const FabricTiming& timing)
    : timing_(timing),
      mode_(timing.links.spec().make(*this)),
      address_map_(std::make_unique<AddressMap>(*this)),
      routes_(address_map_.get()),
      messages_(std::make_unique<ControlPool>(timeline())),
      control_legs_(std::make_unique<ControlLegs>(*this)) {
  const LinkModeSpec& mode = timing.links.spec();
  if (mode.routed && timing.response != Response::routed)
    throw std::invalid_argument("timing: links " + mode.name + " with response ideal; expected routed");
  if (timing.finite_buffers && !mode.has_buffers)
    throw std::invalid_argument("timing: finite buffers with links " + mode.name + "; expected links " +
                                link_modes().names_text(&LinkModeSpec::has_buffers));
  if (timing.flit_bytes == 0) throw std::invalid_argument("timing: flit_bytes is 0; expected at least 1");
}

Fabric::~Fabric() {
  for (FabricTransaction* x : all_) x->~FabricTransaction();
  for (Link* l : links_) l->~Link();
}

void Fabric::set_control_legs(std::unique_ptr<ControlLegs> legs) {
  control_legs_ = std::move(legs);
}

std::unique_ptr<tlm::tlm_fw_transport_if<>> Fabric::make_entry(FabricNode&, tlm::tlm_bw_transport_if<>*) {
  return nullptr;
}

void Fabric::known_bytes(const FabricTransaction& x, uint8_t* out) const {
  for_each_range(x.address, x.rows, [&](uint64_t address, uint64_t nbytes) {
    known_bytes(address, out, nbytes);
    out += nbytes;
  });
}

Link& Fabric::make_link(const LinkParameters& p) {
  links_.push_back(arena().make<Link>());
  links_.back()->set(p);
  return *links_.back();
}

void Fabric::answered_outside(FabricTransaction& x, tlm::tlm_response_status status) {
  if (x.mover && x.memory_arrival == 0) x.mover->moved_outside(x);
  if (x.mover && status != tlm::TLM_OK_RESPONSE) x.mover->failed(x, status);
}

void Fabric::payload_moves(DataMover& mover) {
  const tlm::tlm_generic_payload& p = *mover.foreign();
  for (FabricTransaction* x : all_) {
    if (x->mover != &mover) continue;
    x->payload.set_data_ptr(p.get_data_ptr());
    x->payload.set_byte_enable_ptr(p.get_byte_enable_ptr());
  }
}

void Fabric::add_node(FabricNode& node) {
  const uint32_t index = node.owner().index();
  if (nodes_.size() <= index) nodes_.resize(index + 1, nullptr);
  nodes_[index] = &node;
}

FabricNode* Fabric::node(uint32_t index) const {
  return index < nodes_.size() ? nodes_[index] : nullptr;
}

FabricTransaction& Fabric::acquire() {
  if (idle_.empty()) {
    auto* x = new (arena().allocate(sizeof(FabricTransaction))) FabricTransaction(this);
    all_.push_back(x);
    idle_.push_back(x);
  }
  FabricTransaction& x = *idle_.back();
  idle_.pop_back();
  x.payload.acquire();
  return x;
}

void Fabric::free(tlm::tlm_generic_payload* payload) {
  payload->reset();  // extensions that foreign blocks have left on the transaction
  idle_.push_back(transaction_of(*payload));
}

Flit* Fabric::acquire_flit() {
  if (idle_flits_.empty()) return arena().make<Flit>();
  Flit* f = idle_flits_.back();
  idle_flits_.pop_back();
  return f;
}

}  // namespace kernbench::fabric
