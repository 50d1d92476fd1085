#include "kernbench/systemc_models/fabric_initiator.h"

namespace kernbench {

void FabricInitiator::start(const Access& a) {
  Fabric& fabric = owner_.fabric();
  FabricTransaction& x = *fabric.acquire();
  const double now = owner_.timeline().now_ns();
  x.route = &routes_->route(owner_.index(), a.address, a.nbytes, a.write);
  x.initiator = this;
  x.write = a.write;
  x.node = 0;
  x.address = a.address;
  x.nbytes = a.nbytes;
  x.rows = a.rows;
  x.context = a.context;
  x.channel = a.channel;
  x.issue_ns = a.issue_ns;
  x.grant_ns = now;
  x.overhead_ns = owner_.overhead_ns();
  x.wire_ns = x.drain_ns = x.store_forward_ns = x.link_queue_ns = x.memory_queue_ns = x.tail_ns = 0;
  x.own_order = Order(Order::kArrivals, Timeline::to_fs(now), uint64_t{owner_.index()} << 1 | (a.write && reads_first()));
  x.order = x.own_order;
  tlm::tlm_generic_payload& p = *x.payload;
  p.set_command(a.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(a.address);
  p.set_data_length(static_cast<unsigned>(a.nbytes));
  p.set_streaming_width(static_cast<unsigned>(a.nbytes));
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);

  x.time_ns = now + owner_.overhead_ns();
  if (fabric.links == LinkMode::ideal) {
    const Link& link = *x.route->hops[0].fwd;
    x.wire_ns = link.wire_ns;
    leave(x, x.time_ns + link.wire_ns);
  } else {
    owner_.timeline().at(x.time_ns, x.order, &FabricInitiator::ready, this, &x);
  }
}

void FabricInitiator::ready(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  const double payload = x.write ? static_cast<double>(x.nbytes) : 0;
  me.leave(x, pass_link(*x.route->hops[0].fwd, x, x.time_ns, payload + me.owner_.fabric().header_bytes));
}

void FabricInitiator::leave(FabricTransaction& x, double there_ns) {
  x.node = 1;
  x.time_ns = there_ns;
  sc_core::sc_time delay = owner_.timeline().delay_until(there_ns);
  send(x, x.route->hops[0].out_port, delay);
}

void FabricInitiator::response_arrived(FabricTransaction& x, double header_ns, Order done_order) {
  if (owner_.fabric().response == ResponseMode::routed) {
    header_ns += owner_.overhead_ns();
    x.overhead_ns += owner_.overhead_ns();
  }
  x.done_ns = header_ns + x.tail_ns;
  owner_.timeline().at(x.done_ns, done_order, &FabricInitiator::done, this, &x);
}

void FabricInitiator::done(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  me.transaction_done(x);
  me.owner_.fabric().release(&x);
}

}  // namespace kernbench
