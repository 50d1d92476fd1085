// SPDX-License-Identifier: Apache-2.0
// Models a PCIe endpoint: it forwards (store-and-forward by default) and issues the host's requests, any number at the
// same time or `outstanding`, in one pool for reads and writes. Timing rules §2, §3. The host's messages enter here
// (platform/launch/launch_host.h) and are passed on; its uploads and read-backs are requests to this block
// (platform/launch/host_transfer.h). Does not model link training, credits or TLP headers.
#pragma once

#include <typeinfo>

#include "kernbench/systemc_models/fabric/pooled_initiator.h"
#include "kernbench/systemc_models/fabric/router.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench::io {

struct PcieEpParameters : RouterParameters {
  std::optional<uint32_t> outstanding;
  unsigned bus_width = 32;  ///< of the host's sockets (platform/launch/host_interface.h)
  PcieEpParameters() { store_and_forward = true; }
  template <class List>
  static void describe(List& list) {
    RouterParameters::describe(list);
    list.add(&PcieEpParameters::outstanding, "outstanding", "", "requests in flight; default: unlimited").depth();
    describe_bus_width(list, &PcieEpParameters::bus_width);
  }
};

class PcieEp : public Router, public PooledInitiator {
 public:
  using Parameters = PcieEpParameters;
  PcieEp(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : Router(name, config, checked(parameters)),
        PooledInitiator(static_cast<FabricNode&>(*this), parameters.outstanding.value_or(RequestPool::kUnlimited)) {}
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.pcie_ep", "pcie_ep", "PCIe endpoint: the host's access to a device")
        .transit()
        .phy("pcie")
        .overhead_is(Resource::launch)
        .initiator();
  }

  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }

  bool own_rules() const override { return typeid(*this) != typeid(PcieEp); }

 private:
  Order done_order(const FabricTransaction&) const override { return Order(Order::kEngines, index(), 0); }
};

}  // namespace kernbench::io
