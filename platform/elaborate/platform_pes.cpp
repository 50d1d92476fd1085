#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "kernbench/platform/elaborate/platform.h"
#include "kernbench/systemc_models/pe/engine.h"
#include "kernbench/systemc_models/pe/pe_mmu.h"
#include "kernbench/systemc_models/pe/pe_scheduler.h"
#include "kernbench/systemc_models/pe/pe_tcm.h"

namespace kernbench {
namespace {

template <class Block>
Block* block_of(const topology::Pe& pe, const char* kind, const std::vector<std::unique_ptr<Component>>& components) {
  const auto it = pe.blocks.find(kind);
  return it == pe.blocks.end() ? nullptr : dynamic_cast<Block*>(components[it->second].get());
}

constexpr const char* kEngineKinds[] = {"pe_dma", "pe_fetch_store", "pe_gemm", "pe_math"};
constexpr const char* kNeededKinds[] = {"pe_cpu",  "pe_scheduler", "pe_dma", "pe_fetch_store",
                                        "pe_gemm", "pe_math",      "pe_tcm"};

}  // namespace

void Platform::build_pes() {
  std::map<std::string, uint32_t> cubes;
  std::vector<const topology::Memory*> srams;
  for (const topology::Memory& m : graph_.memories) {
    if (m.space == name_of(Space::sram)) srams.push_back(&m);
  }
  for (uint32_t p = 0; p < graph_.pes.size(); ++p) {
    const topology::Pe& blocks = graph_.pes[p];
    pes_.push_back(std::make_unique<Pe>());
    Pe& pe = *pes_.back();
    pe.id = blocks.id;
    pe.index = p;
    const std::string cube = pe.id.substr(0, pe.id.rfind('.') == std::string::npos ? 0 : pe.id.rfind('.'));
    pe.cube = cubes.emplace(cube, static_cast<uint32_t>(cubes.size())).first->second;
    pe.order = std::numeric_limits<uint32_t>::max();
    for (const auto& [kind, node] : blocks.blocks) pe.order = std::min(pe.order, node);
    pe.tcm = block_of<PeTcm>(blocks, "pe_tcm", components_);
    for (const topology::Memory* m : srams) {
      if (graph_.nodes[m->node].id.rfind(cube + ".", 0) != 0) continue;
      pe.sram_base = m->base;
      pe.sram_bytes = m->size;
      break;
    }
    pe.mmu = block_of<PeMmu>(blocks, "pe_mmu", components_);

    std::vector<Engine*> engines = this->engines(p);
    for (Engine* e : engines) {
      e->join(pe);
      if (FabricInitiator* initiator = e->initiator()) initiator->connect(*this);
    }
    auto* scheduler = block_of<PeScheduler>(blocks, "pe_scheduler", components_);
    if (scheduler) scheduler->join(pe, *this, blocks.blocks.at("pe_dma"));
    if (auto* cpu = block_of<PeCpu>(blocks, "pe_cpu", components_)) {
      cpu->join(pe, *this);
      if (scheduler) cpu->command_out.bind(scheduler->command_in);
    }

    // Who hands on to which stage (ADR-0014 D6, D8).
    constexpr std::pair<Stage, Stage> kHandOns[] = {{Stage::dma_read, Stage::fetch}, {Stage::fetch, Stage::gemm},
                                                    {Stage::fetch, Stage::math},     {Stage::gemm, Stage::math},
                                                    {Stage::gemm, Stage::store},     {Stage::math, Stage::store},
                                                    {Stage::store, Stage::dma_write}};
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
  for (auto& c : components_) {
    request_ports_.push_back(c->request_port());
    if (FabricInitiator* initiator = c->initiator()) initiator->connect(*this);
  }
}

std::vector<Engine*> Platform::engines(size_t pe) const {
  std::vector<Engine*> v;
  for (const char* kind : kEngineKinds) {
    if (auto* e = block_of<Engine>(graph_.pes[pe], kind, components_)) v.push_back(e);
  }
  return v;
}

std::string Platform::missing_blocks(size_t pe) const {
  std::string missing;
  for (const char* kind : kNeededKinds) {
    if (!graph_.pes[pe].blocks.count(kind)) missing += (missing.empty() ? "" : ", ") + std::string(kind);
  }
  return missing;
}

bool Platform::complete(size_t pe) const {
  return missing_blocks(pe).empty();
}

PeCpu& Platform::pe_cpu(size_t pe) {
  auto* cpu = block_of<PeCpu>(graph_.pes[pe], "pe_cpu", components_);
  if (!cpu) throw std::runtime_error(graph_.pes[pe].id + ": has no pe_cpu that runs kernels");
  return *cpu;
}

size_t Platform::local_memory(size_t pe) {
  const uint32_t dma = graph_.pes[pe].blocks.at("pe_dma");
  // The memory whose id shares most of the PE's, and among those the nearest: its own slice where there is one.
  double best = std::numeric_limits<double>::infinity();
  size_t local = graph_.memories.size();
  const auto distance = [&](uint32_t node) {
    double mm = 0;
    for (uint32_t e : router_->find_path(dma, node)) mm += graph_.edges[e].distance_mm;
    return mm;
  };
  const std::string& id = graph_.pes[pe].id;
  const std::string cube = id.substr(0, id.rfind('.') + 1);
  for (const bool same_cube : {true, false}) {
    for (size_t m = 0; m < graph_.memories.size(); ++m) {
      const topology::Memory& memory = graph_.memories[m];
      if (memory.space != "hbm" || (same_cube && graph_.nodes[memory.node].id.compare(0, cube.size(), cube) != 0))
        continue;
      if (!router_->has_path(dma, memory.node)) continue;
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
