// SPDX-License-Identifier: Apache-2.0
#include "kernbench/systemc_models/pe/pe_assembly.h"

#include <algorithm>
#include <stdexcept>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/systemc_models/core/registry.h"
#include "kernbench/systemc_models/fabric/fabric_node.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "kernbench/systemc_models/pe/pe_block.h"

namespace kernbench::pe {
namespace {

const Kinds& kinds() {
  return component_catalog().kinds();
}

const EngineFacts& engine_of(std::string_view kind) {
  return kinds().find(std::string(kind))->facts.engine;
}

/// "… is no CpuRole, which a block of kind pe_cpu must be (systemc_models/pe/roles.h)".
[[noreturn]] void refuse(const PeParts::Part& part, const std::string& lacks, const char* must, const char* header) {
  const std::string impl = part.impl.empty() ? "" : "'" + std::string(part.impl) + "' ";
  throw InputError(part.block->id() + ": " + impl + lacks + ", which a block of kind " + std::string(part.kind) +
                   " must " + must + " (systemc_models/" + header + ")");
}

/// The PE's block of a kind, as its role; null if the PE has none.
template <class Role>
Role* role_of(const PeParts& parts, const char* role, std::string_view kind) {
  const PeParts::Part* part = parts.of_kind(kind);
  if (!part) return nullptr;
  if (auto* block = dynamic_cast<Role*>(part->block)) return block;
  refuse(*part, std::string("is no ") + role, "be", "pe/roles.h");
}

PeBlock& block_of(const PeParts::Part& part) {
  if (PeBlock* block = part.block->pe_block()) return *block;
  refuse(part, "is no PeBlock", "be", "pe/pe_block.h");
}

void add_engines(Pe& pe, const PeParts& parts) {
  for (const std::string& kind : kinds().of_engines()) {
    auto* role = role_of<EngineRole>(parts, "EngineRole", kind);
    if (!role) continue;
    const PeParts::Part& part = *parts.of_kind(kind);
    for (const EngineStage& s : engine_of(kind).stages) {
      if (!block_of(part).serves(s.stage))
        refuse(part, "does not serve " + std::string(name_of(s.stage)), "do", "pe/pe_block.h");
    }
    pe.engines.push_back({part.block, role, part.block->index()});
    for (const std::string& op : engine_of(kind).ops) {
      const Stage stage = engine_of(kind).stages.front().stage;
      if (!pe.own_ops.emplace(op, stage).second)
        throw InputError(part.block->id() + ": takes op " + op + ", which another engine of the PE takes; legal: one");
    }
  }
}

/// It would be ambiguous to which of two engines a stage's items go.
void check_stages(const Pe& pe) {
  for (int s = 0; s < stage_count(); ++s) {
    const Component* serves = nullptr;
    for (const Pe::Engine& e : pe.engines) {
      if (!e.block->pe_block()->serves(static_cast<Stage>(s))) continue;
      if (serves)
        throw InputError(e.block->id() + ": serves " + std::string(name_of(static_cast<Stage>(s))) + ", as does " +
                         serves->id() + "; legal: one engine of a PE");
      serves = e.block;
    }
  }
}

void add_dma(Pe& pe, const PeParts& parts) {
  const PeParts::Part* part = parts.of_kind("pe_dma");
  if (!part) return;
  pe.dma = part->block->index();
  FabricNode* node = part->block->fabric_node();
  if (!node || !node->initiator() || !node->request_port() || !node->initiator_socket())
    refuse(*part, "is no FabricNode with an initiator, its socket and a request port", "be", "fabric/fabric_node.h");
}

bool is_standard(const PeParts::Part& from, const PeParts::Part& to) {
  const PeKindEdges::Pairs& standard = kinds().pe_edges().standard;
  return std::any_of(standard.begin(), standard.end(),
                     [&](const auto& e) { return e.first == from.kind && e.second == to.kind; });
}

/// ADR-0014 D6, D8. An edge to a block that takes no items, or from one that sends none, only declares that it answers.
void bind_along(const PeParts& parts, const PeEdges& edges) {
  for (const auto& [a, b] : edges) {
    const PeParts::Part &from = parts.of(*a), &to = parts.of(*b);
    PeBlock &sender = block_of(from), &receiver = block_of(to);
    const bool sends = sender.command_initiator(), takes = receiver.command_target();
    if (sends && takes) {
      connect(sender, receiver);
    } else if (is_standard(from, to)) {
      const std::string edge = "for the edge " + a->id() + " -> " + b->id();
      if (!sends) refuse(from, "has no initiator socket " + edge, "have", "pe/pe_block.h");
      refuse(to, "has no target socket " + edge, "have", "pe/pe_block.h");
    }
  }
}

}  // namespace

const PeParts::Part* PeParts::of_kind(std::string_view kind) const {
  const auto it = std::find_if(parts_.begin(), parts_.end(), [kind](const Part& p) { return p.kind == kind; });
  return it == parts_.end() ? nullptr : &*it;
}

const PeParts::Part& PeParts::of(const Component& block) const {
  const auto it = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.block == &block; });
  if (it == parts_.end()) throw std::invalid_argument(block.id() + ": is no part of the PE whose edge leads to it");
  return *it;
}

PeEdges PeParts::standard_edges() const {
  return between(kinds().pe_edges().standard);
}

PeEdges PeParts::bound_without_edge() const {
  return between(kinds().pe_edges().without_edge);
}

PeEdges PeParts::between(const PeKindEdges::Pairs& pairs) const {
  PeEdges edges;
  for (const auto& [from, to] : pairs) {
    const Part *a = of_kind(from), *b = of_kind(to);
    if (a && b) edges.emplace_back(a->block, b->block);
  }
  return edges;
}

std::string missing_for_kernels(const PeParts& parts) {
  std::string missing;
  const auto need = [&](const std::string& kind) {
    if (!parts.of_kind(kind)) missing += (missing.empty() ? "" : ", ") + kind;
  };
  need(CpuRole::kKind);
  need(SchedulerRole::kKind);
  for (const std::string& kind : kinds().of_engines()) {
    if (engine_of(kind).needed) need(kind);
  }
  need(TcmRole::kKind);
  return missing;
}

void assemble(Pe& pe, const PeParts& parts, const PeEdges& edges, System& system, const PeEdges& elsewhere) {
  pe.cpu = role_of<CpuRole>(parts, "CpuRole", CpuRole::kKind);
  pe.scheduler = role_of<SchedulerRole>(parts, "SchedulerRole", SchedulerRole::kKind);
  pe.tcm = role_of<TcmRole>(parts, "TcmRole", TcmRole::kKind);
  pe.mmu = role_of<MmuRole>(parts, "MmuRole", MmuRole::kKind);
  pe.ipcq = role_of<IpcqRole>(parts, "IpcqRole", IpcqRole::kKind);
  add_engines(pe, parts);
  add_dma(pe, parts);
  for (const PeParts::Part& part : parts.all()) {
    if (PeBlock* block = part.block->pe_block()) block->join(pe);
  }
  bind_along(parts, edges);
  PeEdges others = parts.bound_without_edge();
  const auto is_among = [](const PeEdges& all) {
    return [&all](const PeEdges::value_type& e) { return std::find(all.begin(), all.end(), e) != all.end(); };
  };
  others.erase(std::remove_if(others.begin(), others.end(), is_among(edges)), others.end());
  others.erase(std::remove_if(others.begin(), others.end(), is_among(elsewhere)), others.end());
  bind_along(parts, others);
  check_stages(pe);
  if (pe.ipcq) pe.ipcq->on_left_over([&system](const std::string& what) { system.note_fault(what); });
  if (!missing_for_kernels(parts).empty()) return;
  pe.runner = std::make_unique<KernelRunner>(pe, system, *parts.of_kind("pe_cpu")->block, *pe.cpu);
  pe.cpu->attach(*pe.runner);
}

const Component& Pe::engine_at(Stage s) const {
  for (const Engine& e : engines) {
    if (e.block->pe_block()->serves(s)) return *e.block;
  }
  throw std::out_of_range(id + " serves no " + std::string(name_of(s)));
}

}  // namespace kernbench::pe
