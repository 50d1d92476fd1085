// SPDX-License-Identifier: Apache-2.0
// The PEs of an elaborated topology: the shared state of each PE's blocks, and the connections between them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernbench/platform/elaborate/elaboration.h"
#include "kernbench/platform/elaborate/routes.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/systemc_models/pe/pe.h"
#include "kernbench/systemc_models/pe/pe_assembly.h"

namespace kernbench::phase2 {
class CommandHistory;
}
namespace kernbench::pe {
class KernelRunner;
}
namespace kernbench::memory {
class System;
}

namespace kernbench::elaborate {

class ForeignNode;

/// PEs with a pe_dma, in compiled order (as Graph::pes).
class Pes {
 public:
  /// Binds the blocks of each PE along the edges between them. InputError, one line, if a block's class lacks a role
  /// that its kind needs (systemc_models/pe/pe_assembly.h).
  Pes(const topology::Graph& graph, const Elaboration& blocks, Routes& routes, System& system);

  size_t count() const { return pes_.size(); }
  Pe& pe(size_t index) const { return *pes_[index]; }
  /// True if all blocks that a kernel needs exist.
  bool complete(size_t pe) const { return pes_[pe]->runner != nullptr; }
  /// "pe_gemm, pe_tcm" for an incomplete PE.
  std::string missing_blocks(size_t pe) const;
  /// Runs kernels on a complete PE.
  KernelRunner& runner(size_t pe) const;
  /// The nearest memory of kind hbm to a PE's DMA, in its cube if there is one: its own slice in the usual systems.
  /// Among equally near ones (PEs at one router), each PE takes the one that the fewest earlier PEs have. Returns an
  /// index into graph().memories.
  size_t local_memory(size_t pe) const;

  /// Records the commands and waits of all kernels in a history (null: none). Not during a simulation.
  void attach_history(CommandHistory* history) const;

 private:
  void build(uint32_t pe);
  PeParts parts_of(size_t pe) const;
  void set_place(Pe&, uint32_t index);
  void lead_past_foreign_nodes(const topology::PeEdge&);
  ForeignNode& foreign_at(uint32_t node) const;
  void find_local_memories() const;
  using Nearest = std::vector<std::vector<size_t>>;  ///< memories, by PE
  void find_nearest(const std::vector<size_t>& memories, const std::vector<size_t>& pes, Nearest& found) const;
  std::vector<size_t> nearest_by_rule(size_t pe, const std::vector<size_t>& memories) const;
  static constexpr size_t kNoMemory = ~size_t{0};

  const topology::Graph& graph_;
  const Elaboration& blocks_;
  Routes& routes_;
  System& system_;
  std::map<std::string, uint32_t> cubes_;                           ///< by id, numbered by first appearance
  std::unordered_map<std::string, const topology::Memory*> srams_;  ///< the first in each scope, by the scope's id
  std::vector<std::unique_ptr<Pe>> pes_;
  mutable std::vector<size_t> local_memories_;           ///< by PE; computed on first use
  mutable std::vector<std::vector<uint32_t>> in_edges_;  ///< by node; only during the search
};

}  // namespace kernbench::elaborate
