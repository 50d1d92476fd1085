#include "kernbench/systemc_models/memory/memory_target.h"

#include <algorithm>

#include "kernbench/systemc_models/fabric/fabric_initiator.h"
#include "kernbench/systemc_models/fabric/fabric_path.h"
#include "kernbench/systemc_models/fabric/flit.h"

namespace kernbench {

MemoryTarget::MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config,
                           const BlockParameters& parameters)
    : Component(name, config, parameters) {
  in.register_nb_transport_fw(this, &MemoryTarget::nb_transport_fw);
}

tlm::tlm_sync_enum MemoryTarget::nb_transport_fw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  auto* x = payload.get_extension<FabricTransaction>();
  if (!x) return refuse_foreign(payload);
  if (fabric().links == LinkMode::flit) {
    flit_arrived(*x->flit, *x->route->hops.back().fwd);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  x->time_ns = arrival_time(fabric(), *x, delay);
  request_arrived(*x, *x->route->hops.back().fwd);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void MemoryTarget::request_arrived(FabricTransaction& x, Link& from) {
  Order order = x.own_order;
  if (fabric().links != LinkMode::ideal) {
    if (feeder_ == &from) return serve_and_answer(x);
    order = from.ready_order.of(order, x.time_ns, x.time_ns, this);
  }
  ++on_the_way_;
  timeline().at(x.time_ns, order, &MemoryTarget::arrived, this, &x);
}

void MemoryTarget::arrived(void* self, void* transaction) {
  auto& memory = *static_cast<MemoryTarget*>(self);
  --memory.on_the_way_;
  memory.serve_and_answer(*static_cast<FabricTransaction*>(transaction));
}

/// serve(), and its observer told: with the times as they are, for a memory that answers later knows them one by one.
MemoryTarget::Service MemoryTarget::begin_service(FabricTransaction& x) {
  const Service s = serve(x);
  if (FabricObserver* o = observer()) {
    o->memory_request(*this, x, MemoryStep::arrived, x.time_ns);
    o->memory_request(*this, x, MemoryStep::started, x.time_ns + x.memory_queue_ns);
  }
  return s;
}

void MemoryTarget::serve_and_answer(FabricTransaction& x) {
  const Service s = begin_service(x);
  if (s.later) return;
  if (x.effect) x.effect->served(x, s.header_leaves_ns);
  answer(x, s);
}

void MemoryTarget::answer(FabricTransaction& x, const Service& s) {
  if (observer()) observer()->memory_request(*this, x, MemoryStep::finished, s.finish_ns);
  const Fabric& f = fabric();
  if (f.response == ResponseMode::ideal) {
    x.tail_ns = 0;
    send_answer(x, s.finish_ns);
    return;
  }
  if (f.links == LinkMode::flit) {
    if (x.write) {
      x.train.assign(1, header_flit(fabric(), x, true));
    } else {
      data_flits(fabric(), x, true);
    }
    for (Flit* flit : x.train) flit->time_ns = s.finish_ns;
    depart_in_flits(x);
    return;
  }
  const double leaves = x.write ? s.finish_ns : s.header_leaves_ns;
  x.tail_ns = s.finish_ns - leaves;
  x.time_ns = leaves;
  if (f.links == LinkMode::ideal) {
    send_answer(x, leaves);
    return;
  }
  ++arrivals_;
  // Read headers leave a fixed time after their arrival, so none can overtake; acknowledgements may have to wait.
  if (x.route->direct &&
      (ahead_ == Ahead::all_in_order || (ahead_ == Ahead::reads_in_order && !x.write && departing_ == 0))) {
    depart(x);
    return;
  }
  ++departing_;
  timeline().at(leaves, Order(Order::kDepartures, arrivals_, 0), &MemoryTarget::departs, this, &x);
}

void MemoryTarget::departs(void* self, void* transaction) {
  auto& memory = *static_cast<MemoryTarget*>(self);
  --memory.departing_;
  memory.depart(*static_cast<FabricTransaction*>(transaction));
}

// Only the memory feeds its own link, so a departure takes its place there at once. Those of one instant leave in the
// order in which the transactions arrived.
void MemoryTarget::depart(FabricTransaction& x) {
  const double payload = x.write ? 0 : static_cast<double>(x.nbytes);
  send_answer(x, pass_link(*x.route->hops.back().back, x, x.time_ns, payload + fabric().header_bytes));
}

double MemoryTarget::serve_flit(uint64_t address, double bytes, double ready_ns, double edge_bw_gbs) {
  if (flit_free_ns_.empty()) flit_free_ns_.assign(flit_servers(), 0.0);
  const size_t server = flit_server(address);
  double& free = flit_free_ns_[server];
  const double start = std::max(free, ready_ns);
  free = start + flit_service_ns(bytes, edge_bw_gbs);
  if (observer()) observer()->channel_taken(*this, server, start, free);
  return free;
}

double MemoryTarget::flit_start_ns(uint64_t address, double ready_ns) const {
  return flit_free_ns_.empty() ? ready_ns : std::max(flit_free_ns_[flit_server(address)], ready_ns);
}

void MemoryTarget::flit_arrived(Flit& f, Link& from) {
  if (feeder_ == &from && keeps_order(from, overhead_ns())) {
    become_ready_in_order(f, overhead_ns());
    take_flit(f);
    return;
  }
  become_ready(f, overhead_ns(), from, this);
  timeline().at(f.time_ns, f.order, &MemoryTarget::flit_ready, this, &f);
}

void MemoryTarget::flit_ready(void* self, void* flit) {
  static_cast<MemoryTarget*>(self)->take_flit(*static_cast<Flit*>(flit));
}

void MemoryTarget::take_flit(Flit& f) {
  FabricTransaction& x = *f.transaction;
  const Route::Hop& hop = x.route->hops.back();
  if (f.index == 0) {
    x.memory_arrival = ++arrivals_;
    x.flits_done = 0;
    x.tail_ns = 0;
  }
  if (whole_requests_) {
    x.time_ns = f.time_ns;
    fabric().release_flit(&f);
    if (!x.write || ++x.flits_done == x.flits) begin_service(x);
    return;
  }
  FabricObserver* watched = observer();
  if (watched && f.index == 0) {
    watched->memory_request(*this, x, MemoryStep::arrived, f.time_ns);
    watched->memory_request(*this, x, MemoryStep::started, flit_start_ns(f.address, f.time_ns));
  }
  if (x.write) {
    x.tail_ns = std::max(x.tail_ns, serve_flit(f.address, f.bytes, f.time_ns, hop.fwd->bw_gbs));  // its finish
    const double ready = f.time_ns;
    fabric().release_flit(&f);
    if (++x.flits_done < x.flits) return;
    if (watched) watched->memory_request(*this, x, MemoryStep::finished, x.tail_ns);
    if (x.effect) x.effect->served(x, ready);
    x.train.assign(1, header_flit(fabric(), x, true));
    x.train.front()->time_ns = x.tail_ns;
  } else {
    const double asked = f.time_ns;
    if (x.effect) x.effect->served(x, asked);
    fabric().release_flit(&f);
    data_flits(fabric(), x, true);
    double leaves = 0;
    for (Flit* r : x.train) {
      leaves = std::max(leaves, serve_flit(r->address, r->bytes, asked, hop.back->bw_gbs));
      r->time_ns = leaves;
    }
    if (watched) watched->memory_request(*this, x, MemoryStep::finished, leaves);
  }
  depart_in_flits(x);
}

void MemoryTarget::depart_in_flits(FabricTransaction& x) {
  x.flits = static_cast<uint32_t>(x.train.size());
  x.flits_done = 0;
  if (x.route->direct && ahead_ == Ahead::all_in_order) {
    while (x.flits_done < x.flits) next_flit_departs(x);
    return;
  }
  timeline().at(x.train.front()->time_ns, Order(Order::kDepartures, x.memory_arrival, 0), &MemoryTarget::flit_departs,
                this, &x);
}

void MemoryTarget::flit_departs(void* self, void* transaction) {
  auto& memory = *static_cast<MemoryTarget*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  if (x.flits_done + 1 < x.flits) {
    memory.timeline().at(x.train[x.flits_done + 1]->time_ns, Order(Order::kDepartures, x.memory_arrival, 0),
                         &MemoryTarget::flit_departs, self, &x);
  }
  memory.next_flit_departs(x);
}

void MemoryTarget::next_flit_departs(FabricTransaction& x) {
  const Route::Hop& hop = x.route->hops.back();
  Flit& f = *x.train[x.flits_done++];
  pass_link(*hop.back, f);
  f.node = static_cast<uint32_t>(x.route->hops.size()) - 1;
  if (x.route->direct) {
    carry_flit(fabric(), f);
    return;
  }
  x.flit = &f;
  if (f.index == 0) x.payload->set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = f.index == 0 ? tlm::tlm_phase(tlm::BEGIN_RESP) : tlm::tlm_phase(FLIT);
  sc_core::sc_time delay = timeline().delay_until(f.time_ns);
  in[hop.in_port]->nb_transport_bw(*x.payload, phase, delay);
}

void MemoryTarget::send_answer(FabricTransaction& x, double header_ns) {
  const Route::Hop& hop = x.route->hops.back();
  const Fabric& f = fabric();
  x.node = static_cast<uint32_t>(x.route->hops.size()) - 1;
  x.time_ns = header_ns;
  if (x.route->direct) {
    if (f.links == LinkMode::ideal || f.response == ResponseMode::ideal) {
      return_ideally(f, x);
      x.initiator->response_back(x, x.time_ns);
    } else {
      carry_response(fabric(), x);
    }
    return;
  }
  x.payload->set_response_status(tlm::TLM_OK_RESPONSE);
  if (f.response == ResponseMode::routed && f.links == LinkMode::ideal) {
    x.time_ns += hop.back->wire_ns;
    x.wire_ns += hop.back->wire_ns;
  }
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = timeline().delay_until(x.time_ns);
  in[hop.in_port]->nb_transport_bw(*x.payload, phase, delay);
}

}  // namespace kernbench
