// SPDX-License-Identifier: Apache-2.0
// `cube`: the fabric (mesh, crossbar or one block), and the attached blocks with their attachments.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kernbench/platform/topology/graph/address_map.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/platform/topology/read/spec.h"

namespace kernbench::topology {
namespace {

constexpr uint64_t kMostPes = 4096;
constexpr uint64_t kLongestGrid = 256;

/// The size of a memory in MiB: at least one byte.
NumberRule size_in_mib(double most) {
  return {1 / 1048576.0, most, false, "MiB"};
}

/// Bytes of a size in MiB (keys ending in _mb); fractions are rounded down.
uint64_t bytes_of_mb(double mb) {
  return static_cast<uint64_t>(mb * 1048576.0);
}

std::vector<uint64_t> read_unsigned_list(YamlMap& map, const std::string& key, size_t length, const char* legal,
                                         uint64_t min, uint64_t max) {
  const YamlNode n = map.take(key);
  std::vector<uint64_t> values;
  if (!n.is_defined()) return values;
  if (!n.is_list() || n.size() != length) {
    map.faults().add(n.line(), map.field(key), "found " + describe(n) + "; legal: " + legal);
    return values;
  }
  for (size_t i = 0; i < length; ++i) {
    const auto v = read_unsigned(n[i], fmt::format("{}[{}]", map.field(key), i), min, max, map.faults());
    if (!v) return {};
    values.push_back(*v);
  }
  return values;
}

/// The exclusion zone must not touch the outer ring, which has the UCIe ports and keeps the mesh connected.
void read_hole(YamlMap& noc, MeshSpec& mesh) {
  const auto hole =
      read_unsigned_list(noc, "exclude", 4, "a list [first column, first row, last column, last row]", 0, kLongestGrid);
  if (hole.size() != 4) return;
  mesh.hole_first = {static_cast<uint32_t>(hole[1]), static_cast<uint32_t>(hole[0])};
  mesh.hole_last = {static_cast<uint32_t>(hole[3]), static_cast<uint32_t>(hole[2])};
  mesh.has_hole = true;
  const bool inside = mesh.hole_first.row >= 1 && mesh.hole_first.col >= 1 && mesh.hole_last.row + 1 < mesh.rows &&
                      mesh.hole_last.col + 1 < mesh.cols && mesh.hole_first.row <= mesh.hole_last.row &&
                      mesh.hole_first.col <= mesh.hole_last.col;
  if (inside || mesh.rows == 0) return;
  noc.faults().add(noc.line_of_key("exclude"), noc.field("exclude"),
                   "found an exclusion zone that touches the rim of the grid; legal: first <= last, and a ring of "
                   "routers all round it");
  mesh.has_hole = false;
}

MeshSpec read_mesh(YamlMap& noc, const ImplCatalog& catalog) {
  MeshSpec mesh;
  noc.require("grid", "a list [columns, rows]");
  const auto grid = read_unsigned_list(noc, "grid", 2, "a list [columns, rows]", 1, kLongestGrid);
  if (grid.size() == 2) {
    mesh.cols = static_cast<uint32_t>(grid[0]);
    mesh.rows = static_cast<uint32_t>(grid[1]);
  }
  read_hole(noc, mesh);
  mesh.router = read_block_at(noc, "router", "router", catalog);
  return mesh;
}

/// PEs are spread over the four corners (NW, NE, SW, SE), in each over its nearest routers. If there are more PEs than
/// routers, they repeat.
std::vector<Cell> corner_layout(const MeshSpec& mesh, uint32_t count) {
  std::vector<Cell> at;
  for (uint32_t corner = 0; corner < 4; ++corner) {
    const uint32_t first = corner * count / 4, last = (corner + 1) * count / 4;
    const bool east = corner % 2 == 1, south = corner / 2 == 1;
    const uint32_t rows = (mesh.rows + 1) / 2, cols = (mesh.cols + 1) / 2;
    std::vector<Cell> cells;
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t c = 0; c < cols; ++c) {
        const Cell cell{south ? mesh.rows - 1 - r : r, east ? mesh.cols - 1 - c : c};
        if (!mesh.is_hole(cell.row, cell.col)) cells.push_back(cell);
      }
    }
    const Cell tip{south ? mesh.rows - 1 : 0, east ? mesh.cols - 1 : 0};
    const auto steps = [&](const Cell& c) {
      return std::abs(static_cast<int>(c.row) - static_cast<int>(tip.row)) +
             std::abs(static_cast<int>(c.col) - static_cast<int>(tip.col));
    };
    std::stable_sort(cells.begin(), cells.end(), [&](const Cell& a, const Cell& b) { return steps(a) < steps(b); });
    for (uint32_t i = first; i < last; ++i) at.push_back(cells[(i - first) % cells.size()]);
  }
  return at;
}

void read_pe_layout(YamlMap& cube, CubeSpec& spec) {
  const YamlNode node = cube.require("pe_layout", "a mapping with count");
  if (!node.is_defined()) return;
  YamlMap map(node, cube.field("pe_layout"), cube.faults());
  if (!map.valid()) return;
  spec.pes = static_cast<uint32_t>(map.require_unsigned("count", 1, kMostPes).value_or(0));
  const YamlNode at = map.take("at");
  map.finish();
  if (!spec.mesh) {
    if (at.is_defined()) map.faults().add(at.line(), map.field("at"), "found without a mesh; legal: with a mesh only");
    return;
  }
  MeshSpec& mesh = *spec.mesh;
  if (mesh.cols == 0 || spec.pes == 0) return;
  if (!at.is_defined()) {
    mesh.pe_at = corner_layout(mesh, spec.pes);
    return;
  }
  if (!at.is_list() || at.size() != spec.pes) {
    map.faults().add(at.line(), map.field("at"),
                     "found " + (at.is_list() ? std::to_string(at.size()) + " routers" : describe(at)) +
                         "; legal: a list of " + std::to_string(spec.pes) + " routers, one a PE (pe_layout.count)");
    return;
  }
  for (size_t i = 0; i < at.size(); ++i) {
    const auto cell = at[i].is_scalar() ? parse_cell(std::string(at[i].text())) : std::nullopt;
    if (cell && cell->row < mesh.rows && cell->col < mesh.cols && !mesh.is_hole(cell->row, cell->col)) {
      mesh.pe_at.push_back(*cell);
      continue;
    }
    map.faults().add(at[i].line(), fmt::format("{}[{}]", map.field("at"), i),
                     "found " + describe(at[i]) + "; legal: a router such as r0c1, below r" +
                         std::to_string(mesh.rows) + "c" + std::to_string(mesh.cols) +
                         " and outside the exclusion zone");
  }
}

/// `key: {at_mm: [x, y], impl, attrs}`; none if the key is absent. `more` reads further keys.
template <typename More>
std::optional<PlacedBlock> read_placed(YamlMap& cube, const std::string& key, const std::string& kind, Position size,
                                       const ImplCatalog& catalog, const More& more) {
  const YamlNode node = cube.take(key);
  if (!node.is_defined()) return std::nullopt;
  YamlMap map(node, cube.field(key), cube.faults());
  if (!map.valid()) return std::nullopt;
  PlacedBlock placed;
  placed.block = read_block(map, kind, catalog);
  const auto at = map.pair("at_mm", NumberRule::not_negative("mm", 1e4));
  placed.at = at ? Position{at->first, at->second} : Position{size.x_mm / 2, size.y_mm / 2};
  if (placed.at.x_mm > size.x_mm || placed.at.y_mm > size.y_mm)
    cube.faults().add(map.line_of_key("at_mm"), map.field("at_mm"),
                      "found a place outside the cube; legal: within cube.size_mm [" + number_text(size.x_mm) + ", " +
                          number_text(size.y_mm) + "]");
  more(map);
  map.finish();
  return placed;
}

void read_ucie(YamlMap& cube, const ImplCatalog& catalog, CubeSpec& spec) {
  const YamlNode node = cube.take("ucie");
  if (!node.is_defined()) return;
  YamlMap map(node, cube.field("ucie"), cube.faults());
  if (!map.valid()) return;
  UcieSpec ucie;
  const YamlNode ports = map.take("ports");
  if (!ports.is_defined()) {
    ucie.ports.fill(true);
  } else if (!ports.is_list() || ports.size() > kSides) {
    map.faults().add(ports.line(), map.field("ports"), "found " + describe(ports) + "; legal: a list of N, E, S, W");
  } else {
    for (const YamlItem& port : ports) {
      const YamlNode p = port.value;
      const size_t side =
          p.is_scalar() && p.text().size() == 1 ? std::string("NESW").find(p.text()[0]) : std::string::npos;
      if (side == std::string::npos)
        map.faults().add(p.line(), map.field("ports"), "found " + describe(p) + "; legal: N, E, S, W");
      else
        ucie.ports[side] = true;
    }
  }
  ucie.connections = static_cast<uint32_t>(map.unsigned_or("connections", 4, 1, 64));
  ucie.port = read_block_at(map, "port", "ucie", catalog);
  ucie.connection = read_block_at(map, "connection", "ucie", catalog);
  map.finish();
  spec.ucie = ucie;
}

void read_links(YamlMap& cube, CubeSpec& spec) {
  const YamlNode node = cube.require("links", "a mapping of links to {distance_mm, bw_gbs}");
  if (!node.is_defined()) return;
  YamlMap links(node, cube.field("links"), cube.faults());
  if (!links.valid()) return;
  const bool mesh = spec.mesh.has_value();
  const std::string pe_side = mesh ? "router" : spec.single ? "noc" : "xbar", other_side = mesh ? "router" : "noc";
  using namespace edge_kind;
  if (mesh) {
    spec.mesh->link = read_link(links, "router_to_router", kMesh, true, std::nullopt);
  } else if (spec.crossbar) {
    spec.crossbar->xbar_to_xbar = read_link(links, "xbar_to_xbar", kMesh, true, std::nullopt);
    spec.crossbar->xbar_to_bridge = read_link(links, "xbar_to_bridge", kMesh, true, std::nullopt);
    spec.crossbar->xbar_to_noc = read_link(links, "xbar_to_noc", kMesh, true, std::nullopt);
  }
  spec.pe_dma_to_fabric = read_link(links, "pe_dma_to_" + pe_side, kPe, true, 0.0);
  spec.fabric_to_hbm = read_link(links, pe_side + "_to_hbm", kMemory, true, 0.0);
  if (spec.sram) spec.fabric_to_sram = read_link(links, other_side + "_to_sram", kMemory, true, std::nullopt);
  if (spec.m_cpu) {
    spec.fabric_to_m_cpu = read_link(links, other_side + "_to_m_cpu", kMCpu, true, std::nullopt);
    spec.m_cpu_to_pe_cpu = read_link(links, "m_cpu_to_pe_cpu", kCommand, false, std::nullopt);
  }
  if (spec.ucie) {
    spec.fabric_to_ucie = read_link(links, other_side + "_to_ucie", kUcie, true, std::nullopt);
    spec.ucie_to_port = read_link(links, "ucie_to_port", kUcie, true, std::nullopt);
  }
  links.finish();
}

void read_fabric(YamlMap& cube, const ImplCatalog& catalog, CubeSpec& spec) {
  const YamlNode node = cube.require("noc", "a mapping with type: mesh, crossbar, single or foreign");
  if (!node.is_defined()) return;
  YamlMap noc(node, cube.field("noc"), cube.faults());
  if (!noc.valid()) return;
  noc.require("type", "mesh, crossbar, single, foreign");
  const auto type = noc.choice("type", {"mesh", "crossbar", "single", "foreign"});
  if (type == size_t{0}) spec.mesh = read_mesh(noc, catalog);
  if (type == size_t{1}) {
    spec.crossbar.emplace();
    spec.crossbar->xbar = read_block_at(noc, "xbar", "xbar", catalog);
    spec.crossbar->bridge = read_block_at(noc, "bridge", "bridge", catalog);
    spec.crossbar->noc = read_block_at(noc, "noc", "noc", catalog);
  }
  if (type == size_t{2}) spec.single = read_block_at(noc, "noc", "noc", catalog);
  if (type == size_t{3}) spec.single = read_block(noc, "foreign", catalog);
  if (type) noc.finish();
}

void read_memories(YamlMap& cube, const ImplCatalog& catalog, CubeSpec& spec) {
  const YamlNode node = cube.require("hbm", "a mapping with slice_mb, impl and attrs");
  if (node.is_defined()) {
    YamlMap hbm(node, cube.field("hbm"), cube.faults());
    if (hbm.valid()) {
      spec.hbm = read_block(hbm, "hbm_ctrl", catalog);
      spec.hbm_slice_bytes = bytes_of_mb(hbm.require_number("slice_mb", size_in_mib(131072)).value_or(0));
      if (spec.hbm_slice_bytes * spec.pes > kHbmWindowSize)
        cube.faults().add(hbm.line_of_key("slice_mb"), hbm.field("slice_mb"),
                          fmt::format("found {} slices of {} bytes; legal: at most 128 GiB a cube (address map)",
                                      spec.pes, spec.hbm_slice_bytes));
      hbm.finish();
    }
  }
  spec.sram = read_placed(cube, "sram", "sram", spec.size, catalog, [&](YamlMap& map) {
    spec.sram_bytes = bytes_of_mb(map.require_number("size_mb", size_in_mib(32768)).value_or(0));
  });
}

}  // namespace

std::optional<Cell> parse_cell(const std::string& text) {
  Cell cell;
  const char* end = text.data() + text.size();
  if (text.empty() || text[0] != 'r') return std::nullopt;
  const auto row = std::from_chars(text.data() + 1, end, cell.row);
  if (row.ec != std::errc() || row.ptr == end || *row.ptr != 'c') return std::nullopt;
  const auto col = std::from_chars(row.ptr + 1, end, cell.col);
  if (col.ec != std::errc() || col.ptr != end) return std::nullopt;
  return cell;
}

size_t CubeSpec::nodes() const {
  size_t n = (mesh ? size_t{mesh->cols} * mesh->rows : pes + 3) + ports.size();
  n += size_t{pes} * (1 + pe.components.size()) + 2;
  if (ucie) n += kSides * (1 + size_t{ucie->connections});
  return n;
}

CubeSpec read_cube(YamlMap& cube, const ImplCatalog& catalog) {
  CubeSpec spec;
  spec.line = cube.line();
  cube.require("size_mm", "a list [width, height] (mm)");
  const auto size = cube.pair("size_mm", NumberRule::positive("mm", 1e4));
  if (size) spec.size = {size->first, size->second};
  read_fabric(cube, catalog, spec);
  read_pe_layout(cube, spec);
  read_memories(cube, catalog, spec);
  spec.m_cpu = read_placed(cube, "m_cpu", "m_cpu", spec.size, catalog, [](YamlMap&) {});
  read_ucie(cube, catalog, spec);
  read_links(cube, spec);
  spec.pe = read_pe_template(cube, catalog);
  spec.ports = read_ports(cube, &spec, catalog);
  cube.finish();
  return spec;
}

}  // namespace kernbench::topology
