#include "kernbench/systemc_models/fabric/fabric_path.h"

#include <algorithm>

#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/flit.h"
#include "kernbench/systemc_models/memory/memory_target.h"

namespace kernbench {

namespace {

double request_bytes(const Fabric& fabric, const FabricTransaction& x) {
  return (x.write ? static_cast<double>(x.nbytes) : 0) + fabric.header_bytes;
}

double response_bytes(const Fabric& fabric, const FabricTransaction& x) {
  return (x.write ? 0 : static_cast<double>(x.nbytes)) + fabric.header_bytes;
}

void take_request_link(Fabric& fabric, FabricTransaction& x) {
  x.time_ns = pass_link(*x.route->hops[x.node].fwd, x, x.time_ns, request_bytes(fabric, x));
  ++x.node;
}

void take_response_link(Fabric& fabric, FabricTransaction& x) {
  x.time_ns = pass_link(*x.route->hops[x.node - 1].back, x, x.time_ns, response_bytes(fabric, x));
  --x.node;
}

void request_ready(void* self, void* transaction) {
  auto& fabric = *static_cast<Fabric*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  take_request_link(fabric, x);
  carry_request(fabric, x);
}

void response_ready(void* self, void* transaction) {
  auto& fabric = *static_cast<Fabric*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  take_response_link(fabric, x);
  carry_response(fabric, x);
}

/// The flit takes the next link of its way.
void take_flit_link(Flit& f) {
  const Route& route = *f.transaction->route;
  if (f.response) {
    pass_link(*route.hops[f.node - 1].back, f);
    --f.node;
  } else {
    pass_link(*route.hops[f.node].fwd, f);
    ++f.node;
  }
}

void flit_ready(void* self, void* flit) {
  auto& f = *static_cast<Flit*>(flit);
  take_flit_link(f);
  carry_flit(*static_cast<Fabric*>(self), f);
}

void train_ready(void* self, void* transaction) {
  // A copy: the next node may store and forward too, and begins to hold while this one lets go.
  const std::vector<Flit*> train = static_cast<FabricTransaction*>(transaction)->held;
  for (Flit* f : train) flit_ready(self, f);
}

}  // namespace

void carry_request(Fabric& fabric, FabricTransaction& x) {
  const Route& route = *x.route;
  for (;;) {
    Link& from = *route.hops[x.node - 1].fwd;
    if (x.node == route.hops.size()) {
      route.target->request_arrived(x, from);
      return;
    }
    const Route::Hop& hop = route.hops[x.node];
    const double arrival = x.time_ns;
    double ready = arrival + hop.overhead_ns;
    x.overhead_ns += hop.overhead_ns;
    if (hop.store_and_forward && x.write) {
      const double wait = from.transfer_ns(static_cast<double>(x.nbytes));
      x.store_forward_ns += wait;
      ready += wait;
    }
    x.time_ns = ready;
    if (hop.fwd->feeder != &from) {
      const Order order = from.ready_order.of(x.own_order, arrival, ready, hop.fwd);
      fabric.timeline->at(ready, order, &request_ready, &fabric, &x);
      return;
    }
    take_request_link(fabric, x);
  }
}

void carry_response(Fabric& fabric, FabricTransaction& x) {
  const Route& route = *x.route;
  for (;;) {
    if (x.node == 0) {
      x.initiator->response_back(x, x.time_ns);
      return;
    }
    Link& from = *route.hops[x.node].back;
    const Route::Hop& hop = route.hops[x.node];
    Link* next = route.hops[x.node - 1].back;
    const double arrival = x.time_ns;
    double ready = arrival + hop.overhead_ns;
    x.overhead_ns += hop.overhead_ns;
    if (hop.store_and_forward && !x.write) {
      const double wait = from.transfer_ns(static_cast<double>(x.nbytes));
      x.store_forward_ns += wait;
      ready += wait;
    }
    x.time_ns = ready;
    if (next->feeder != &from) {
      const Order order = from.ready_order.of(x.own_order, arrival, ready, next);
      fabric.timeline->at(ready, order, &response_ready, &fabric, &x);
      return;
    }
    take_response_link(fabric, x);
  }
}

void return_ideally(const Fabric& fabric, FabricTransaction& x) {
  if (fabric.response == ResponseMode::ideal) return;
  const std::vector<double>& steps = x.route->response_steps;  // wire, then overhead and wire by node
  double t = x.time_ns + steps[0], wire = x.wire_ns + steps[0], overhead = x.overhead_ns;
  if (x.route->stores && !x.write) {
    const Route& route = *x.route;
    for (size_t node = route.hops.size() - 1; node > 0; --node) {
      const Route::Hop& hop = route.hops[node];
      t += hop.overhead_ns;
      overhead += hop.overhead_ns;
      if (hop.store_and_forward) {
        const double wait = hop.back->transfer_ns(static_cast<double>(x.nbytes));
        x.store_forward_ns += wait;
        t += wait;
      }
      t += route.hops[node - 1].back->wire_ns;
      wire += route.hops[node - 1].back->wire_ns;
    }
  } else {
    for (size_t i = 1; i < steps.size(); i += 2) {
      t += steps[i];
      overhead += steps[i];
      t += steps[i + 1];
      wire += steps[i + 1];
    }
  }
  x.time_ns = t;
  x.wire_ns = wire;
  x.overhead_ns = overhead;
}

void carry_flit(Fabric& fabric, Flit& f) {
  FabricTransaction& x = *f.transaction;
  const Route& route = *x.route;
  for (;;) {
    if (f.response ? f.node == 0 : f.node == route.hops.size()) {
      if (f.response) {
        x.initiator->flit_back(f);
      } else {
        route.target->flit_arrived(f, *route.hops.back().fwd);
      }
      return;
    }
    const Route::Hop& hop = route.hops[f.node];
    Link& from = f.response ? *hop.back : *route.hops[f.node - 1].fwd;
    Link* next = f.response ? route.hops[f.node - 1].back : hop.fwd;
    if (hop.store_and_forward && x.write != f.response) {  // data: on only when all of it is there
      if (f.index == 0) x.held.clear();
      x.held.push_back(&f);
      if (!f.last) return;
      const double ready = f.time_ns + hop.overhead_ns;
      const Order order = from.ready_order.of(x.own_order, f.time_ns, ready, next);
      for (Flit* t : x.held) t->time_ns = ready;
      fabric.timeline->at(ready, order, &train_ready, &fabric, &x);
      return;
    }
    if (next->feeder != &from || !keeps_order(from, hop.overhead_ns)) {
      become_ready(f, hop.overhead_ns, from, next);
      fabric.timeline->at(f.time_ns, f.order, &flit_ready, &fabric, &f);
      return;
    }
    become_ready_in_order(f, hop.overhead_ns);
    take_flit_link(f);
  }
}

}  // namespace kernbench
