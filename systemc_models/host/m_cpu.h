// Models: a cube's management processor as an initiator of memory traffic: its DMA's read and write channel.
// Does not model: the program it runs. Launches pass it as a stop that costs overhead_ns (platform/launch/launch.h,
// timing contract §7), beside its DMA and without waiting for it.
// Timing contract §2.
#pragma once

#include "kernbench/systemc_models/fabric/pooled_initiator.h"

namespace kernbench {

struct MCpuParameters : BlockParameters {
  uint32_t rd_engines = 1, wr_engines = 1;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&MCpuParameters::rd_engines, "rd_engines", "", "reads in service at once").count();
    list.add(&MCpuParameters::wr_engines, "wr_engines", "", "writes in service at once").count();
  }
};

class MCpu : public Component, public FabricNode, public PooledInitiator {
 public:
  using Parameters = MCpuParameters;
  FabricInitiatorSocket out{"out", *this};

  MCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters = {});
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.m_cpu", "m_cpu", "a cube's management processor with a DMA of its own")
        .initiator();
  }

  FabricNode* fabric_node() override { return this; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }

 private:
  Order done_order(const FabricTransaction& x) const override {
    return Order(Order::kEngines, index(), x.write ? 0 : 1);
  }
};

}  // namespace kernbench
