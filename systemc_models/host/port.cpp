// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/host/port.h"

#include "kernbench/systemc_models/core/registry.h"

namespace kernbench::io {

Port::Port(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
    : Component(name, config, checked(parameters)),
      FabricNode(static_cast<Component&>(*this)),
      PooledInitiator(static_cast<FabricNode&>(*this), parameters.outstanding.value_or(RequestPool::kUnlimited),
                      parameters.timeout_ns, parameters.issue_ns),
      costs_{parameters.read_overhead_ns, parameters.write_overhead_ns, parameters.post_overhead_ns},
      transport_(*this, *this, {parameters.outstanding.value_or(0), parameters.allow_dmi, parameters.bus_width / 8}),
      socket_("socket", parameters.bus_width, transport_) {}

ImplSpec Port::spec() {
  return spec_of<Parameters>("builtin.port", "port", "a TLM-2.0 target socket for a foreign initiator").initiator();
}

double Port::begin_ns(const PassingMessage& m) const {
  return overhead_ns() + (!m.write ? costs_.read_ns : m.posted ? costs_.post_ns : costs_.write_ns);
}

Order Port::done_order(const FabricTransaction& x) const {
  return Order(Order::kEngines, index(), x.write ? 0 : 1);
}

KERNBENCH_REGISTER_COMPONENT(Port)

}  // namespace kernbench::io
