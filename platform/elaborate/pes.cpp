#include "kernbench/platform/elaborate/pes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "kernbench/platform/elaborate/foreign_node.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"

namespace kernbench {
namespace {

constexpr const char* kEngineKinds[] = {"pe_dma", "pe_fetch_store", "pe_gemm", "pe_math"};
constexpr const char* kNeededKinds[] = {"pe_cpu",  "pe_scheduler", "pe_dma", "pe_fetch_store",
                                        "pe_gemm", "pe_math",      "pe_tcm"};

std::string cube_of(const std::string& pe) {
  return pe.substr(0, pe.rfind('.') == std::string::npos ? 0 : pe.rfind('.'));
}

}  // namespace

Pes::Pes(const topology::Graph& graph, const Elaboration& blocks, Routes& routes, System& system)
    : graph_(graph), blocks_(blocks), routes_(routes), system_(system) {
  for (const topology::Memory& m : graph_.memories) {
    if (m.space != name_of(Space::sram)) continue;
    const std::string& id = graph_.nodes[m.node].id;
    for (size_t dot = id.find('.'); dot != std::string::npos; dot = id.find('.', dot + 1))
      srams_.emplace(id.substr(0, dot), &m);
  }
  for (uint32_t p = 0; p < graph_.pes.size(); ++p) build(p);
}

/// The PE's block of a kind in its role; null where it has none of that kind.
template <class Role>
Role* Pes::role_of(size_t pe, const char* kind, const char* role) const {
  const auto& blocks = graph_.pes[pe].blocks;
  const auto it = blocks.find(kind);
  if (it == blocks.end()) return nullptr;
  auto* block = dynamic_cast<Role*>(&blocks_.component(it->second));
  if (!block) {
    const topology::Node& node = graph_.nodes[it->second];
    throw std::runtime_error(node.id + ": '" + node.impl + "' is no " + role + ", which a block of kind " + kind +
                             " must be (systemc_models/pe/roles.h)");
  }
  return block;
}

void Pes::build(uint32_t p) {
  pes_.push_back(std::make_unique<Pe>());
  Pe& pe = *pes_.back();
  set_place(pe, p);
  pe.cpu = role_of<CpuRole>(p, "pe_cpu", "CpuRole");
  pe.scheduler = role_of<SchedulerRole>(p, "pe_scheduler", "SchedulerRole");
  pe.tcm = role_of<TcmRole>(p, "pe_tcm", "TcmRole");
  pe.mmu = role_of<MmuRole>(p, "pe_mmu", "MmuRole");
  add_engines(pe);
  for (const auto& [kind, node] : graph_.pes[p].blocks) {
    if (PeBlock* block = blocks_.component(node).pe_block()) block->join(pe);
  }
  bind(graph_.pes[p]);
  if (!complete(p)) return;
  pe.runner = std::make_unique<KernelRunner>(pe, system_, blocks_.component(graph_.pes[p].blocks.at("pe_cpu")), *pe.cpu);
  pe.cpu->attach(*pe.runner);
}

void Pes::add_engines(Pe& pe) {
  const topology::Pe& of = graph_.pes[pe.index];
  pe.dma = of.blocks.at("pe_dma");
  for (const char* kind : kEngineKinds) {
    auto* role = role_of<EngineRole>(pe.index, kind, "EngineRole");
    if (role) pe.engines.push_back({&blocks_.component(of.blocks.at(kind)), role});
  }
  FabricNode* dma = blocks_.component(pe.dma).fabric_node();
  if (!dma || !dma->initiator() || !dma->request_port()) {
    const topology::Node& node = graph_.nodes[pe.dma];
    throw std::runtime_error(node.id + ": '" + node.impl +
                             "' is no FabricNode with an initiator and a request port, which a block of kind pe_dma must "
                             "be (systemc_models/fabric/fabric_node.h)");
  }
}

/// Who it is, and where.
void Pes::set_place(Pe& pe, uint32_t index) {
  pe.id = graph_.pes[index].id;
  pe.index = index;
  const std::string cube = cube_of(pe.id);
  pe.cube = cubes_.emplace(cube, static_cast<uint32_t>(cubes_.size())).first->second;
  if (const auto sram = srams_.find(cube); sram != srams_.end()) {
    pe.sram_base = sram->second->base;
    pe.sram_bytes = sram->second->size;
  }
  pe.order = std::numeric_limits<uint32_t>::max();
  for (const auto& [kind, node] : graph_.pes[index].blocks) pe.order = std::min(pe.order, node);
}

/// Along the PE's edges (ADR-0014 D6, D8); those towards a block that takes no items say that it answers.
void Pes::bind(const topology::Pe& pe) {
  const auto block_at = [this](uint32_t node) -> PeBlock& {
    if (PeBlock* block = blocks_.component(node).pe_block()) return *block;
    throw std::runtime_error(graph_.nodes[node].id + ": '" + graph_.nodes[node].impl +
                             "' is no PeBlock, which a block inside a PE must be (systemc_models/pe/pe_block.h)");
  };
  for (const topology::PeEdge& edge : topology::edges_inside(graph_, pe)) {
    PeBlock &a = block_at(edge.from), &b = block_at(edge.to);
    if (!a.command_initiator() || !b.command_target()) continue;
    if (edge.first.empty()) connect(a, b);
    for (const uint32_t n : edge.first) foreign_at(n).add_way(a, b, true, false);
    for (const uint32_t n : edge.last) foreign_at(n).add_way(a, b, false, true);
  }
}

ForeignNode& Pes::foreign_at(uint32_t node) const {
  return static_cast<ForeignNode&>(blocks_.component(node));
}

std::string Pes::missing_blocks(size_t pe) const {
  std::string missing;
  for (const char* kind : kNeededKinds) {
    if (!graph_.pes[pe].blocks.count(kind)) missing += (missing.empty() ? "" : ", ") + std::string(kind);
  }
  return missing;
}

KernelRunner& Pes::runner(size_t pe) const {
  if (!pes_[pe]->runner) throw std::runtime_error(graph_.pes[pe].id + ": runs no kernels, it has no " + missing_blocks(pe));
  return *pes_[pe]->runner;
}

void Pes::attach_history(CommandHistory& history) const {
  for (size_t p = 0; p < pes_.size(); ++p) {
    if (!complete(p)) continue;
    runner(p).attach_history(&history);
    const auto in_order = [&](CommandType type, Stage stage) {
      for (const Pe::Engine& e : pes_[p]->engines) {
        for (const StageStatistics& s : e.role->statistics()) {
          if (s.stage == stage && s.servers == 1) history.serves_in_order(pes_[p]->index, type);
        }
      }
    };
    in_order(CommandType::load, Stage::dma_read);
    in_order(CommandType::store, Stage::dma_write);
    in_order(CommandType::gemm, Stage::gemm);
    in_order(CommandType::math, Stage::math);
  }
}

size_t Pes::local_memory(size_t pe) const {
  const uint32_t dma = graph_.pes[pe].blocks.at("pe_dma");
  // The memory whose id shares most of the PE's, and among those the nearest: its own slice where there is one.
  double best = std::numeric_limits<double>::infinity();
  size_t local = graph_.memories.size();
  const auto distance = [&](uint32_t node) {
    double mm = 0;
    for (uint32_t e : routes_.paths().find_path(dma, node)) mm += graph_.edges[e].distance_mm;
    return mm;
  };
  const std::string& id = graph_.pes[pe].id;
  const std::string cube = id.substr(0, id.rfind('.') + 1);
  for (const bool same_cube : {true, false}) {
    for (size_t m = 0; m < graph_.memories.size(); ++m) {
      const topology::Memory& memory = graph_.memories[m];
      if (memory.space != "hbm" || (same_cube && graph_.nodes[memory.node].id.compare(0, cube.size(), cube) != 0))
        continue;
      if (!routes_.paths().has_path(dma, memory.node)) continue;
      const double mm = distance(memory.node);
      if (mm < best) {
        best = mm;
        local = m;
      }
    }
    if (local < graph_.memories.size()) return local;
  }
  throw std::runtime_error(id + ": no memory of space hbm can be reached");
}

}  // namespace kernbench
