// The cube's router mesh: a grid with an exclusion zone, horizontal links before vertical ones, which makes the
// contract's tie rule an X-then-Y routing.
#include "kernbench/platform/topology/builders.h"

namespace kernbench::topology {
namespace {

class Mesh {
 public:
  Mesh(const CubeSpec& cube, const std::string& id, Position origin, GraphBuilder& builder)
      : spec_(*cube.mesh),
        builder_(builder),
        origin_(origin),
        pitch_{whole_nm(cube.size.x_mm / spec_.cols), whole_nm(cube.size.y_mm / spec_.rows)},
        nodes_(size_t{spec_.rows} * spec_.cols, kNoNode) {
    for (uint32_t r = 0; r < spec_.rows; ++r) {
      for (uint32_t c = 0; c < spec_.cols; ++c) {
        if (!spec_.is_hole(r, c))
          nodes_[index(r, c)] = builder_.add_node(naming::router(id, r, c), spec_.router, centre(r, c));
      }
    }
    link_all(0, 1, pitch_.x_mm);
    link_all(1, 0, pitch_.y_mm);
  }

  uint32_t at(const Cell& c) const { return nodes_[index(c.row, c.col)]; }

  /// The router nearest to a place on the cube, by Manhattan distance; the first in row order of equals.
  uint32_t nearest(Position on_cube) const {
    const Position p{origin_.x_mm + on_cube.x_mm, origin_.y_mm + on_cube.y_mm};
    uint32_t best = kNoNode;
    double best_mm = 0;
    for (const uint32_t n : nodes_) {
      if (n == kNoNode) continue;
      const double mm = manhattan_mm(*builder_.graph().nodes[n].position, p);
      if (best != kNoNode && mm >= best_mm) continue;
      best = n;
      best_mm = mm;
    }
    return best;
  }

  uint32_t edge_router(Side side, uint32_t i, uint32_t n) const {
    const bool horizontal = side == Side::north || side == Side::south;
    const uint32_t along = spread(i, n, horizontal ? spec_.cols : spec_.rows);
    switch (side) {
      case Side::north:
        return nodes_[index(0, along)];
      case Side::south:
        return nodes_[index(spec_.rows - 1, along)];
      case Side::west:
        return nodes_[index(along, 0)];
      case Side::east:
        break;
    }
    return nodes_[index(along, spec_.cols - 1)];
  }

 private:
  size_t index(uint32_t row, uint32_t col) const { return size_t{row} * spec_.cols + col; }
  Position centre(uint32_t row, uint32_t col) const {
    return {origin_.x_mm + (col + 0.5) * pitch_.x_mm, origin_.y_mm + (row + 0.5) * pitch_.y_mm};
  }
  void link_all(uint32_t down, uint32_t right, double pitch_mm) {
    const LinkProperties p = spec_.link.properties(pitch_mm);
    for (uint32_t r = 0; r + down < spec_.rows; ++r) {
      for (uint32_t c = 0; c + right < spec_.cols; ++c) {
        const uint32_t a = nodes_[index(r, c)], b = nodes_[index(r + down, c + right)];
        if (a != kNoNode && b != kNoNode) builder_.add_link(a, b, p);
      }
    }
  }

  const MeshSpec& spec_;
  GraphBuilder& builder_;
  Position origin_, pitch_;
  std::vector<uint32_t> nodes_;
};

}  // namespace

CubeFabric build_mesh(const CubeSpec& cube, const std::string& id, Position origin, GraphBuilder& builder) {
  const Mesh mesh(cube, id, origin, builder);
  CubeFabric fabric;
  for (const Cell& c : cube.mesh->pe_at) fabric.pe.push_back(mesh.at(c));
  if (cube.m_cpu) fabric.m_cpu = mesh.nearest(cube.m_cpu->at);
  if (cube.sram) fabric.sram = mesh.nearest(cube.sram->at);
  if (cube.ucie) {
    for (int s = 0; s < kSides; ++s) {
      if (!cube.ucie->ports[s]) continue;
      for (uint32_t i = 0; i < cube.ucie->connections; ++i)
        fabric.ucie[s].push_back(mesh.edge_router(static_cast<Side>(s), i, cube.ucie->connections));
    }
  }
  return fabric;
}

}  // namespace kernbench::topology
