// SPDX-License-Identifier: Apache-2.0
// Models: a router of a mesh that sends each request by the less loaded of the shortest ways. A way's load is what this
// router has put on the first link that the data will use, and is not over yet.
// Does not model: loads that others see; responses go back the way that their requests came.
#include <algorithm>
#include <map>

#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace {
using namespace kernbench;

class AdaptiveRouter : public Router {
 public:
  using Router::Router;
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.adaptive_router", "router", "takes the less loaded of the shortest ways");
  }

 protected:
  FabricPort& way(const FabricTransaction& x, FabricPort& from) override {
    FabricPort* best = &Router::way(x, from);  // towards the memory by the topology's own rule
    const size_t hops = hops_from(*this, x);
    for (FabricPort* port : ports()) {
      auto* next = port->neighbour() ? dynamic_cast<Router*>(&port->neighbour()->node()) : nullptr;
      if (next && hops_from(*next, x) + 1 == hops && load_ns(*port, x) < load_ns(*best, x)) best = port;
    }
    const Link& link = data_link(*best, x);
    double& until = busy_until_[&link];
    until = std::max(until, x.time_ns) + link.transfer_ns(static_cast<double>(x.nbytes));
    return *best;
  }

 private:
  size_t hops_from(const Router& router, const FabricTransaction& x) const {
    return fabric().routes().route(router.index(), x.address, 1, x.write).hops.size();
  }
  static const Link& data_link(const FabricPort& port, const FabricTransaction& x) {
    return x.write ? port.link : *port.incoming();
  }
  double load_ns(const FabricPort& port, const FabricTransaction& x) const {
    const auto it = busy_until_.find(&data_link(port, x));
    return it == busy_until_.end() ? 0 : std::max(0.0, it->second - x.time_ns);
  }

  std::map<const Link*, double> busy_until_;  ///< ns
};

KERNBENCH_REGISTER_COMPONENT(AdaptiveRouter)
}  // namespace
