// SPDX-License-Identifier: Apache-2.0
// The older cube: one crossbar per PE, in two chained halves with a bridge at each end. One NoC node joins all
// crossbars with UCIe, M_CPU and SRAM.
#include "kernbench/platform/topology/build/builders.h"

namespace kernbench::topology {

Position place_of_pe(const CubeSpec& cube, Position origin, uint32_t pe) {
  const uint32_t half = (cube.pes + 1) / 2;
  const double column = (pe % half + 0.5) * (cube.size.x_mm / half);
  return {origin.x_mm + column, origin.y_mm + (pe < half ? 0.3 : 0.7) * cube.size.y_mm};
}

CubeFabric build_crossbar(const CubeSpec& cube, const std::string& id, Position origin, GraphBuilder& builder) {
  const CrossbarSpec& spec = *cube.crossbar;
  const uint32_t half = (cube.pes + 1) / 2;  // PEs 0 .. half-1 are in the north, the others in the south
  const double column_mm = cube.size.x_mm / half;
  const auto place = [&](double column, double share_of_height) {
    return Position{origin.x_mm + (column + 0.5) * column_mm, origin.y_mm + share_of_height * cube.size.y_mm};
  };

  CubeFabric fabric;
  for (uint32_t p = 0; p < cube.pes; ++p) {
    fabric.pe.push_back(builder.add_node(naming::xbar(id, p), spec.xbar, place_of_pe(cube, origin, p)));
  }
  const uint32_t south = cube.pes - half;
  std::vector<std::pair<uint32_t, uint32_t>> bridged;  // columns
  if (south > 0) bridged.emplace_back(0, 0);
  if (south > 1) bridged.emplace_back(half - 1, south - 1);
  std::vector<uint32_t> bridges;
  for (uint32_t b = 0; b < bridged.size(); ++b)
    bridges.push_back(builder.add_node(naming::bridge(id, b), spec.bridge, place(bridged[b].first, 0.5)));
  const uint32_t noc = builder.add_node(naming::noc(id), spec.noc, place((half - 1) / 2.0, 0.5));

  const auto gap_mm = [&](uint32_t a, uint32_t b) {
    return manhattan_mm(*builder.graph().nodes[a].position, *builder.graph().nodes[b].position);
  };
  const auto link = [&](uint32_t a, uint32_t b, const LinkSpec& l) {
    builder.add_link(a, b, l.properties(gap_mm(a, b)));
  };
  for (uint32_t p = 0; p + 1 < cube.pes; ++p) {
    if (p + 1 != half) link(fabric.pe[p], fabric.pe[p + 1], spec.xbar_to_xbar);
  }
  for (uint32_t b = 0; b < bridges.size(); ++b) {
    link(fabric.pe[bridged[b].first], bridges[b], spec.xbar_to_bridge);
    link(bridges[b], fabric.pe[half + bridged[b].second], spec.xbar_to_bridge);
  }
  for (const uint32_t x : fabric.pe) link(x, noc, spec.xbar_to_noc);

  fabric.attach_rest(cube, noc);
  return fabric;
}

}  // namespace kernbench::topology
