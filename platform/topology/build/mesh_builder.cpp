// SPDX-License-Identifier: Apache-2.0
// The cube's router mesh: a grid with an exclusion zone. Horizontal links come before vertical ones, so the tie rule of
// the timing rules gives X-then-Y routing.
#include "kernbench/platform/topology/build/builders.h"

namespace kernbench::topology {
namespace {

Position pitch_of(const CubeSpec& cube) {
  return {whole_nm(cube.size.x_mm / cube.mesh->cols), whole_nm(cube.size.y_mm / cube.mesh->rows)};
}

}  // namespace

Position router_centre(const CubeSpec& cube, const Cell& c) {
  const Position pitch = pitch_of(cube);
  return {(c.col + 0.5) * pitch.x_mm, (c.row + 0.5) * pitch.y_mm};
}

CubeFabric build_mesh(const CubeSpec& cube, const std::string& id, Position origin, GraphBuilder& builder) {
  const MeshPlan& plan = cube.mesh->plan;
  std::vector<uint32_t> nodes;
  for (const Cell& c : plan.routers) {
    const Position at = router_centre(cube, c);
    nodes.push_back(builder.add_node(naming::router(id, c.row, c.col), cube.mesh->router,
                                     Position{origin.x_mm + at.x_mm, origin.y_mm + at.y_mm}));
  }
  const Position pitch = pitch_of(cube);
  for (const auto& [a, b] : plan.horizontal)
    builder.add_link(nodes[a], nodes[b], cube.mesh->link.properties(pitch.x_mm));
  for (const auto& [a, b] : plan.vertical) builder.add_link(nodes[a], nodes[b], cube.mesh->link.properties(pitch.y_mm));

  CubeFabric fabric;
  for (const uint32_t r : plan.pe) fabric.pe.push_back(nodes[r]);
  if (plan.m_cpu != kNoNode) fabric.m_cpu = nodes[plan.m_cpu];
  if (plan.sram != kNoNode) fabric.sram = nodes[plan.sram];
  for (int s = 0; s < kSides; ++s)
    for (const uint32_t r : plan.ucie[s]) fabric.ucie[s].push_back(nodes[r]);
  return fabric;
}

}  // namespace kernbench::topology
