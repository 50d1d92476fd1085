// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/build/mesh_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "kernbench/platform/topology/build/builders.h"

namespace kernbench::topology {
namespace {

std::string exact(double v) {
  return fmt::format(" {:.17g}", v);
}

/// Row by row, without the exclusion zone.
std::vector<Cell> routers_of(const MeshSpec& mesh) {
  std::vector<Cell> routers;
  for (uint32_t r = 0; r < mesh.rows; ++r) {
    for (uint32_t c = 0; c < mesh.cols; ++c) {
      if (!mesh.is_hole(r, c)) routers.push_back({r, c});
    }
  }
  return routers;
}

class Planner {
 public:
  explicit Planner(const CubeSpec& cube)
      : cube_(cube), mesh_(*cube.mesh), numbers_(size_t{mesh_.rows} * mesh_.cols, kNoNode) {}

  MeshPlan plan() {
    plan_.routers = routers_of(mesh_);
    for (uint32_t n = 0; n < plan_.routers.size(); ++n) numbers_[index(plan_.routers[n].row, plan_.routers[n].col)] = n;
    plan_.horizontal = neighbours(0, 1);
    plan_.vertical = neighbours(1, 0);
    for (const Cell& c : mesh_.pe_at) plan_.pe.push_back(numbers_[index(c.row, c.col)]);
    if (cube_.m_cpu) plan_.m_cpu = nearest(cube_.m_cpu->at);
    if (cube_.sram) plan_.sram = nearest(cube_.sram->at);
    if (cube_.ucie) {
      for (int s = 0; s < kSides; ++s) {
        if (!cube_.ucie->ports[s]) continue;
        for (uint32_t i = 0; i < cube_.ucie->connections; ++i)
          plan_.ucie[s].push_back(edge_router(static_cast<Side>(s), i, cube_.ucie->connections));
      }
    }
    return std::move(plan_);
  }

 private:
  size_t index(uint32_t row, uint32_t col) const { return size_t{row} * mesh_.cols + col; }

  MeshPlan::Pairs neighbours(uint32_t down, uint32_t right) const {
    MeshPlan::Pairs pairs;
    for (uint32_t r = 0; r + down < mesh_.rows; ++r) {
      for (uint32_t c = 0; c + right < mesh_.cols; ++c) {
        const uint32_t a = numbers_[index(r, c)], b = numbers_[index(r + down, c + right)];
        if (a != kNoNode && b != kNoNode) pairs.emplace_back(a, b);
      }
    }
    return pairs;
  }

  /// The router nearest to a position on the cube by Manhattan distance; among equal ones the first in row order.
  uint32_t nearest(Position p) const {
    uint32_t best = 0;
    double best_mm = 0;
    for (uint32_t n = 0; n < plan_.routers.size(); ++n) {
      const double mm = manhattan_mm(router_centre(cube_, plan_.routers[n]), p);
      if (n > 0 && mm >= best_mm) continue;
      best = n;
      best_mm = mm;
    }
    return best;
  }

  uint32_t edge_router(Side side, uint32_t i, uint32_t n) const {
    const bool along_x = side == Side::north || side == Side::south;
    const uint32_t along = spread(i, n, along_x ? mesh_.cols : mesh_.rows);
    if (along_x) return numbers_[index(side == Side::north ? 0 : mesh_.rows - 1, along)];
    return numbers_[index(along, side == Side::west ? 0 : mesh_.cols - 1)];
  }

  const CubeSpec& cube_;
  const MeshSpec& mesh_;
  std::vector<uint32_t> numbers_;  // by grid cell
  MeshPlan plan_;
};

}  // namespace

bool MeshPlan::operator==(const MeshPlan& o) const {
  const auto tie = [](const MeshPlan& p) {
    return std::tie(p.routers, p.horizontal, p.vertical, p.pe, p.m_cpu, p.sram, p.ucie);
  };
  return tie(*this) == tie(o);
}

std::string mesh_key(const CubeSpec& cube) {
  const MeshSpec& m = *cube.mesh;
  const auto number = [](uint32_t v) { return " " + std::to_string(v); };
  std::string key = "size" + exact(cube.size.x_mm) + exact(cube.size.y_mm) + " grid" + number(m.cols) + number(m.rows);
  if (m.has_hole)
    key += " exclude" + number(m.hole_first.col) + number(m.hole_first.row) + number(m.hole_last.col) +
           number(m.hole_last.row);
  key += " pe";
  for (const Cell& c : m.pe_at) key += fmt::format(" r{}c{}", c.row, c.col);
  if (cube.m_cpu) key += " m_cpu" + exact(cube.m_cpu->at.x_mm) + exact(cube.m_cpu->at.y_mm);
  if (cube.sram) key += " sram" + exact(cube.sram->at.x_mm) + exact(cube.sram->at.y_mm);
  if (cube.ucie) {
    key += " ucie" + number(cube.ucie->connections) + " ";
    for (int s = 0; s < kSides; ++s)
      if (cube.ucie->ports[s]) key += letter_of(static_cast<Side>(s));
  }
  return key;
}

MeshPlan plan_mesh(const CubeSpec& cube) {
  return Planner(cube).plan();
}

bool fits(const MeshPlan& plan, const CubeSpec& cube) {
  for (const auto* links : {&plan.horizontal, &plan.vertical}) {
    if (!std::all_of(links->begin(), links->end(), [](const auto& link) { return link.first < link.second; }))
      return false;
  }
  for (int s = 0; s < kSides; ++s) {
    const size_t connections = cube.ucie && cube.ucie->ports[s] ? cube.ucie->connections : 0;
    if (plan.ucie[s].size() != connections) return false;
  }
  return plan.routers == routers_of(*cube.mesh) && plan.pe.size() == cube.mesh->pe_at.size() &&
         (plan.m_cpu != kNoNode) == cube.m_cpu.has_value() && (plan.sram != kNoNode) == cube.sram.has_value();
}

}  // namespace kernbench::topology
