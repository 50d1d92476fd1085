#include "kernbench/platform/observe/fabric_watch.h"

#include "kernbench/platform/platform.h"

namespace kernbench {
namespace {

template <class Visit>
void for_each_of_fabric(Platform& platform, FabricParts parts, Visit visit) {
  for (uint32_t n = 0; n < platform.graph().nodes.size(); ++n) {
    if (FabricNode* node = platform.component(n).fabric_node()) visit(node->observers());
  }
  if (parts == FabricParts::blocks) return;
  for (uint32_t e = 0; e < platform.graph().edges.size(); ++e) {
    if (Link* link = platform.machine().blocks().link(e)) visit(link->observers);
  }
}

}  // namespace

void watch_fabric(Platform& platform, FabricObserver& o, FabricParts parts) {
  for_each_of_fabric(platform, parts, [&](FabricObservers& all) { all.add(o); });
}

void unwatch_fabric(Platform& platform, FabricObserver& o) {
  for_each_of_fabric(platform, FabricParts::blocks_and_links, [&](FabricObservers& all) { all.remove(o); });
}

}  // namespace kernbench
