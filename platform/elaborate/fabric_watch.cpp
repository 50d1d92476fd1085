// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/fabric_watch.h"

#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"

namespace kernbench::elaborate {
namespace {

template <class Visit>
void for_each_of_fabric(Machine& machine, FabricParts parts, Visit visit) {
  for (uint32_t n = 0; n < machine.graph().nodes.size(); ++n) {
    if (FabricNode* node = machine.blocks().component(n).fabric_node()) visit(node->observers());
  }
  if (parts == FabricParts::blocks) return;
  for (uint32_t e = 0; e < machine.graph().edges.size(); ++e) {
    if (Link* link = machine.blocks().link(e)) visit(link->observers);
  }
}

}  // namespace

void watch_fabric(Machine& machine, FabricObserver& o, FabricParts parts) {
  for_each_of_fabric(machine, parts, [&](FabricObservers& all) { all.add(o); });
}

void unwatch_fabric(Machine& machine, FabricObserver& o) {
  for_each_of_fabric(machine, FabricParts::blocks_and_links, [&](FabricObservers& all) { all.remove(o); });
}

}  // namespace kernbench::elaborate
