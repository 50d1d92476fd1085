// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/route/ways.h"

#include <algorithm>

namespace kernbench::topology {

Ways::Ways(const Graph& g, PathRouter& paths)
    : graph_(g), paths_(paths), back_(g.edges.size(), kNone), in_edges_(g.nodes.size()), holds_memory_(g.nodes.size()) {
  for (uint32_t e = 0; e < g.edges.size(); ++e) in_edges_[g.edges[e].to].push_back(e);
  for (uint32_t e = 0; e < g.edges.size(); ++e) {
    for (const uint32_t c : g.out_edges[g.edges[e].to]) {
      if (g.edges[c].to != g.edges[e].from) continue;
      back_[e] = c;
      break;
    }
  }
  std::vector<uint32_t> initiators, memories, queues;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (g.nodes[n].initiator) initiators.push_back(n);
  }
  for (const Memory& m : g.memories) memories.push_back(m.node);
  std::sort(memories.begin(), memories.end());
  memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
  for (const uint32_t m : memories) holds_memory_[m] = true;
  for (const Pe& pe : g.pes) {
    if (pe.blocks.count("pe_ipcq") > 0) queues.push_back(pe.blocks.at("pe_dma"));
  }
  add_kind(initiators, memories);
  add_kind(queues, queues);
}

Ways::Gates Ways::gates_of(const std::vector<uint32_t>& nodes, bool ends) const {
  Gates gates;
  for (const uint32_t n : nodes) {
    const std::vector<uint32_t>& edges = ends ? in_edges_[n] : graph_.out_edges[n];
    const bool leaf = edges.size() == 1 && !graph_.nodes[n].transit;
    if (!leaf) {
      gates[n].itself = true;
      continue;
    }
    const Edge& e = graph_.edges[edges.front()];
    const uint32_t gate = ends ? e.from : e.to;
    // Paths continue only through transit nodes.
    if (graph_.nodes[gate].transit) {
      gates[gate].edges.push_back(edges.front());
    } else {
      gates[n].itself = true;
    }
  }
  return gates;
}

void Ways::add_kind(const std::vector<uint32_t>& from, const std::vector<uint32_t>& to) {
  Kind kind{gates_of(from, false), gates_of(to, true), {}};
  for (auto g = kind.ends.rbegin(); g != kind.ends.rend(); ++g) kind.end_gates.push_back(g->first);
  kinds_.push_back(std::move(kind));
}

void Ways::for_each_turn(const Turn& visit) const {
  std::vector<const Gate*> gates(graph_.nodes.size());
  // Paths that arrive at a gate by that edge, or start there, continue to the ends behind it.
  const auto end = [&](const Gate& g, uint32_t before) {
    for (const uint32_t e : g.edges) visit(before, e);
  };
  for (const Kind& kind : kinds_) {
    for (const auto& [n, gate] : kind.ends) gates[n] = &gate;
    for (const auto& [start, begin] : kind.begins) {
      if (const Gate* here = gates[start]) {
        if (begin.itself) end(*here, kNone);
        for (const uint32_t e : begin.edges) end(*here, e);
      }
      paths_.for_each_turn(start, kind.end_gates, [&, &first = begin](uint32_t before, uint32_t edge) {
        if (before != kNone || first.itself) visit(before, edge);
        if (before == kNone) {
          for (const uint32_t e : first.edges) visit(e, edge);
        }
        if (const Gate* g = gates[graph_.edges[edge].to]) end(*g, edge);
      });
    }
    for (const uint32_t n : kind.end_gates) gates[n] = nullptr;
  }
}

void Ways::for_each_way(const Between& visit) const {
  for (const Kind& kind : kinds_) {
    for (const auto& [start, begin] : kind.begins) {
      for (const auto& [stop, end] : kind.ends) {
        if (!paths_.has_path(start, stop)) continue;
        const std::vector<uint32_t> there = paths_.find_path(start, stop);
        visit(begin, there, paths_.way_back(there), end);
      }
    }
  }
}

void Ways::for_each_tree(const std::function<void(const std::vector<Step>&)>& visit) const {
  std::vector<bool> ends(graph_.nodes.size());
  std::vector<Step> tree;
  for (const Kind& kind : kinds_) {
    for (const uint32_t n : kind.end_gates) ends[n] = true;
    for (const auto& begin : kind.begins) {
      tree.clear();
      paths_.for_each_turn(begin.first, kind.end_gates, [&](uint32_t before, uint32_t edge) {
        tree.push_back({before, edge, ends[graph_.edges[edge].to]});
      });
      visit(tree);
    }
    for (const uint32_t n : kind.end_gates) ends[n] = false;
  }
}

}  // namespace kernbench::topology
