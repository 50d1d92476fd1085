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
  // Of the host's interface (platform/launch/host_interface.h).
  unsigned bus_width = 32;
  uint32_t launch_queue = 0;
  uint64_t register_bar = 0, memory_bar = 0;
  uint32_t memory_bar_mb = 16;
  PcieEpParameters() { store_and_forward = true; }
  template <class List>
  static void describe(List& list) {
    RouterParameters::describe(list);
    list.add(&PcieEpParameters::outstanding, "outstanding", "", "requests in flight; default: unlimited").depth();
    describe_bus_width(list, &PcieEpParameters::bus_width);
    list.add(&PcieEpParameters::launch_queue, "launch_queue", "",
             "launches that may wait for each set of PEs; 0: a launch leaves at once")
        .min(0)
        .max(1 << 20);
    list.add(&PcieEpParameters::register_bar, "register_bar", "",
             "a further address of the host's registers, 4 KiB; 0: none")
        .min(0)
        .max(0xfffff000);
    list.add(&PcieEpParameters::memory_bar, "memory_bar", "",
             "address of a window of device memory for the host (register WINDOW); 0: none")
        .min(0)
        .max(0xfffff000);
    list.add(&PcieEpParameters::memory_bar_mb, "memory_bar_mb", "MiB", "size of that window").min(1).max(4095);
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
