// The part of a cube's mesh that follows from its description alone and is the same for every cube of a system: which
// routers there are, which are neighbours, and where PEs, memories, M_CPU and UCIe connections attach.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph_builder.h"
#include "kernbench/platform/topology/naming.h"

namespace kernbench::topology {

struct CubeSpec;

/// A router's place in the grid.
struct Cell {
  uint32_t row = 0, col = 0;
  bool operator==(const Cell& o) const { return row == o.row && col == o.col; }
};

/// Routers are numbered by their place in `routers`.
struct MeshPlan {
  using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
  std::vector<Cell> routers;  ///< row by row
  Pairs horizontal, vertical;
  std::vector<uint32_t> pe;  ///< router of each PE and its HBM slice
  uint32_t m_cpu = kNoNode, sram = kNoNode;
  std::array<std::vector<uint32_t>, kSides> ucie;  ///< of each connection
  bool operator==(const MeshPlan& o) const;
};

/// Everything that a plan depends on, in one line: equal lines mean equal plans.
std::string mesh_key(const CubeSpec&);
/// The cube must have a mesh.
MeshPlan plan_mesh(const CubeSpec&);

}  // namespace kernbench::topology
