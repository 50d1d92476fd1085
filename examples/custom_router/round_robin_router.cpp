// SPDX-License-Identifier: Apache-2.0
// Models: a router whose outputs serve its inputs in turn: of messages that wait for a link, one that came by the next
// input behind that of the last one takes it. An input's own messages keep their order.
#include <map>

#include "kernbench/kernel_api/plugin.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/router.h"

namespace {
using namespace kernbench;

class RoundRobinRouter : public Router {
 public:
  using Router::Router;
  static ImplSpec spec() {
    return spec_of<Parameters>("custom.round_robin_router", "router", "serves its inputs in turn");
  }

 protected:
  size_t first(const FabricPort& out, const std::vector<WaitingMessage>& waiting) override {
    size_t& last = last_.try_emplace(&out, ports().size() - 1).first->second;
    size_t chosen = 0, best_distance = ports().size();
    for (size_t i = 0; i < waiting.size(); ++i) {  // in the order in which they became ready
      const size_t distance = (input_of(waiting[i]) + ports().size() - last - 1) % ports().size();
      if (distance >= best_distance) continue;
      best_distance = distance;
      chosen = i;
    }
    last = input_of(waiting[chosen]);
    return chosen;
  }

 private:
  /// Number of the port by which the message has come.
  size_t input_of(const WaitingMessage& m) const {
    size_t i = 0;
    while (i + 1 < ports().size() && ports()[i]->incoming() != m.from) ++i;
    return i;
  }

  std::map<const FabricPort*, size_t> last_;  ///< input served last, by output
};

KERNBENCH_REGISTER_COMPONENT(RoundRobinRouter)
}  // namespace

KERNBENCH_PLUGIN("routers")
