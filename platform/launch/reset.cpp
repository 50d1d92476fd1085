// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/reset.h"

#include <algorithm>
#include <set>
#include <vector>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/systemc_models/fabric/memory_target.h"
#include "kernbench/systemc_models/memory/base_protocol_target.h"
#include "kernbench/systemc_models/memory/system.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"

namespace kernbench::launch {
namespace {

/// Whether the node with that id belongs to the part.
bool belongs(const std::string& node, const std::string& part) {
  return part.empty() || node == part || node.rfind(part + ".", 0) == 0;
}

/// Whether it is a PE, a cube or a SIP with PEs, or the empty id for all.
bool is_part(const topology::Graph& graph, const std::string& id) {
  return id.empty() || std::any_of(graph.pes.begin(), graph.pes.end(), [&](const topology::Pe& pe) {
           return pe.id == id || topology::naming::scope_of(pe.id) == id ||
                  topology::naming::outermost_scope_of(pe.id) == id;
         });
}

/// A launch is known by its reductions, which all of its kernels share.
void abort_launches(Machine& machine, const std::string& part, const std::string& why) {
  std::set<const KernelReductions*> ended;
  std::vector<KernelRunner*> running;
  for (size_t i = 0; i < machine.graph().pes.size(); ++i) {
    Pe& pe = machine.pes().pe(i);
    if (!pe.runner || !pe.runner->running()) continue;
    running.push_back(pe.runner.get());
    if (belongs(pe.id, part)) ended.insert(pe.runner->reductions());
  }
  for (KernelRunner* r : running) {
    if (ended.count(r->reductions()) > 0) r->abandon(why);
  }
}

void clear(Machine& machine, const topology::Memory& memory) {
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  System& system = machine.system();
  const MemoryWindow window = system.window_at(memory.base);
  std::vector<std::pair<uint64_t, uint64_t>> written;
  system.image().for_each_piece(window.key(), memory.base, memory.size,
                                [&](uint64_t at, uint64_t n, const MemoryImage::Extent* e, uint64_t) {
                                  if (e) written.emplace_back(at, n);
                                });
  for (auto [at, n] : written) {
    for (; n > 0;) {
      const std::vector<uint8_t> zeros(std::min(n, kPiece));
      system.place(at, zeros.data(), zeros.size());
      at += zeros.size();
      n -= zeros.size();
    }
  }
}

}  // namespace

void reset_part(Machine& machine, const std::string& id) {
  const auto& nodes = machine.graph().nodes;
  if (!is_part(machine.graph(), id))
    throw InputError("reset: found '" + id + "', expected a PE, a cube, a SIP, or an empty text for all");
  const std::string why = id.empty() ? "reset" : "reset of " + id;
  abort_launches(machine, id, why);
  for (BaseProtocolTarget* entry : machine.system().foreign_entries()) {
    if (belongs(entry->owner().id(), id)) entry->reset(why);
  }
  for (const topology::Memory& m : machine.graph().memories) {
    const auto* memory = dynamic_cast<const MemoryTarget*>(&machine.blocks().component(m.node));
    if (memory && memory->clears_at_reset() && belongs(nodes[m.node].id, id)) clear(machine, m);
  }
}

}  // namespace kernbench::launch
