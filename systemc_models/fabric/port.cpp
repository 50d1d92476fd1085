#include "kernbench/systemc_models/fabric/port.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {

Port::Port(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      PooledInitiator(static_cast<Component&>(*this), parameters.outstanding.value_or(RequestPool::kUnlimited)),
      transport_(*this, *this, {parameters.outstanding.value_or(0), parameters.allow_dmi, parameters.bus_width / 8}),
      socket_("socket", parameters.bus_width, transport_) {
  out.register_nb_transport_bw(this, &Port::nb_transport_bw);
}

ImplSpec Port::spec() {
  return spec_of<Parameters>("builtin.port", "port", "a TLM-2.0 target socket for a foreign initiator");
}

tlm::tlm_sync_enum Port::nb_transport_bw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                         sc_core::sc_time& delay) {
  auto& x = *payload.get_extension<FabricTransaction>();
  response_arrived(x, delay);
  return tlm::TLM_COMPLETED;
}

Order Port::done_order(const FabricTransaction& x) const {
  return Order(Order::kEngines, index(), x.write ? 0 : 1);
}

void Port::send(FabricTransaction& x, uint16_t port, tlm::tlm_phase phase, sc_core::sc_time& delay) {
  out[port]->nb_transport_fw(*x.payload, phase, delay);
}

KERNBENCH_REGISTER_COMPONENT(Port)

}  // namespace kernbench
