// SPDX-License-Identifier: Apache-2.0
// The part of a cube's mesh that is equal for all cubes of a system: the routers, their neighbours, and the attachments
// of PEs, memories, M_CPU and UCIe connections. Computed by build/mesh_planner.h.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/block.h"
#include "kernbench/platform/topology/graph/naming.h"

namespace kernbench::topology {

/// A router's position in the grid.
struct Cell {
  uint32_t row = 0, col = 0;
  bool operator==(const Cell& o) const { return row == o.row && col == o.col; }
};

/// Router numbers are indices into `routers`.
struct MeshPlan {
  using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
  std::vector<Cell> routers;  ///< row by row
  Pairs horizontal, vertical;
  std::vector<uint32_t> pe;  ///< router of each PE and its HBM slice
  uint32_t m_cpu = kNoNode, sram = kNoNode;
  std::array<std::vector<uint32_t>, kSides> ucie;  ///< of each connection
  bool operator==(const MeshPlan& o) const;
};

}  // namespace kernbench::topology
