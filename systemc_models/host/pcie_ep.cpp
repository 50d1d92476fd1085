// Models: a PCIe endpoint: forwards (store-and-forward by default), and issues the host's requests, any number at once
// or `outstanding`, one pool for reads and writes. Timing contract §2, §3.
// Launches pass it at overhead_ns alone (platform/launch/launch.h); the host's uploads and read-backs are requests to
// it (platform/launch/host_transfer.h). Does not model: link training, credits, TLP headers.
//
// Parameters: overhead_ns (ns, 0), store_and_forward (true), outstanding (requests; unlimited where not given),
// bus_width (bits, 32; of the host's sockets, platform/launch/host_interface.h).
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/forwarder.h"
#include "kernbench/systemc_models/fabric/request_pool.h"
#include "kernbench/systemc_models/protocol/wide_socket.h"

namespace kernbench {
namespace {

class PcieEp : public Forwarder, public PooledInitiator {
 public:
  PcieEp(sc_core::sc_module_name name, const ComponentConfig& config)
      : Forwarder(name, config, true),
        PooledInitiator(static_cast<Component&>(*this),
                        static_cast<uint32_t>(config.attributes->integer("outstanding", RequestPool::kUnlimited))) {}

  FabricInitiator* initiator() override { return this; }
  RequestPort* request_port() override { return this; }

  static ImplSpec spec() {
    ImplSpec s = spec_of("pcie_ep", "PCIe endpoint: the host's door to a device", true);
    AttrSpec outstanding = count_attribute("outstanding", 1, "requests in flight; unlimited where not given");
    outstanding.default_value.reset();
    s.attributes.push_back(outstanding);
    s.attributes.push_back(bus_width_attribute());
    return s;
  }

 private:
  Order done_order(const FabricTransaction&) const override { return Order(Order::kEngines, index(), 0); }
  void send(FabricTransaction& x, uint16_t port, tlm::tlm_phase phase, sc_core::sc_time& delay) override {
    out[port]->nb_transport_fw(*x.payload, phase, delay);
  }
  void response_at_end(FabricTransaction& x, const sc_core::sc_time& delay) override { response_arrived(x, delay); }
};

}  // namespace

KERNBENCH_REGISTER_COMPONENT(PcieEp)

}  // namespace kernbench
