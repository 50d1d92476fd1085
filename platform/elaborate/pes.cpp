#include "kernbench/platform/elaborate/pes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "kernbench/systemc_models/pe/engine.h"
#include "kernbench/systemc_models/pe/pe_mmu.h"
#include "kernbench/systemc_models/pe/pe_scheduler.h"
#include "kernbench/systemc_models/pe/pe_tcm.h"

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

template <class Block>
Block* Pes::block_of(size_t pe, const char* kind) const {
  const auto& blocks = graph_.pes[pe].blocks;
  const auto it = blocks.find(kind);
  return it == blocks.end() ? nullptr : dynamic_cast<Block*>(&blocks_.component(it->second));
}

void Pes::build(uint32_t p) {
  pes_.push_back(std::make_unique<Pe>());
  Pe& pe = *pes_.back();
  set_place(pe, p);
  pe.tcm = block_of<PeTcm>(p, "pe_tcm");
  pe.mmu = block_of<PeMmu>(p, "pe_mmu");
  for (Engine* e : engines(p)) e->join(pe);
  auto* scheduler = block_of<PeScheduler>(p, "pe_scheduler");
  if (scheduler) scheduler->join(pe, routes_, graph_.pes[p].blocks.at("pe_dma"));
  if (auto* cpu = block_of<PeCpu>(p, "pe_cpu")) {
    cpu->join(pe, system_);
    if (scheduler) cpu->command_out.bind(scheduler->command_in);
  }
  bind_stages(p, scheduler);
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

/// Who hands on to which stage (ADR-0014 D6, D8).
void Pes::bind_stages(size_t p, PeScheduler* scheduler) {
  constexpr std::pair<Stage, Stage> kHandOns[] = {{Stage::dma_read, Stage::fetch}, {Stage::fetch, Stage::gemm},
                                                  {Stage::fetch, Stage::math},     {Stage::gemm, Stage::math},
                                                  {Stage::gemm, Stage::store},     {Stage::math, Stage::store},
                                                  {Stage::store, Stage::dma_write}};
  const std::vector<Engine*> engines = this->engines(p);
  for (Engine* to : engines) {
    if (scheduler) {
      scheduler->command_out.bind(to->command_in);
      const int port = static_cast<int>(scheduler->command_out.size()) - 1;
      for (int s = 0; s < kStages; ++s) {
        if (to->serves(static_cast<Stage>(s))) scheduler->set_next(static_cast<Stage>(s), port, to);
      }
    }
    for (Engine* from : engines) {
      int port = -1;
      for (const auto& [a, b] : kHandOns) {
        if (from == to || !from->serves(a) || !to->serves(b)) continue;
        if (port < 0) {
          from->command_out.bind(to->command_in);
          port = static_cast<int>(from->command_out.size()) - 1;
        }
        from->set_next(b, port, to);
      }
    }
  }
}

std::vector<Engine*> Pes::engines(size_t pe) const {
  std::vector<Engine*> v;
  for (const char* kind : kEngineKinds) {
    if (auto* e = block_of<Engine>(pe, kind)) v.push_back(e);
  }
  return v;
}

std::string Pes::missing_blocks(size_t pe) const {
  std::string missing;
  for (const char* kind : kNeededKinds) {
    if (!graph_.pes[pe].blocks.count(kind)) missing += (missing.empty() ? "" : ", ") + std::string(kind);
  }
  return missing;
}

PeCpu& Pes::cpu(size_t pe) const {
  auto* cpu = block_of<PeCpu>(pe, "pe_cpu");
  if (!cpu) throw std::runtime_error(graph_.pes[pe].id + ": has no pe_cpu that runs kernels");
  return *cpu;
}

void Pes::attach_history(CommandHistory& history) const {
  for (size_t p = 0; p < pes_.size(); ++p) {
    if (!complete(p)) continue;
    cpu(p).attach_history(&history);
    const auto in_order = [&](CommandType type, Stage stage) {
      for (Engine* e : engines(p)) {
        for (const Engine::Statistics& s : e->statistics()) {
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
