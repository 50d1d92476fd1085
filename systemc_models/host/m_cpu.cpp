// Models: a cube's management processor as an initiator of memory traffic: its DMA's read and write channel.
// Does not model: the program it runs. Launches pass it as a stop that costs overhead_ns (platform/launch/launch.h,
// timing contract §7), beside its DMA and without waiting for it.
// Timing contract §2.
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/request_pool.h"

namespace kernbench {
namespace {

struct MCpuParameters : BlockParameters {
  uint32_t rd_engines = 1, wr_engines = 1;
  template <class List>
  static void describe(List& list) {
    BlockParameters::describe(list);
    list.add(&MCpuParameters::rd_engines, "rd_engines", "", "reads in service at once").count();
    list.add(&MCpuParameters::wr_engines, "wr_engines", "", "writes in service at once").count();
  }
};

class MCpu : public Component, public PooledInitiator {
 public:
  using Parameters = MCpuParameters;
  FabricInitiatorSocket<MCpu> out{"out"};
  FabricOut* fabric_out() override { return &out; }
  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }

  MCpu(sc_core::sc_module_name name, const ComponentConfig& config, const Parameters& parameters)
      : Component(name, config, checked(parameters)),
        PooledInitiator(static_cast<Component&>(*this), parameters.rd_engines, parameters.wr_engines) {
    out.register_nb_transport_bw(this, &MCpu::nb_transport_bw);
  }

  static ImplSpec spec() {
    return spec_of<Parameters>("builtin.m_cpu", "m_cpu", "a cube's management processor with a DMA of its own");
  }

 private:
  Order done_order(const FabricTransaction& x) const override {
    return Order(Order::kEngines, index(), x.write ? 0 : 1);
  }
  tlm::tlm_sync_enum nb_transport_bw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_core::sc_time& delay) {
    auto& x = *payload.get_extension<FabricTransaction>();
    response_arrived(x, delay);
    return tlm::TLM_COMPLETED;
  }
  void send(FabricTransaction& x, uint16_t port, tlm::tlm_phase phase, sc_core::sc_time& delay) override {
    out[port]->nb_transport_fw(*x.payload, phase, delay);
  }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(MCpu)

}  // namespace kernbench
