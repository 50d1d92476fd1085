#include "kernbench/systemc_models/fabric/fabric_initiator.h"

#include <algorithm>
#include <limits>

namespace kernbench {

const Route& FabricInitiator::route_of(const Access& a) {
  const Route* r = last_route_;
  const uint64_t span = a.span ? a.span : a.nbytes;
  if (r && a.address - r->base < r->size && span <= r->size - (a.address - r->base)) return *r;
  r = &node_.fabric().routes().route(owner().index(), a.address, span, a.write);
  if (r->returns) last_route_ = r;  // one without a way back serves some transactions only
  return *r;
}

void FabricInitiator::start(const Access& a) {
  Fabric& fabric = node_.fabric();
  FabricTransaction& x = fabric.acquire();
  const double now = fabric.timeline().now_ns();
  x.route = &route_of(a);
  x.hops = x.route->hops.data();
  x.hop_count = static_cast<uint32_t>(x.route->hops.size());
  x.node = 0;
  x.initiator = this;
  x.context = a.context;
  x.write = a.write;
  x.channel = a.channel;
  x.address = a.address;
  x.nbytes = a.nbytes;
  x.rows = a.rows;
  x.mover = a.mover;
  x.issue_ns = a.issue_ns;
  x.grant_ns = now;
  x.overhead_ns = owner().overhead_ns();
  x.wire_ns = x.drain_ns = x.store_forward_ns = x.link_queue_ns = x.memory_queue_ns = x.tail_ns = x.covered_ns = 0;
  // Ideal links are no servers: there a message comes from the initiator's channel itself, which keeps its order.
  const uint64_t second = fabric.mode().links_serve() ? a.write : a.channel;
  const uint64_t source = uint64_t{owner().index()} << 1 | second;
  x.own_order = Order(Order::kArrivals, Timeline::to_fs(now), source << 32 | ++grants_);
  fill_payload(x, a);
  if (node_.observer()) node_.observer()->access_started(owner(), x, now);
  x.time_ns = now + owner().overhead_ns();
  fabric.mode().start(x);
}

/// Beside blocks of this project nobody looks at the data, so a pointer is set only where they are a foreign
/// initiator's; else beside a foreign block (foreign_neighbour.h).
void FabricInitiator::fill_payload(FabricTransaction& x, const Access& a) {
  tlm::tlm_generic_payload& p = x.payload;
  p.set_command(x.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(x.address);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  const tlm::tlm_generic_payload* foreign = a.mover ? a.mover->foreign() : nullptr;
  if (foreign) {
    p.set_data_ptr(foreign->get_data_ptr());
    p.set_data_length(foreign->get_data_length());
    p.set_streaming_width(foreign->get_streaming_width());
    p.set_byte_enable_ptr(foreign->get_byte_enable_ptr());
    p.set_byte_enable_length(foreign->get_byte_enable_length());
  } else {
    const auto length = static_cast<unsigned>(std::min<uint64_t>(x.nbytes, std::numeric_limits<unsigned>::max()));
    p.set_data_ptr(nullptr);
    p.set_data_length(length);
    p.set_streaming_width(length);
    p.set_byte_enable_ptr(nullptr);
    p.set_byte_enable_length(0);
  }
  p.set_dmi_allowed(false);
}

Order FabricInitiator::departure_order(FabricTransaction& x, const Link* first) {
  return departures_[x.channel].of(x.own_order, x.grant_ns, x.time_ns, first);
}

void FabricInitiator::response_back(FabricTransaction& x) {
  double header_ns = x.time_ns;
  if (node_.fabric().responses_travel() && x.hop_count > 0) {
    header_ns += owner().overhead_ns();
    x.overhead_ns += owner().overhead_ns();
  }
  // A wait for a link that the memory's own wait already covers is not paid twice (§4).
  const double covered = std::min(x.covered_ns, x.link_queue_ns - x.queued_there_ns);
  x.link_queue_ns -= covered;
  end_at(x, header_ns + (x.tail_ns - covered));
}

void FabricInitiator::end_at(FabricTransaction& x, double done_ns) {
  x.done_ns = done_ns;
  node_.fabric().timeline().at(done_ns, done_order(x), &FabricInitiator::done, this, &x);
}

void FabricInitiator::done(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  me.node_.fabric().mode().complete_account(x);
  if (me.node_.observer()) me.node_.observer()->access_done(me.owner(), x, x.done_ns);
  me.transaction_done(x);
  x.payload.release();
}

}  // namespace kernbench
