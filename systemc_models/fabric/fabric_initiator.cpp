#include "kernbench/systemc_models/fabric/fabric_initiator.h"

#include "kernbench/systemc_models/fabric/fabric_path.h"
#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/memory/memory_target.h"

namespace kernbench {

const Route& FabricInitiator::route_of(const Access& a) {
  const Route* r = last_route_;
  const uint64_t span = a.span ? a.span : a.nbytes;
  if (r && a.address - r->base < r->size && span <= r->size - (a.address - r->base)) return *r;
  r = &routes_->route(owner_.index(), a.address, span, a.write);
  if (r->returns) {  // one without a way back serves some transactions only
    last_route_ = r;
    last_steps_ = r->request_steps.data();
  }
  return *r;
}

void FabricInitiator::start(const Access& a) {
  Fabric& fabric = owner_.fabric();
  FabricTransaction& x = *fabric.acquire();
  const double now = owner_.timeline().now_ns();
  x.route = &route_of(a);
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
  if (!x.route->direct) fill_payload(x);
  if (owner_.observer()) owner_.observer()->access_started(owner_, x, now);
  x.time_ns = now + owner_.overhead_ns();
  if (fabric.links == LinkMode::ideal) {
    start_ideal(x);
  } else {
    start_on_links(x, now);
  }
}

void FabricInitiator::fill_payload(FabricTransaction& x) {
  tlm::tlm_generic_payload& p = owner_.fabric().payload_of(x);
  p.set_command(x.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  p.set_address(x.address);
  p.set_data_length(static_cast<unsigned>(x.nbytes));
  p.set_streaming_width(static_cast<unsigned>(x.nbytes));
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void FabricInitiator::start_ideal(FabricTransaction& x) {
  const Route& route = *x.route;
  if (!route.direct) {
    const Link& link = *route.hops[0].fwd;
    x.wire_ns = link.wire_ns;
    leave(x, x.time_ns + link.wire_ns);
    return;
  }
  x.overhead_ns = route.request_overhead_ns;
  x.wire_ns = route.request_wire_ns;
  double t = x.grant_ns;
  if (route.stores && x.write) {
    for (size_t i = 0; i < route.hops.size(); ++i) {
      const Route::Hop& hop = route.hops[i];
      t += hop.overhead_ns;
      if (hop.store_and_forward) {
        const double wait = route.hops[i - 1].fwd->transfer_ns(static_cast<double>(x.nbytes));
        x.store_forward_ns += wait;
        t += wait;
      }
      t += hop.fwd->wire_ns;
    }
  } else {
    for (double step : route.request_steps) t += step;
  }
  x.time_ns = t;
  MemoryTarget& memory = *route.target;
  // A read goes before a write that is granted at the same instant (§9), so none can still come before it.
  if (!x.write && memory.next_is(owner_)) {
    memory.serve_ahead(x);
  } else {
    memory.request_arrived(x, *route.hops.back().fwd);
  }
}

void FabricInitiator::start_on_links(FabricTransaction& x, double now) {
  Fabric& fabric = owner_.fabric();
  const Link& first = *x.route->hops[0].fwd;
  if (fabric.links == LinkMode::flit) {
    x.ready_ns.resize(x.route->hops.size() + 1);
    if (x.write) {
      data_flits(fabric, x, false);
    } else {
      x.train.assign(1, header_flit(fabric, x, false));
    }
    for (Flit* f : x.train) f->time_ns = x.time_ns;
  }
  const bool flits = fabric.links == LinkMode::flit;
  // As above: a read that nothing can come before takes its place at once.
  if (x.route->direct && !x.write && leaving_ == 0 && first.feeder == &owner_) {
    flits ? send_train(x) : take_first_link(x);
    return;
  }
  const Order order = departures_[x.channel].of(x.own_order, now, x.time_ns, &first);
  ++leaving_;
  owner_.timeline().at(x.time_ns, order, flits ? &FabricInitiator::train_ready : &FabricInitiator::ready, this, &x);
}

void FabricInitiator::ready(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  --me.leaving_;
  me.take_first_link(*static_cast<FabricTransaction*>(transaction));
}

void FabricInitiator::take_first_link(FabricTransaction& x) {
  const double payload = x.write ? static_cast<double>(x.nbytes) : 0;
  leave(x, pass_link(*x.route->hops[0].fwd, x, x.time_ns, payload + owner_.fabric().header_bytes));
}

void FabricInitiator::train_ready(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  --me.leaving_;
  me.send_train(*static_cast<FabricTransaction*>(transaction));
}

void FabricInitiator::send_train(FabricTransaction& x) {
  const Route::Hop& hop = x.route->hops[0];
  // The last flit may bring the answer, which is a train of its own.
  for (size_t i = 0, n = x.train.size(); i < n; ++i) {
    Flit& f = *x.train[i];
    pass_link(*hop.fwd, f);
    f.node = 1;
    if (x.route->direct) {
      carry_flit(owner_.fabric(), f);
      continue;
    }
    x.flit = &f;
    sc_core::sc_time delay = owner_.timeline().delay_until(f.time_ns);
    send(x, hop.out_port, i == 0 ? tlm::tlm_phase(tlm::BEGIN_REQ) : tlm::tlm_phase(FLIT), delay);
  }
}

void FabricInitiator::leave(FabricTransaction& x, double there_ns) {
  x.node = 1;
  x.time_ns = there_ns;
  if (x.route->direct) {
    carry_request(owner_.fabric(), x);
    return;
  }
  sc_core::sc_time delay = owner_.timeline().delay_until(there_ns);
  send(x, x.route->hops[0].out_port, tlm::BEGIN_REQ, delay);
}

void FabricInitiator::response_arrived(FabricTransaction& x, const sc_core::sc_time& delay) {
  if (owner_.fabric().links == LinkMode::flit) {
    flit_back(*x.flit);
  } else {
    response_back(x, arrival_time(owner_.fabric(), x, delay));
  }
}

void FabricInitiator::flit_back(Flit& f) {
  FabricTransaction& x = *f.transaction;
  become_ready_in_order(f, owner_.overhead_ns());
  if (f.last) end_at(x, f.time_ns);
  owner_.fabric().release_flit(&f);
}

void FabricInitiator::response_back(FabricTransaction& x, double header_ns) {
  if (owner_.fabric().response == ResponseMode::routed) {
    header_ns += owner_.overhead_ns();
    x.overhead_ns += owner_.overhead_ns();
  }
  end_at(x, header_ns + x.tail_ns);
}

void FabricInitiator::end_at(FabricTransaction& x, double done_ns) {
  x.done_ns = done_ns;
  owner_.timeline().at(done_ns, done_order(x), &FabricInitiator::done, this, &x, &FabricInitiator::look_ahead_of_done);
}

void FabricInitiator::look_ahead_of_done(const void* self, const void* transaction, bool nearer) {
  const auto& me = *static_cast<const FabricInitiator*>(self);
  const auto& x = *static_cast<const FabricTransaction*>(transaction);
  if (!nearer) {
    fetch_lines(me.last_route_, 2);
    fetch_lines(me.last_steps_, 2);
  } else if (me.last_route_) {
    me.last_route_->target->fetch_state();
  }
  me.look_ahead(x, nearer);
}

/// Flit by flit there is no one wait of a message: what is over the lone transaction's time is queueing, and what of
/// that is neither overhead, wire nor store-and-forward is the flits' serialisation.
void FabricInitiator::account_for_flits(FabricTransaction& x) const {
  const LoneTime lone = lone_time(owner_.fabric(), *x.route, x.write, x.address, x.nbytes, x.rows);
  x.overhead_ns = 2 * x.route->request_overhead_ns + x.route->target->overhead_ns();
  x.wire_ns = x.route->request_wire_ns + x.route->response_wire_ns;
  x.store_forward_ns = lone.store_forward_ns;
  x.drain_ns = lone.latency_ns - x.overhead_ns - x.wire_ns - x.store_forward_ns;
  x.link_queue_ns = x.done_ns - x.grant_ns - lone.latency_ns;
}

void FabricInitiator::done(void* self, void* transaction) {
  auto& me = *static_cast<FabricInitiator*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  if (me.owner_.fabric().links == LinkMode::flit) me.account_for_flits(x);
  if (me.owner_.observer()) me.owner_.observer()->access_done(me.owner_, x, x.done_ns);
  me.transaction_done(x);
  me.owner_.fabric().release(&x);
}

}  // namespace kernbench
