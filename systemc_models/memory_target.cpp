#include "kernbench/systemc_models/memory_target.h"

namespace kernbench {

MemoryTarget::MemoryTarget(sc_core::sc_module_name name, const ComponentConfig& config) : Component(name, config) {
  in.register_nb_transport_fw(this, &MemoryTarget::nb_transport_fw);
}

tlm::tlm_sync_enum MemoryTarget::nb_transport_fw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                 sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  auto* x = payload.get_extension<FabricTransaction>();
  x->time_ns = arrival_time(fabric(), *x, delay);
  timeline().at(x->time_ns, x->order, &MemoryTarget::arrived, this, x);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void MemoryTarget::arrived(void* self, void* transaction) {
  auto& memory = *static_cast<MemoryTarget*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  const Service s = memory.serve(x);
  x.payload->set_response_status(tlm::TLM_OK_RESPONSE);
  const Fabric& fabric = memory.fabric();
  if (fabric.response == ResponseMode::ideal) {
    x.tail_ns = 0;
    memory.answer(x, s.finish_ns);
    return;
  }
  const double leaves = x.write ? s.finish_ns : s.header_leaves_ns;
  x.tail_ns = s.finish_ns - leaves;
  x.time_ns = leaves;
  if (fabric.links == LinkMode::ideal) {
    memory.answer(x, leaves);
  } else {
    memory.timeline().at(leaves, Order(Order::kDepartures, 0, 0), &MemoryTarget::departs, self, transaction);
  }
}

void MemoryTarget::departs(void* self, void* transaction) {
  auto& memory = *static_cast<MemoryTarget*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  memory.departures_.apply(x, x.time_ns);
  memory.timeline().at(x.time_ns, x.order, &MemoryTarget::enters_link, self, transaction);
}

void MemoryTarget::enters_link(void* self, void* transaction) {
  auto& memory = *static_cast<MemoryTarget*>(self);
  auto& x = *static_cast<FabricTransaction*>(transaction);
  const double payload = x.write ? 0 : static_cast<double>(x.nbytes);
  memory.answer(x, pass_link(*x.route->hops.back().back, x, x.time_ns, payload + memory.fabric().header_bytes));
}

void MemoryTarget::answer(FabricTransaction& x, double header_ns) {
  const Route::Hop& hop = x.route->hops.back();
  const Fabric& f = fabric();
  x.node = static_cast<uint32_t>(x.route->hops.size()) - 1;
  x.time_ns = header_ns;
  if (f.response == ResponseMode::routed && f.links == LinkMode::ideal) {
    x.time_ns += hop.back->wire_ns;
    x.wire_ns += hop.back->wire_ns;
  }
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = timeline().delay_until(x.time_ns);
  in[hop.in_port]->nb_transport_bw(*x.payload, phase, delay);
}

}  // namespace kernbench
