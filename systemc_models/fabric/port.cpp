#include "kernbench/systemc_models/fabric/port.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench {
namespace {

uint32_t outstanding_of(const ComponentConfig& config, uint32_t unlimited) {
  return static_cast<uint32_t>(config.attributes->integer("outstanding", unlimited));
}

BaseProtocolTarget::Settings settings_of(const ComponentConfig& config) {
  BaseProtocolTarget::Settings s;
  s.outstanding = outstanding_of(config, 0);
  s.allow_dmi = config.attributes->boolean("allow_dmi", false);
  s.bus_bytes = bus_width_of(*config.attributes) / 8;
  return s;
}

}  // namespace

Port::Port(sc_core::sc_module_name name, const ComponentConfig& config)
    : Component(name, config),
      PooledInitiator(static_cast<Component&>(*this), outstanding_of(config, RequestPool::kUnlimited)),
      transport_(*this, *this, settings_of(config)),
      socket_("socket", bus_width_of(*config.attributes), transport_) {
  out.register_nb_transport_bw(this, &Port::nb_transport_bw);
}

ImplSpec Port::spec() {
  AttrSpec outstanding = count_attribute("outstanding", 1, "transactions under way; unlimited where not given");
  outstanding.default_value.reset();
  AttrSpec dmi;
  dmi.name = "allow_dmi";
  dmi.type = AttrType::boolean;
  dmi.default_value = false;
  dmi.help = "hand out pointers to memory (TLM-2.0 DMI)";
  return {"builtin.port",
          "port",
          "a TLM-2.0 target socket for a foreign initiator",
          {overhead_attribute(), outstanding, dmi, bus_width_attribute()}};
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
