// SPDX-License-Identifier: Apache-2.0
// Builds nodes and edges from a checked description, level by level, with one file per level.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernbench/platform/topology/build/graph_builder.h"
#include "kernbench/platform/topology/read/spec.h"

namespace kernbench::topology {

/// The attachment points of a cube's fabric. Attachment nodes exist already.
struct CubeFabric {
  std::vector<uint32_t> pe;  ///< router or crossbar of each PE and its HBM slice
  uint32_t m_cpu = kNoNode;
  uint32_t sram = kNoNode;
  std::array<std::vector<uint32_t>, kSides> ucie;  ///< per side and connection
  /// Attaches all but the PEs to one block.
  void attach_rest(const CubeSpec& cube, uint32_t block) {
    m_cpu = sram = block;
    if (!cube.ucie) return;
    for (auto& side : ucie) side.assign(cube.ucie->connections, block);
  }
};

/// The cube's number and its top left corner (mm).
struct CubePlace {
  uint32_t sip = 0, cube = 0;
  Position origin;
};

/// A cube's ports, for the SIP.
struct CubePorts {
  std::array<uint32_t, kSides> ucie{kNoNode, kNoNode, kNoNode, kNoNode};
};

struct IoChipletPlace {
  uint32_t sip = 0, index = 0;
  Side side = Side::west;  ///< side of the cube grid
  Position first, last;    ///< ends of the line of ports along the shore
};

struct IoChipletNodes {
  uint32_t pcie_ep = kNoNode;
  std::vector<uint32_t> ports;
};

/// A SIP's outline.
Position size_of_sip(const SystemSpec&);

/// Relative to the cube's top left corner (mm).
Position router_centre(const CubeSpec&, const Cell&);
CubeFabric build_mesh(const CubeSpec&, const std::string& cube, Position origin, GraphBuilder&);
CubeFabric build_crossbar(const CubeSpec&, const std::string& cube, Position origin, GraphBuilder&);
CubeFabric build_single(const CubeSpec&, const std::string& cube, Position origin, GraphBuilder&);
/// Without a mesh: PEs are in two rows; the first half is in the north.
Position place_of_pe(const CubeSpec&, Position origin, uint32_t pe);
/// Places the PE's blocks around `centre`; returns node indices in the template's order.
std::vector<uint32_t> build_pe(const PeTemplate&, const std::string& pe, Position centre, double pitch_mm,
                               GraphBuilder&);
CubePorts build_cube(const CubeSpec&, const CubePlace&, GraphBuilder&);
IoChipletNodes build_io_chiplet(const IoChipletSpec&, const IoChipletPlace&, GraphBuilder&);
/// Returns the PCIe endpoints of its IO chiplets.
std::vector<uint32_t> build_sip(const SystemSpec&, uint32_t sip, Position origin, GraphBuilder&);
void build_system(const SystemSpec&, GraphBuilder&);

/// Positions in whole nanometres, so that printed distances equal those used in routing.
double manhattan_mm(const Position& a, const Position& b);
double whole_nm(double mm);
/// Spreads n connections evenly over the routers of an edge: index of connection i among `count`.
uint32_t spread(uint32_t i, uint32_t n, uint32_t count);

}  // namespace kernbench::topology
