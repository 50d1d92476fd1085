// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/build/graph_builder.h"

#include <fmt/format.h>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/build/validate.h"

namespace kernbench::topology {

void GraphBuilder::reserve(size_t nodes, size_t edges) {
  graph_.nodes.reserve(nodes);
  graph_.edges.reserve(edges);
  graph_.index_of.reserve(nodes);
  edge_of_.reserve(edges);
}

uint32_t GraphBuilder::add_node(std::string id, const Block& block, std::optional<Position> position,
                                const std::string& field) {
  const auto index = static_cast<uint32_t>(graph_.nodes.size());
  const auto [it, fresh] = graph_.index_of.emplace(id, index);
  if (!fresh) {
    faults_.add(block.line, field,
                fmt::format("found '{}' a second time, first on line {}; legal: an id of its own", cut(id),
                            graph_.nodes[it->second].line));
    return it->second;
  }
  Node n;
  n.id = std::move(id);
  n.kind = block.kind;
  n.impl = block.impl;
  n.transit = block.transit;
  n.initiator = block.initiator;
  n.space = block.space;
  n.attrs = block.attrs;
  n.line = block.line;
  n.position = position;
  graph_.nodes.push_back(std::move(n));
  return index;
}

uint32_t GraphBuilder::find(const std::string& id) const {
  const auto it = graph_.index_of.find(id);
  return it == graph_.index_of.end() ? kNoNode : it->second;
}

void GraphBuilder::add_edge(uint32_t from, uint32_t to, const LinkProperties& p, const std::string& field) {
  if (from == to) {
    faults_.add(p.line, field, "found a link from '" + graph_.nodes[from].id + "' to itself; legal: two nodes");
    return;
  }
  const auto index = static_cast<uint32_t>(graph_.edges.size());
  const auto [it, fresh] = edge_of_.emplace((uint64_t{from} << 32) | to, index);
  if (!fresh) {
    faults_.add(p.line, field,
                fmt::format("found a second edge from '{}' to '{}', first on line {}; legal: one",
                            graph_.nodes[from].id, graph_.nodes[to].id, graph_.edges[it->second].line));
    return;
  }
  Edge e;
  e.from = from;
  e.to = to;
  e.kind = p.kind;
  e.distance_mm = p.distance_mm;
  e.bw_gbs = p.bw_gbs;
  e.line = p.line;
  graph_.edges.push_back(std::move(e));
}

void GraphBuilder::add_link(uint32_t a, uint32_t b, const LinkProperties& p, const std::string& field) {
  add_edge(a, b, p, field);
  if (a != b) add_edge(b, a, p, field);
}

void GraphBuilder::add_memory(uint32_t node, std::string space, uint64_t base, uint64_t size, int line) {
  graph_.memories.push_back({node, std::move(space), base, size, line});
}

Graph GraphBuilder::finish() {
  graph_.finish();
  validate(graph_, kinds_, faults_);
  faults_.throw_if_any();
  return std::move(graph_);
}

}  // namespace kernbench::topology
