// SPDX-License-Identifier: Apache-2.0
// The checked contents of a hierarchical file, with defaults; input of the builders.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/graph/mesh_plan.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/read/block_reader.h"

namespace kernbench::topology {

/// A kind of link in a template. Without a distance its length is the distance between its ends.
struct LinkSpec {
  std::string kind;
  std::optional<double> distance_mm;
  std::optional<double> bw_gbs;
  int line = 0;
  LinkProperties properties(double measured_mm = 0) const {
    return {kind, distance_mm.value_or(measured_mm), bw_gbs, line};
  }
};

struct PeComponent {
  std::string name;  ///< last word of the id; by default its kind
  Block block;
};

struct PeLink {
  size_t from = 0, to = 0;  ///< indices into components
  bool bidirectional = false;
  LinkProperties properties;
};

struct PeTemplate {
  std::vector<PeComponent> components;
  std::vector<PeLink> links;
};

/// A block with an explicit position on the cube.
struct PlacedBlock {
  Block block;
  Position at;
};

struct MeshSpec {
  uint32_t cols = 0, rows = 0;
  bool has_hole = false;
  Cell hole_first, hole_last;  ///< corners of the exclusion zone, both included
  Block router;
  LinkSpec link;
  std::vector<Cell> pe_at;  ///< router of each PE
  MeshPlan plan;            ///< computed from all this and the cube; set before anything is built
  bool is_hole(uint32_t row, uint32_t col) const {
    return has_hole && row >= hole_first.row && row <= hole_last.row && col >= hole_first.col && col <= hole_last.col;
  }
};

/// The older cube: a crossbar per PE in two chained halves, bridges at both ends, one NoC node.
struct CrossbarSpec {
  Block xbar, bridge, noc;
  LinkSpec xbar_to_xbar, xbar_to_bridge, xbar_to_noc;
};

struct UcieSpec {
  std::array<bool, kSides> ports{};
  uint32_t connections = 4;
  Block port, connection;
};

/// An attachment of a foreign initiator (kind port), equal in every cube or IO chiplet.
struct PortSpec {
  Block block;
  std::optional<Cell> router;  ///< of a mesh
  int pe = -1;                 ///< in a crossbar cube: the PE of the crossbar; -1: the NoC
  LinkSpec link;
};

struct CubeSpec {
  Position size;  ///< mm
  uint32_t pes = 0;
  // Exactly one is set; the last is a single block as NoC, of kind noc or foreign.
  std::optional<MeshSpec> mesh;
  std::optional<CrossbarSpec> crossbar;
  std::optional<Block> single;
  Block hbm;
  uint64_t hbm_slice_bytes = 0;
  std::optional<PlacedBlock> sram;
  uint64_t sram_bytes = 0;
  std::optional<PlacedBlock> m_cpu;
  std::optional<UcieSpec> ucie;
  // The fabric: the mesh's routers, the single block, or the crossbars (PEs, HBM) and the NoC node (all others).
  LinkSpec pe_dma_to_fabric, fabric_to_hbm, fabric_to_sram, fabric_to_m_cpu, fabric_to_ucie, ucie_to_port,
      m_cpu_to_pe_cpu;
  PeTemplate pe;
  std::vector<PortSpec> ports;
  int line = 0;
  size_t nodes() const;
};

struct IoChipletSpec {
  double depth_mm = 6;
  uint32_t ports = 4, connections = 4;
  Block pcie_ep, io_cpu, noc, port, connection;
  LinkSpec pcie_ep_to_noc, io_cpu_to_noc, noc_to_ucie, ucie_to_port;
  std::vector<PortSpec> foreign_ports;  ///< at its NoC
};

struct IoPlacement {
  Side side = Side::west;
  int line = 0;
};

struct SipSpec {
  uint32_t w = 1, h = 1;  ///< cubes
  double gap_mm = 1;
  LinkSpec ucie, io_ucie;
  std::vector<IoPlacement> io;
  int line = 0;
};

/// Direct links between the IO chiplets io0 of neighbouring SIPs, beside the switch.
enum class SipShape { none, ring_1d, torus_2d, mesh_2d_no_wrap };

struct TraySpec {
  uint32_t sips = 1, w = 1, h = 1;
  double gap_mm = 20;
  std::optional<Block> pcie_switch;
  LinkSpec pcie_ep_to_switch;
  SipShape shape = SipShape::none;
  LinkSpec pcie_ep_to_pcie_ep;
};

struct SystemSpec {
  TraySpec tray;
  SipSpec sip;
  IoChipletSpec io;
  CubeSpec cube;
};

/// Reads `tray`, `sip`, `io_chiplet` and `cube` of a file's top-level map. None if an error prevents building.
std::optional<SystemSpec> read_system(YamlMap& top, const ImplCatalog&);

// Its parts, with one file each.
LinkSpec read_link(YamlMap& links, const std::string& key, const char* kind, bool needs_bandwidth,
                   std::optional<double> default_distance_mm);
/// A block under its own key; if the key is absent, a builtin one without attributes.
Block read_block_at(YamlMap& map, const std::string& key, const std::string& kind, const ImplCatalog&);
CubeSpec read_cube(YamlMap& cube, const ImplCatalog&);
PeTemplate read_pe_template(YamlMap& cube, const ImplCatalog&);
/// `ports` of a cube, or, if `cube` is null, of an IO chiplet.
std::vector<PortSpec> read_ports(YamlMap& owner, const CubeSpec* cube, const ImplCatalog&);
/// Parses a router's name in a cube, such as r0c1.
std::optional<Cell> parse_cell(const std::string& text);

}  // namespace kernbench::topology
