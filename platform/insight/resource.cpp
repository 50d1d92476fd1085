#include "kernbench/platform/insight/resource.h"

#include <map>
#include <string>

#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/systemc_models/core/component_catalog.h"

namespace kernbench::insight {
namespace {

struct Names {
  std::string_view name, title;
};
constexpr Names kNames[kResources] = {
    {"launch", "the launch"},
    {"host", "the host"},
    {"pe_cpu", "command issue in pe_cpu"},
    {"kernel", "scalar work of kernels"},
    {"scheduler", "the overhead of pe_scheduler"},
    {"engines", "overheads of the PEs' engines"},
    {"mmu", "MMU look-ups"},
    {"gemm", "the GEMM rate"},
    {"math", "the MATH rate"},
    {"tcm", "TCM bandwidth"},
    {"hbm", "HBM bandwidth"},
    {"sram", "SRAM bandwidth"},
    {"memory", "the overhead of memories"},
    {"mesh", "mesh bandwidth"},
    {"ucie", "UCIe bandwidth"},
    {"pcie", "PCIe bandwidth"},
    {"link", "link bandwidth"},
    {"routers", "the overhead of routers"},
    {"wires", "wire delay"},
    {"queues", "the queues between PEs"},
    {"buffers", "room in finite buffers"},
    {"other", "what is not kernbench's"},
};

}  // namespace

std::string_view name_of(Resource r) {
  return kNames[static_cast<size_t>(r)].name;
}

std::string_view title_of(Resource r) {
  return kNames[static_cast<size_t>(r)].title;
}

Resource resource_of(const topology::Node& node) {
  static const std::map<std::string_view, Resource> kKinds = {
      {"pcie_ep", Resource::launch}, {"io_cpu", Resource::launch},          {"m_cpu", Resource::launch},
      {"pe_cpu", Resource::pe_cpu},  {"pe_scheduler", Resource::scheduler}, {"pe_ipcq", Resource::queues},
      {"pe_mmu", Resource::mmu}};
  if (const auto it = kKinds.find(node.kind); it != kKinds.end()) return it->second;
  const Kind* kind = component_catalog().kinds().find(node.kind);
  if (kind && !kind->facts.engine.stages.empty()) return Resource::engines;
  return node.space.empty() ? Resource::routers : Resource::memory;
}

Resource resource_of(const topology::Graph& graph, const topology::Edge& edge) {
  for (const uint32_t end : {edge.from, edge.to}) {
    const topology::Node& node = graph.nodes[end];
    if (node.space == "hbm") return Resource::hbm;
    if (node.space == "sram") return Resource::sram;
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
