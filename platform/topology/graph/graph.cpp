// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/graph/graph.h"

#include <algorithm>

#include "kernbench/platform/topology/graph/foreign_blocks.h"

namespace kernbench::topology {

bool Graph::has_finite_buffers() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& n) { return n.attrs.has("buffer_flits"); });
}

double Graph::effective_bw(uint32_t edge) const {
  const Edge& e = edges[edge];
  if (!e.bw_gbs) return 0;
  return *e.bw_gbs * efficiency_[e.from] * efficiency_[e.to];
}

const Memory* Graph::memory_at(uint64_t addr) const {
  auto it = std::upper_bound(memories_by_base_.begin(), memories_by_base_.end(), addr,
                             [this](uint64_t a, uint32_t m) { return a < memories[m].base; });
  if (it == memories_by_base_.begin()) return nullptr;
  const Memory& m = memories[*--it];
  return addr - m.base < m.size ? &m : nullptr;
}

void Graph::finish() {
  efficiency_.assign(nodes.size(), 1.0);
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].space.empty()) efficiency_[i] = nodes[i].attrs.number("efficiency", 1.0);
  }
  // A foreign node between a controller and its router does not change the edge between them.
  for (const Edge& e : edges) {
    if (is_foreign(*this, e.from)) efficiency_[e.from] *= efficiency_[e.to];
  }

  network_places_.assign(networks.empty() ? 0 : nodes.size(), {});
  for (uint32_t n = 0; n < networks.size(); ++n) {
    for (uint32_t p = 0; p < networks[n].routers.size(); ++p) network_places_[networks[n].routers[p]] = {n, p};
  }

  out_edges.assign(nodes.size(), {});
  for (uint32_t e = 0; e < edges.size(); ++e) out_edges[edges[e].from].push_back(e);

  memories_by_base_.resize(memories.size());
  for (uint32_t m = 0; m < memories.size(); ++m) memories_by_base_[m] = m;
  std::sort(memories_by_base_.begin(), memories_by_base_.end(),
            [this](uint32_t a, uint32_t b) { return memories[a].base < memories[b].base; });

  // A PE's position in the order is that of its first block; a prefix without a pe_dma is no PE.
  pes.clear();
  std::vector<Pe> groups;
  std::unordered_map<std::string, size_t> group_of;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind.compare(0, 3, "pe_") != 0) continue;
    const std::string& id = nodes[i].id;
    const size_t dot = id.rfind('.');
    std::string prefix = dot == std::string::npos ? id : id.substr(0, dot);
    auto [it, fresh] = group_of.emplace(prefix, groups.size());
    if (!fresh && nodes[i].kind == "pe_dma" && groups[it->second].blocks.count("pe_dma") > 0) {
      // Ids may share a prefix without being one PE (a test bench with many DMAs): then each is a separate PE.
      groups.push_back({id, {{"pe_dma", i}}});
      continue;
    }
    if (fresh) groups.push_back({std::move(prefix), {}});
    groups[it->second].blocks.emplace(nodes[i].kind, i);
  }
  for (Pe& g : groups) {
    if (g.blocks.count("pe_dma") > 0) pes.push_back(std::move(g));
  }
}

}  // namespace kernbench::topology
