#include "kernbench/systemc_models/fabric/forwarder.h"

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/flit.h"

namespace kernbench {

Forwarder::Forwarder(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, parameters), store_and_forward_(checked(parameters).store_and_forward) {
  in.register_nb_transport_fw(this, &Forwarder::nb_transport_fw);
  out.register_nb_transport_bw(this, &Forwarder::nb_transport_bw);
}

tlm::tlm_sync_enum Forwarder::nb_transport_fw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  auto* transaction = payload.get_extension<FabricTransaction>();
  if (!transaction) return refuse_foreign(payload);
  auto& x = *transaction;
  if (fabric().links == LinkMode::flit) {
    flit_arrived(*x.flit);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const Route& route = *x.route;
  const double arrival = arrival_time(fabric(), x, delay);
  double ready = arrival + overhead_ns();
  x.overhead_ns += overhead_ns();
  if (store_and_forward_ && x.write) {
    const double wait = route.hops[x.node - 1].fwd->transfer_ns(static_cast<double>(x.nbytes));
    x.store_forward_ns += wait;
    ready += wait;
  }
  x.time_ns = ready;
  if (fabric().links == LinkMode::ideal) {
    Link& link = *route.hops[x.node].fwd;
    x.wire_ns += link.wire_ns;
    forward_request(x, ready + link.wire_ns);
  } else {
    const Order order = route.hops[x.node - 1].fwd->ready_order.of(x.own_order, arrival, ready, route.hops[x.node].fwd);
    timeline().at(ready, order, &Forwarder::request_ready, this, &x);
  }
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Forwarder::request_ready(void* self, void* transaction) {
  auto& me = *static_cast<Forwarder*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  const double payload = x.write ? static_cast<double>(x.nbytes) : 0;
  me.forward_request(x, pass_link(*x.route->hops[x.node].fwd, x, x.time_ns, payload + me.fabric().header_bytes));
}

void Forwarder::forward_request(FabricTransaction& x, double there_ns) {
  const uint16_t port = x.route->hops[x.node].out_port;
  ++x.node;
  x.time_ns = there_ns;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = timeline().delay_until(there_ns);
  out[port]->nb_transport_fw(*x.payload, phase, delay);
}

tlm::tlm_sync_enum Forwarder::nb_transport_bw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  auto& x = *payload.get_extension<FabricTransaction>();
  if (fabric().links == LinkMode::flit) {
    if (x.flit->node == 0) {
      response_at_end(x, delay);
    } else {
      flit_arrived(*x.flit);
    }
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (x.node == 0) {
    response_at_end(x, delay);
    return tlm::TLM_COMPLETED;
  }
  const double arrival = arrival_time(fabric(), x, delay);
  if (fabric().response == ResponseMode::ideal) {
    forward_response(x, arrival);
    return tlm::TLM_COMPLETED;
  }
  double ready = arrival + overhead_ns();
  x.overhead_ns += overhead_ns();
  if (store_and_forward_ && !x.write) {
    const double wait = x.route->hops[x.node].back->transfer_ns(static_cast<double>(x.nbytes));
    x.store_forward_ns += wait;
    ready += wait;
  }
  x.time_ns = ready;
  if (fabric().links == LinkMode::ideal) {
    const Link& link = *x.route->hops[x.node - 1].back;
    x.wire_ns += link.wire_ns;
    forward_response(x, ready + link.wire_ns);
  } else {
    const Order order =
        x.route->hops[x.node].back->ready_order.of(x.own_order, arrival, ready, x.route->hops[x.node - 1].back);
    timeline().at(ready, order, &Forwarder::response_ready, this, &x);
  }
  return tlm::TLM_COMPLETED;
}

void Forwarder::response_ready(void* self, void* transaction) {
  auto& me = *static_cast<Forwarder*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  const double payload = x.write ? 0 : static_cast<double>(x.nbytes);
  me.forward_response(x, pass_link(*x.route->hops[x.node - 1].back, x, x.time_ns, payload + me.fabric().header_bytes));
}

void Forwarder::forward_response(FabricTransaction& x, double there_ns) {
  const uint16_t port = x.route->hops[x.node - 1].in_port;
  --x.node;
  x.time_ns = there_ns;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = timeline().delay_until(there_ns);
  in[port]->nb_transport_bw(*x.payload, phase, delay);
}

void Forwarder::flit_arrived(Flit& f) {
  FabricTransaction& x = *f.transaction;
  Link& from = f.response ? *x.route->hops[f.node].back : *x.route->hops[f.node - 1].fwd;
  const Link* next = f.response ? x.route->hops[f.node - 1].back : x.route->hops[f.node].fwd;
  if (store_and_forward_ && x.write != f.response) {  // data: on only when all of it is there
    if (f.index == 0) x.held.clear();
    x.held.push_back(&f);
    if (!f.last) return;
    const double ready = f.time_ns + overhead_ns();
    const Order order = from.ready_order.of(x.own_order, f.time_ns, ready, next);
    for (Flit* t : x.held) t->time_ns = ready;
    timeline().at(ready, order, &Forwarder::train_ready, this, &x);
    return;
  }
  become_ready(f, overhead_ns(), from, next);
  timeline().at(f.time_ns, f.order, &Forwarder::flit_ready, this, &f);
}

void Forwarder::flit_ready(void* self, void* flit) {
  static_cast<Forwarder*>(self)->forward_flit(*static_cast<Flit*>(flit));
}

void Forwarder::train_ready(void* self, void* transaction) {
  // A copy: the next node may store and forward too, and begins to hold while this one lets go.
  const std::vector<Flit*> train = static_cast<FabricTransaction*>(transaction)->held;
  for (Flit* f : train) static_cast<Forwarder*>(self)->forward_flit(*f);
}

void Forwarder::forward_flit(Flit& f) {
  FabricTransaction& x = *f.transaction;
  x.flit = &f;
  if (f.response) {
    const Route::Hop& hop = x.route->hops[f.node - 1];
    pass_link(*hop.back, f);
    --f.node;
    tlm::tlm_phase phase = f.index == 0 ? tlm::tlm_phase(tlm::BEGIN_RESP) : tlm::tlm_phase(FLIT);
    sc_core::sc_time delay = timeline().delay_until(f.time_ns);
    in[hop.in_port]->nb_transport_bw(*x.payload, phase, delay);
  } else {
    const Route::Hop& hop = x.route->hops[f.node];
    pass_link(*hop.fwd, f);
    ++f.node;
    tlm::tlm_phase phase = f.index == 0 ? tlm::tlm_phase(tlm::BEGIN_REQ) : tlm::tlm_phase(FLIT);
    sc_core::sc_time delay = timeline().delay_until(f.time_ns);
    out[hop.out_port]->nb_transport_fw(*x.payload, phase, delay);
  }
}

namespace {

// The kinds that only forward differ in nothing but their names.
struct PlainKind {
  const char* kind;
  const char* help;
};
constexpr PlainKind kPlainKinds[] = {
    {"router", "a router of a cube's mesh"},
    {"xbar", "a crossbar"},
    {"bridge", "a bridge between crossbar halves"},
    {"switch", "the tray's PCIe switch"},
    {"ucie", "a UCIe port or one of its connections"},
    {"noc", "a network on chip as one node"},
    {"io_noc", "the network of an IO chiplet"},
    {"io_cpu", "the processor of an IO chiplet: decodes and fans out commands"},
};
const bool plain_kinds_registered = [] {
  for (const PlainKind& k : kPlainKinds) {
    component_registry().add(spec_of<ForwarderParameters>(std::string("builtin.") + k.kind, k.kind, k.help),
                             [](const char* name, const ComponentConfig& config) {
                               return std::unique_ptr<Component>(new (config.fabric->arena()) Forwarder(
                                   name, config, parameters_of<ForwarderParameters>().from(*config.attributes)));
                             });
  }
  return true;
}();

}  // namespace
}  // namespace kernbench
