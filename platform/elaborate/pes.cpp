// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/elaborate/pes.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>

#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "kernbench/systemc_models/pe/pe_assembly.h"

namespace kernbench::elaborate {
namespace {

using topology::naming::scope_of;

/// Visits the scopes that contain an id, innermost first.
template <class Visit>
void for_each_scope(const std::string& id, Visit visit) {
  for (std::string scope = scope_of(id); !scope.empty(); scope = scope_of(scope)) visit(scope);
}

}  // namespace

Pes::Pes(const topology::Graph& graph, const Elaboration& blocks, Routes& routes, System& system)
    : graph_(graph), blocks_(blocks), routes_(routes), system_(system) {
  for (const topology::Memory& m : graph_.memories) {
    if (m.space != name_of(Space::sram)) continue;
    for_each_scope(graph_.nodes[m.node].id, [&](const std::string& scope) { srams_.emplace(scope, &m); });
  }
  for (uint32_t p = 0; p < graph_.pes.size(); ++p) build(p);
}

PeParts Pes::parts_of(size_t pe) const {
  PeParts parts;
  for (const auto& [kind, node] : graph_.pes[pe].blocks)
    parts.add(kind, blocks_.component(node), graph_.nodes[node].impl);
  return parts;
}

void Pes::build(uint32_t p) {
  pes_.push_back(std::make_unique<Pe>());
  set_place(*pes_.back(), p);
  const std::vector<topology::PeEdge> given = topology::edges_inside(graph_, graph_.pes[p]);
  PeEdges edges, past_foreign_nodes;
  for (const topology::PeEdge& e : given)
    (e.first.empty() ? edges : past_foreign_nodes).emplace_back(&blocks_.component(e.from), &blocks_.component(e.to));
  assemble(*pes_.back(), parts_of(p), edges, system_, past_foreign_nodes);
  for (const topology::PeEdge& e : given) {
    if (!e.first.empty()) lead_past_foreign_nodes(e);
  }
}

/// The user binds the blocks between.
void Pes::lead_past_foreign_nodes(const topology::PeEdge& e) {
  PeBlock *from = blocks_.component(e.from).pe_block(), *to = blocks_.component(e.to).pe_block();
  if (!from || !to || !from->command_initiator() || !to->command_target()) return;
  for (const uint32_t n : e.first) foreign_at(n).add_way(*from, *to, true, false);
  for (const uint32_t n : e.last) foreign_at(n).add_way(*from, *to, false, true);
}

/// Sets id, index and position.
void Pes::set_place(Pe& pe, uint32_t index) {
  pe.id = graph_.pes[index].id;
  pe.index = index;
  const std::string cube = scope_of(pe.id);
  pe.cube = cubes_.emplace(cube, static_cast<uint32_t>(cubes_.size())).first->second;
  if (const auto sram = srams_.find(cube); sram != srams_.end()) {
    pe.sram_base = sram->second->base;
    pe.sram_bytes = sram->second->size;
  }
  pe.order = std::numeric_limits<uint32_t>::max();
  for (const auto& [kind, node] : graph_.pes[index].blocks) pe.order = std::min(pe.order, node);
}

ForeignNode& Pes::foreign_at(uint32_t node) const {
  return static_cast<ForeignNode&>(blocks_.component(node));
}

std::string Pes::missing_blocks(size_t pe) const {
  return missing_for_kernels(parts_of(pe));
}

KernelRunner& Pes::runner(size_t pe) const {
  if (!pes_[pe]->runner)
    throw std::runtime_error(graph_.pes[pe].id + ": runs no kernels, it has no " + missing_blocks(pe));
  return *pes_[pe]->runner;
}

void Pes::attach_history(CommandHistory* history) const {
  for (size_t p = 0; p < pes_.size(); ++p) {
    if (!complete(p)) continue;
    runner(p).attach_history(history);
    if (!history) continue;
    for (const CommandType type : {CommandType::load, CommandType::store, CommandType::gemm, CommandType::math}) {
      if (type == CommandType::math && !pes_[p]->own_ops.empty()) continue;  // several engines serve it
      for (const Pe::Engine& e : pes_[p]->engines) {
        for (const StageStatistics& s : e.role->statistics()) {
          if (s.stage == stage_of(type) && s.servers == 1) history->serves_in_order(pes_[p]->index, type);
        }
      }
    }
  }
}

size_t Pes::local_memory(size_t pe) const {
  if (local_memories_.empty()) find_local_memories();
  if (local_memories_[pe] == kNoMemory)
    throw std::runtime_error(graph_.pes[pe].id + ": no memory of space hbm can be reached");
  return local_memories_[pe];
}

/// The nearest memories of the given PEs, by PE. One search per scope, from its memories backwards along the edges, so
/// that the cost does not grow with the number of PEs.
void Pes::find_nearest(const std::vector<size_t>& memories, const std::vector<size_t>& pes, Nearest& found) const {
  if (!graph_.networks.empty()) {  // their routing rules determine the distance
    for (const size_t pe : pes) found[pe] = nearest_by_rule(pe, memories);
    return;
  }
  if (in_edges_.empty()) {
    in_edges_.resize(graph_.nodes.size());
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) in_edges_[graph_.edges[e].to].push_back(e);
  }
  struct Label {
    int64_t nm;
    bool passes;       ///< paths continue there, away from the memories
    size_t seen_from;  ///< the last memory with a known shortest path from there
  };
  std::unordered_map<uint32_t, Label> labels;
  std::unordered_map<uint32_t, size_t> asking;  // PEs by their DMA
  using Open = std::pair<int64_t, uint32_t>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  const auto reach = [&](uint32_t node, int64_t nm, bool passes) {
    const auto [l, fresh] = labels.emplace(node, Label{nm, passes, kNoMemory});
    if (!fresh && l->second.nm <= nm) return;
    l->second.nm = nm;
    open.emplace(nm, node);
  };
  for (const size_t pe : pes) asking.emplace(graph_.pes[pe].blocks.at("pe_dma"), pe);
  for (const size_t m : memories) reach(graph_.memories[m].node, 0, true);
  int64_t last = 0;  // distance of the last PE found
  for (size_t left = asking.size(); !open.empty() && (left > 0 || open.top().first <= last);) {
    const auto [nm, node] = open.top();
    open.pop();
    const Label& here = labels.at(node);
    if (here.nm != nm) continue;
    if (asking.count(node) > 0) --left, last = nm;
    if (!here.passes) continue;
    for (const uint32_t e : in_edges_[node]) {
      const topology::Edge& edge = graph_.edges[e];
      reach(edge.from, nm + edge.nm(), graph_.nodes[edge.from].transit);
    }
  }
  std::vector<uint32_t> way;
  for (const size_t m : memories) {
    for (way = {graph_.memories[m].node}; !way.empty();) {
      const uint32_t node = way.back();
      way.pop_back();
      if (const auto pe = asking.find(node); pe != asking.end()) found[pe->second].push_back(m);
      if (node != graph_.memories[m].node && !graph_.nodes[node].transit) continue;
      const int64_t nm = labels.at(node).nm;
      for (const uint32_t e : in_edges_[node]) {
        const auto from = labels.find(graph_.edges[e].from);
        if (from == labels.end() || from->second.nm != nm + graph_.edges[e].nm()) continue;
        if (std::exchange(from->second.seen_from, m) != m) way.push_back(from->first);
      }
    }
  }
}

void Pes::find_local_memories() const {
  std::vector<size_t> all;
  std::map<std::string, std::vector<size_t>> inside, asking;  // memories by the scopes of their ids; PEs by scope
  for (size_t m = 0; m < graph_.memories.size(); ++m) {
    if (graph_.memories[m].space != name_of(Space::hbm)) continue;
    all.push_back(m);
    for_each_scope(graph_.nodes[graph_.memories[m].node].id, [&](const std::string& s) { inside[s].push_back(m); });
  }
  for (size_t pe = 0; pe < graph_.pes.size(); ++pe) asking[scope_of(graph_.pes[pe].id)].push_back(pe);
  Nearest nearest(graph_.pes.size());
  std::vector<size_t> others;
  for (const auto& [scope, pes] : asking) {
    if (const auto own = inside.find(scope); own != inside.end()) find_nearest(own->second, pes, nearest);
    std::copy_if(pes.begin(), pes.end(), std::back_inserter(others), [&](size_t pe) { return nearest[pe].empty(); });
  }
  if (!others.empty()) find_nearest(all, others, nearest);
  std::vector<size_t> taken(graph_.memories.size(), 0);
  const auto fewer = [&](size_t a, size_t b) { return taken[a] < taken[b]; };
  for (const std::vector<size_t>& near : nearest) {
    const auto least = std::min_element(near.begin(), near.end(), fewer);
    local_memories_.push_back(least == near.end() ? kNoMemory : *least);
    if (least != near.end()) ++taken[*least];
  }
  in_edges_ = {};
}

std::vector<size_t> Pes::nearest_by_rule(size_t pe, const std::vector<size_t>& memories) const {
  topology::PathRouter& paths = routes_.paths();
  const uint32_t dma = graph_.pes[pe].blocks.at("pe_dma");
  std::vector<size_t> nearest;
  int64_t least = 0;
  for (const size_t m : memories) {
    const uint32_t node = graph_.memories[m].node;
    if (!paths.has_path(dma, node)) continue;
    const int64_t nm = paths.distance_nm(dma, node);
    if (nm < least) nearest.clear();
    if (nearest.empty()) least = nm;
    if (nm == least) nearest.push_back(m);
  }
  return nearest;
}

}  // namespace kernbench::elaborate
