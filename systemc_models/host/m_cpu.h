// SPDX-License-Identifier: Apache-2.0
// Models a cube's management processor: an initiator of memory traffic with a DMA read and write channel. Independently
// of that, it distributes the host's messages to the PEs' pe_cpus (fabric/fan_out.h). Does not model its program.
// Timing rules §2, §7.
#pragma once

#include "kernbench/systemc_models/fabric/fan_out.h"
#include "kernbench/systemc_models/fabric/pooled_initiator.h"

namespace kernbench::io {

struct MCpuParameters : BlockParameters {
  uint32_t rd_engines = 1, wr_engines = 1;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&MCpuParameters::rd_engines, "rd_engines", "", "reads in service at the same time").count();
    list.add(&MCpuParameters::wr_engines, "wr_engines", "", "writes in service at the same time").count();
  }
};

class MCpu : public Component, public FabricNode, public PooledInitiator, public ControlTarget {
 public:
  using Parameters = MCpuParameters;
  FabricTargetSocket in{"in", *this};  ///< only for control messages
  FabricInitiatorSocket out{"out", *this};

  MCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters = {});
  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.m_cpu", "m_cpu", "a cube's management processor, with its own DMA")
        .initiator()
        .overhead_is(Resource::launch);
  }

  FabricNode* fabric_node() override { return this; }
  FabricTargetSocket* target_socket() override { return &in; }
  FabricInitiatorSocket* initiator_socket() override { return &out; }
  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }
  void message_arrived(ControlMessage& m) override { fan_out_.pass_on(m); }

 private:
  Order done_order(const FabricTransaction& x) const override {
    return Order(Order::kEngines, index(), x.write ? 0 : 1);
  }

  FanOut fan_out_{*this};
};

}  // namespace kernbench::io
