#include "kernbench/platform/elaborate/pes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "kernbench/systemc_models/pe/pe_assembly.h"

namespace kernbench {
namespace {

using topology::naming::scope_of;

/// Visits the scopes that an id lies in, the innermost first.
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

/// The blocks between are bound by the user.
void Pes::lead_past_foreign_nodes(const topology::PeEdge& e) {
  PeBlock *from = blocks_.component(e.from).pe_block(), *to = blocks_.component(e.to).pe_block();
  if (!from || !to || !from->command_initiator() || !to->command_target()) return;
  for (const uint32_t n : e.first) foreign_at(n).add_way(*from, *to, true, false);
  for (const uint32_t n : e.last) foreign_at(n).add_way(*from, *to, false, true);
}

/// Who it is, and where.
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
      if (type == CommandType::math && !pes_[p]->own_ops.empty()) continue;  // by several engines
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
  if (local_memories_[pe] == graph_.memories.size())
    throw std::runtime_error(graph_.pes[pe].id + ": no memory of space hbm can be reached");
  return local_memories_[pe];
}

void Pes::find_local_memories() const {
  std::vector<size_t> all;
  std::map<std::string, std::vector<size_t>> inside;  // by the scopes that a memory's id lies in
  for (size_t m = 0; m < graph_.memories.size(); ++m) {
    if (graph_.memories[m].space != name_of(Space::hbm)) continue;
    all.push_back(m);
    for_each_scope(graph_.nodes[graph_.memories[m].node].id, [&](const std::string& s) { inside[s].push_back(m); });
  }
  std::vector<size_t> taken(graph_.memories.size(), 0);
  for (size_t pe = 0; pe < graph_.pes.size(); ++pe) {
    const std::string cube = scope_of(graph_.pes[pe].id);
    size_t local = nearest_of(pe, cube.empty() ? all : inside[cube], taken);
    if (local == graph_.memories.size()) local = nearest_of(pe, all, taken);
    local_memories_.push_back(local);
    if (local < graph_.memories.size()) ++taken[local];
  }
}

/// graph().memories.size() where none can be reached.
size_t Pes::nearest_of(size_t pe, const std::vector<size_t>& memories, const std::vector<size_t>& taken) const {
  topology::PathRouter& paths = routes_.paths();
  const uint32_t dma = graph_.pes[pe].blocks.at("pe_dma");
  size_t best = graph_.memories.size();
  int64_t best_nm = 0;
  for (const size_t m : memories) {
    const uint32_t node = graph_.memories[m].node;
    if (!paths.has_path(dma, node)) continue;
    const int64_t nm = paths.distance_nm(dma, node);
    if (best < graph_.memories.size() && (nm > best_nm || (nm == best_nm && taken[m] >= taken[best]))) continue;
    best = m;
    best_nm = nm;
  }
  return best;
}

}  // namespace kernbench
