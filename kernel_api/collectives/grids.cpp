// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/collectives/grids.h"

#include <numeric>

namespace kernbench::ccl {

Grid whole_grid(const LaunchShape& launch, Axis axis) {
  if (axis == Axis::cube) return {launch.cubes.w, launch.cubes.h};
  if (axis == Axis::rank) return {launch.ranks.w, launch.ranks.h};
  const LaunchShape::Grid pes = launch.grid_of_pes();
  return {pes.w, pes.h};
}

Grid pe_grid(int64_t pes) {
  const LaunchShape::Grid g = LaunchShape::Grid::near_square(pes);
  return {g.w, g.h};
}

Grid grid_of(const LaunchShape& launch, Axis axis, const Members& members) {
  const auto n = static_cast<int64_t>(members.size());
  const Grid whole = whole_grid(launch, axis);
  return whole.cells() == n ? whole : Grid{n, 1};
}

std::vector<int64_t> ring_order(const LaunchShape& launch, Axes over, const Members& members) {
  std::vector<int64_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  if (over.count() != 1) return order;
  const Axis axis = over.only();
  if (axis == Axis::rank && (launch.tray == "ring_1d" || launch.tray == "none")) return order;
  const Grid g = grid_of(launch, axis, members);
  for (int64_t p = 0; p < g.cells(); ++p) {
    const int64_t x = g.x(p), y = g.y(p);
    order[static_cast<size_t>(p)] = g.cell(y % 2 == 0 ? x : g.w - 1 - x, y);
  }
  return order;
}

}  // namespace kernbench::ccl
