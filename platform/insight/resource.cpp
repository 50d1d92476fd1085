// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/resource.h"

#include "kernbench/phase2/op/space.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::insight {

Resource resource_of(const topology::Node& node) {
  const Kind* kind = component_catalog().kinds().find(node.kind);
  if (kind && kind->facts.overhead) return *kind->facts.overhead;
  if (kind && !kind->facts.engine.stages.empty()) return Resource::engines;
  return node.space.empty() ? Resource::routers : Resource::memory;
}

std::optional<Resource> resource_of(const AttrSpec& attribute, const topology::Node& node) {
  return attribute.overhead ? resource_of(node) : attribute.resource;
}

Resource resource_of(const topology::Graph& graph, const topology::Edge& edge) {
  for (const uint32_t end : {edge.from, edge.to}) {
    const topology::Node& node = graph.nodes[end];
    if (node.space == name_of(Space::hbm)) return Resource::hbm;
    if (node.space == name_of(Space::sram)) return Resource::sram;
  }
  namespace kind = topology::edge_kind;
  const std::string& k = edge.kind;
  if (k == kind::kMesh || k == kind::kPe || k == kind::kMCpu || k == kind::kPort) return Resource::mesh;
  if (k == kind::kUcie) return Resource::ucie;
  if (k == kind::kIo || k == kind::kPcie) return Resource::pcie;
  if (k == kind::kMemory) return Resource::memory;
  return Resource::link;
}

}  // namespace kernbench::insight
