// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/usage.h"

#include <algorithm>

#include "kernbench/platform/elaborate/fabric_watch.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/fabric/fabric_port.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/fabric/multicast.h"
#include "kernbench/systemc_models/fabric/path.h"

namespace kernbench::insight {

double most_gbs(Machine& machine, uint32_t node) {
  const topology::Graph& system = machine.graph();
  double edge = 0;
  for (const uint32_t e : system.out_edges[node]) edge = std::max(edge, system.effective_bw(e));
  const auto* memory = dynamic_cast<const MemoryTarget*>(&machine.blocks().component(node));
  return memory ? memory->most_gbs(edge) : edge;
}

Usage::Usage(Machine& machine)
    : machine_(machine), link_bytes_(machine.graph().edges.size()), memories_(machine.graph().nodes.size()) {
  watch_fabric(machine_, *this, FabricParts::blocks);
}

Usage::~Usage() {
  unwatch_fabric(machine_, *this);
}

void Usage::add(const FabricTransaction& x) {
  for (const PathHop& hop : x.path(!x.write)) {
    if (x.carries(!x.write, hop.number) && hop.link->edge < link_bytes_.size()) link_bytes_[hop.link->edge] += x.nbytes;
  }
}

void Usage::access_done(const Component&, const FabricTransaction& x, double) {
  for_each_destination(x, [&](const FabricTransaction& d) {
    add(d);
    if (!d.comes_to_memory() || !d.route->target || d.route->target->index() >= memories_.size()) return;
    Memory& m = memories_[d.route->target->index()];
    (d.write ? m.write_bytes : m.read_bytes) += d.nbytes;
  });
}

void Usage::post_done(const Component&, const FabricTransaction& x, double) {
  add(x);
}

void Usage::channel_taken(const MemoryTarget& memory, const FabricTransaction&, size_t channel, double, double from,
                          double to) {
  std::vector<double>& held = memories_[memory.index()].channels_ns;
  if (held.size() <= channel) held.resize(std::max(channel + 1, memory.channels()));
  held[channel] += to - from;
}

}  // namespace kernbench::insight
