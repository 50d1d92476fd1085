// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/route/network_rules.h"

#include <algorithm>

namespace kernbench::topology {

uint32_t NetworkRules::network_of(uint32_t edge) const {
  const Edge& e = graph_.edges[edge];
  const uint32_t from = graph_.network_place(e.from).network;
  return from == graph_.network_place(e.to).network ? from : NetworkPlace::kNone;
}

void NetworkRules::add_stretch(uint32_t from, uint32_t to, std::vector<uint32_t>& way) const {
  const Network& network = graph_.networks[graph_.network_place(from).network];
  uint32_t at = from;
  for (const uint32_t place : network.way(graph_.network_place(from).place, graph_.network_place(to).place)) {
    const uint32_t next = network.routers[place];
    if (next == at) continue;
    const auto& out = graph_.out_edges[at];
    way.push_back(*std::find_if(out.begin(), out.end(), [&](uint32_t e) { return graph_.edges[e].to == next; }));
    at = next;
  }
}

std::vector<uint32_t> NetworkRules::by_rule(const std::vector<uint32_t>& path) const {
  std::vector<uint32_t> way;
  for (size_t begin = 0; begin < path.size();) {
    const uint32_t network = network_of(path[begin]);
    if (network == NetworkPlace::kNone) {
      way.push_back(path[begin++]);
      continue;
    }
    size_t end = begin + 1;
    while (end < path.size() && network_of(path[end]) == network) ++end;
    add_stretch(graph_.edges[path[begin]].from, graph_.edges[path[end - 1]].to, way);
    begin = end;
  }
  return way;
}

}  // namespace kernbench::topology
