#include "kernbench/systemc_models/fabric_initiator.h"

#include "kernbench/systemc_models/flit.h"
#include "kernbench/systemc_models/memory_target.h"

namespace kernbench {

void FabricInitiator::start(const Access& a) {
  Fabric& fabric = owner_.fabric();
  FabricTransaction& x = *fabric.acquire();
  const double now = owner_.timeline().now_ns();
  x.route = &routes_->route(owner_.index(), a.address, a.span ? a.span : a.nbytes, a.write);
  x.initiator = this;
  x.write = a.write;
  x.node = 0;
  x.address = a.address;
  x.nbytes = a.nbytes;
  x.rows = a.rows;
  x.context = a.context;
  x.effect = a.effect;
  x.channel = a.channel;
  x.issue_ns = a.issue_ns;
  x.grant_ns = now;
  x.overhead_ns = owner_.overhead_ns();
  x.wire_ns = x.drain_ns = x.store_forward_ns = x.link_queue_ns = x.memory_queue_ns = x.tail_ns = 0;
  // Ideal links are no servers: there a message comes from the initiator's channel itself, which keeps its order.
  const uint64_t second = fabric.links == LinkMode::ideal ? a.channel : a.write;
  const uint64_t source = uint64_t{owner_.index()} << 1 | second;
  x.own_order = Order(Order::kArrivals, Timeline::to_fs(now), source << 32 | ++grants_);
  tlm::tlm_generic_payload& p = *x.payload;
  p.set_command(a.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(a.address);
  p.set_data_length(static_cast<unsigned>(a.nbytes));
  p.set_streaming_width(static_cast<unsigned>(a.nbytes));
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);

  x.time_ns = now + owner_.overhead_ns();
  Order order = x.own_order;
  if (fabric.links != LinkMode::ideal) order = departures_[a.channel].of(order, now, x.time_ns, x.route->hops[0].fwd);
  if (fabric.links == LinkMode::ideal) {
    const Link& link = *x.route->hops[0].fwd;
    x.wire_ns = link.wire_ns;
    leave(x, x.time_ns + link.wire_ns);
  } else if (fabric.links == LinkMode::flit) {
    x.ready_ns.resize(x.route->hops.size() + 1);
    if (a.write) {
      data_flits(fabric, x, false);
    } else {
      x.train.assign(1, header_flit(fabric, x, false));
    }
    for (Flit* f : x.train) f->time_ns = x.time_ns;
    owner_.timeline().at(x.time_ns, order, &FabricInitiator::train_ready, this, &x);
  } else {
    owner_.timeline().at(x.time_ns, order, &FabricInitiator::ready, this, &x);
  }
}

void FabricInitiator::ready(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  const double payload = x.write ? static_cast<double>(x.nbytes) : 0;
  me.leave(x, pass_link(*x.route->hops[0].fwd, x, x.time_ns, payload + me.owner_.fabric().header_bytes));
}

void FabricInitiator::train_ready(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  const Route::Hop& hop = x.route->hops[0];
  for (size_t i = 0; i < x.train.size(); ++i) {
    Flit& f = *x.train[i];
    pass_link(*hop.fwd, f);
    f.node = 1;
    x.flit = &f;
    sc_core::sc_time delay = me.owner_.timeline().delay_until(f.time_ns);
    me.send(x, hop.out_port, i == 0 ? tlm::tlm_phase(tlm::BEGIN_REQ) : tlm::tlm_phase(FLIT), delay);
  }
}

void FabricInitiator::leave(FabricTransaction& x, double there_ns) {
  x.node = 1;
  x.time_ns = there_ns;
  sc_core::sc_time delay = owner_.timeline().delay_until(there_ns);
  send(x, x.route->hops[0].out_port, tlm::BEGIN_REQ, delay);
}

void FabricInitiator::response_arrived(FabricTransaction& x, const sc_core::sc_time& delay, Order done_order) {
  Fabric& fabric = owner_.fabric();
  if (fabric.links == LinkMode::flit) {
    Flit& f = *x.flit;
    become_ready(f, owner_.overhead_ns(), *x.route->hops[0].back, this);
    if (f.last) end_at(x, f.time_ns, done_order);
    fabric.release_flit(&f);
    return;
  }
  double header_ns = arrival_time(fabric, x, delay);
  if (fabric.response == ResponseMode::routed) {
    header_ns += owner_.overhead_ns();
    x.overhead_ns += owner_.overhead_ns();
  }
  end_at(x, header_ns + x.tail_ns, done_order);
}

void FabricInitiator::end_at(FabricTransaction& x, double done_ns, Order done_order) {
  x.done_ns = done_ns;
  owner_.timeline().at(done_ns, done_order, &FabricInitiator::done, this, &x);
}

/// Flit by flit there is no one wait of a message: what is over the lone transaction's time is queueing, and what of
/// that is neither overhead, wire nor store-and-forward is the flits' serialisation.
void FabricInitiator::account_for_flits(FabricTransaction& x) const {
  LoneFlitTrace trace;
  const double alone = lone_flit_latency_ns(owner_.fabric(), *x.route, x.write, x.address, x.rows, &trace);
  x.overhead_ns = 2 * x.route->request_overhead_ns + x.route->target->overhead_ns();
  x.wire_ns = x.route->request_wire_ns + x.route->response_wire_ns;
  x.store_forward_ns = trace.store_forward_ns;
  x.drain_ns = alone - x.overhead_ns - x.wire_ns - x.store_forward_ns;
  x.link_queue_ns = x.done_ns - x.grant_ns - alone;
}

void FabricInitiator::done(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  if (me.owner_.fabric().links == LinkMode::flit) me.account_for_flits(x);
  me.transaction_done(x);
  me.owner_.fabric().release(&x);
}

}  // namespace kernbench
