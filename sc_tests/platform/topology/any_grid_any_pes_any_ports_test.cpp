// SPDX-License-Identifier: Apache-2.0
// Cubes of every shape: odd grids, with and without an exclusion zone, any number of PEs, any subset of UCIe ports.
// This test counts names, nodes, attachments and routes independently of the builders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernbench/platform/topology/build/compiler.h"
#include "kernbench/platform/topology/route/path_router.h"
#include "kernbench/sc_tests/platform/topology/test_catalog.h"

namespace kernbench::topology::any_grid_any_pes_any_ports {
namespace {

const testing::TestCatalog catalog;

struct Shape {
  int cols = 1, rows = 1;
  std::vector<int> hole = {};  // first column, first row, last column, last row
  int pes = 1;
  std::string ports = "NESW";
  int connections = 4;
  int w = 1, h = 1;  // cubes

  bool in_hole(int row, int col) const {
    return !hole.empty() && col >= hole[0] && row >= hole[1] && col <= hole[2] && row <= hole[3];
  }
  int routers() const {
    int n = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) n += !in_hole(r, c);
    return n;
  }
  std::string name() const {
    std::ostringstream s;
    s << cols << "x" << rows << (hole.empty() ? "" : "_hole") << "_" << pes << "pes_" << (ports.empty() ? "-" : ports)
      << connections << "_" << w << "x" << h;
    return s.str();
  }
  std::string yaml() const {
    std::ostringstream s;
    s << "tray: {sips: {count: 1}}\nsip:\n  cubes: {w: " << w << ", h: " << h
      << "}\n  links: {ucie: {distance_mm: 1, bw_gbs: 512}}\ncube:\n  size_mm: [" << 2 * cols << ", " << 3 * rows
      << "]\n  noc: {type: mesh, grid: [" << cols << ", " << rows << "]";
    if (!hole.empty()) s << ", exclude: [" << hole[0] << ", " << hole[1] << ", " << hole[2] << ", " << hole[3] << "]";
    s << "}\n  pe_layout: {count: " << pes << "}\n  hbm: {slice_mb: 1}\n"
      << "  sram: {size_mb: 1, at_mm: [0.1, 0.1]}\n  m_cpu: {at_mm: [" << 2 * cols << ", " << 3 * rows << "]}\n"
      << "  ucie: {connections: " << connections << ", ports: [";
    for (size_t i = 0; i < ports.size(); ++i) s << (i ? ", " : "") << ports[i];
    s << "]}\n  links:\n    router_to_router: {bw_gbs: 256}\n    pe_dma_to_router: {distance_mm: 0.5, bw_gbs: 256}\n"
      << "    router_to_hbm: {distance_mm: 0.25, bw_gbs: 256}\n    router_to_sram: {bw_gbs: 128}\n"
      << "    router_to_m_cpu: {bw_gbs: 128}\n    router_to_ucie: {bw_gbs: 128}\n    ucie_to_port: {bw_gbs: 128}\n"
      << "    m_cpu_to_pe_cpu: {}\n  pe_template:\n    components: {pe_cpu: {}, pe_dma: {}}\n"
      << "    links: [{from: pe_cpu, to: pe_dma}]\n";
    return s.str();
  }
};

void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.name();
}

class Cube : public ::testing::TestWithParam<Shape> {
 protected:
  Cube() : shape_(GetParam()), graph_(compile_text(shape_.yaml(), "t.yaml", catalog)) {}
  uint32_t node(const std::string& id) const { return graph_.index_of.at(id); }
  std::vector<std::string> along(PathRouter& router, const std::string& a, const std::string& b) const {
    std::vector<std::string> ids;
    for (const uint32_t e : router.find_path(node(a), node(b))) ids.push_back(graph_.nodes[graph_.edges[e].to].id);
    return ids;
  }
  std::string neighbour(const std::string& id) const {
    return graph_.nodes[graph_.edges[graph_.out_edges[node(id)][0]].to].id;
  }

  Shape shape_;
  Graph graph_;
};

TEST_P(Cube, has_the_nodes_that_its_description_names_and_no_others) {
  std::set<std::string> expected;
  for (int cube = 0; cube < shape_.w * shape_.h; ++cube) {
    const std::string id = "sip0.cube" + std::to_string(cube) + ".";
    for (int r = 0; r < shape_.rows; ++r)
      for (int c = 0; c < shape_.cols; ++c)
        if (!shape_.in_hole(r, c)) expected.insert(id + "r" + std::to_string(r) + "c" + std::to_string(c));
    for (int p = 0; p < shape_.pes; ++p) {
      const std::string pe = "pe" + std::to_string(p);
      expected.insert({id + "hbm_ctrl." + pe, id + pe + ".pe_cpu", id + pe + ".pe_dma"});
    }
    expected.insert({id + "m_cpu", id + "sram"});
    for (const char side : shape_.ports) {
      const std::string port = id + "ucie-" + side;
      expected.insert(port);
      for (int i = 0; i < shape_.connections; ++i) expected.insert(port + ".conn" + std::to_string(i));
    }
  }
  std::set<std::string> found;
  for (const Node& n : graph_.nodes) found.insert(n.id);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(graph_.nodes.size(), expected.size());
}

TEST_P(Cube, has_the_links_that_its_parts_add_up_to) {
  int mesh = 0;
  for (int r = 0; r < shape_.rows; ++r) {
    for (int c = 0; c < shape_.cols; ++c) {
      if (shape_.in_hole(r, c)) continue;
      mesh += c + 1 < shape_.cols && !shape_.in_hole(r, c + 1);
      mesh += r + 1 < shape_.rows && !shape_.in_hole(r + 1, c);
    }
  }
  const int ports = static_cast<int>(shape_.ports.size());
  // PE and slice, commands, inside the PE; M_CPU and SRAM; a connection's two ends.
  const int of_cube = mesh + 4 * shape_.pes + 2 + 2 * ports * shape_.connections;
  const auto has = [&](char side) { return shape_.ports.find(side) != std::string::npos; };
  const int across =
      (has('E') && has('W') ? (shape_.w - 1) * shape_.h : 0) + (has('N') && has('S') ? shape_.w * (shape_.h - 1) : 0);
  EXPECT_EQ(graph_.edges.size(), 2u * static_cast<size_t>(shape_.w * shape_.h * of_cube + across));
}

TEST_P(Cube, attaches_blocks_to_the_nearest_router_and_connections_to_their_side) {
  const std::string id = "sip0.cube0.";
  const auto cell = [&](int r, int c) { return id + "r" + std::to_string(r) + "c" + std::to_string(c); };
  EXPECT_EQ(neighbour(id + "sram"), cell(0, 0));
  EXPECT_EQ(neighbour(id + "m_cpu"), cell(shape_.rows - 1, shape_.cols - 1));
  for (const char side : shape_.ports) {
    const bool along_x = side == 'N' || side == 'S';
    const int count = along_x ? shape_.cols : shape_.rows;
    std::vector<int> taken(static_cast<size_t>(count), 0);
    int last = 0;
    for (int i = 0; i < shape_.connections; ++i) {
      const std::string router = neighbour(id + "ucie-" + side + ".conn" + std::to_string(i));
      int at = -1;
      for (int k = 0; k < count; ++k) {
        const bool far = side == 'S' || side == 'E';
        const int edge = far ? (along_x ? shape_.rows : shape_.cols) - 1 : 0;
        if (router == (along_x ? cell(edge, k) : cell(k, edge))) at = k;
      }
      ASSERT_GE(at, last) << "in order along the side: " << router;
      last = at;
      ++taken[static_cast<size_t>(at)];
    }
    const auto [least, most] = std::minmax_element(taken.begin(), taken.end());
    EXPECT_LE(*most - *least, 1) << "evenly over side " << side;
  }
}

TEST_P(Cube, puts_pes_round_the_corners) {
  int quarter[4] = {};
  for (int p = 0; p < shape_.pes; ++p) {
    const std::string pe = "sip0.cube0.pe" + std::to_string(p) + ".pe_dma";
    std::string router;
    for (const uint32_t e : graph_.out_edges[node(pe)]) {
      const Node& to = graph_.nodes[graph_.edges[e].to];
      if (to.kind == "router") router = to.id;
    }
    EXPECT_EQ(neighbour("sip0.cube0.hbm_ctrl.pe" + std::to_string(p)), router) << "its slice is behind its router";
    const size_t r = router.rfind('r') + 1, c = router.rfind('c') + 1;
    const int row = std::atoi(router.c_str() + r), col = std::atoi(router.c_str() + c);
    int corner = 0;  // NW, NE, SW, SE, a quarter of the PEs each
    while ((corner + 1) * shape_.pes / 4 <= p) ++corner;
    const int half_cols = (shape_.cols + 1) / 2, half_rows = (shape_.rows + 1) / 2;
    EXPECT_TRUE(corner % 2 == 1 ? col >= shape_.cols - half_cols : col < half_cols) << pe << " on " << router;
    EXPECT_TRUE(corner / 2 == 1 ? row >= shape_.rows - half_rows : row < half_rows) << pe << " on " << router;
    ++quarter[corner];
  }
  EXPECT_LE(*std::max_element(quarter, quarter + 4) - *std::min_element(quarter, quarter + 4), 1);
}

// Routers are 2 mm apart between columns and 3 mm between rows.
TEST_P(Cube, routes_x_then_y_where_nothing_is_in_the_way) {
  PathRouter router(graph_);
  const std::string id = "sip0.cube0.";
  for (int a = 0; a < shape_.pes; a += 1 + shape_.pes / 5) {
    for (int b = 0; b < shape_.pes; b += 1 + shape_.pes / 5) {
      const std::string dma = id + "pe" + std::to_string(a) + ".pe_dma", hbm = id + "hbm_ctrl.pe" + std::to_string(b);
      const std::vector<std::string> ids = along(router, dma, hbm);
      std::vector<std::pair<int, int>> cells;
      for (const std::string& i : ids) {
        int row = 0, col = 0;
        if (std::sscanf(i.c_str(), "sip0.cube0.r%dc%d", &row, &col) == 2) cells.emplace_back(row, col);
      }
      ASSERT_EQ(cells.size() + 1, ids.size()) << "nothing but routers before the slice";
      const int columns = std::abs(cells.front().second - cells.back().second);
      const int rows = std::abs(cells.front().first - cells.back().first);
      const double mm = static_cast<double>(router.distance_nm(node(dma), node(hbm))) * 1e-6;
      if (!shape_.hole.empty()) {
        EXPECT_GE(mm, 0.75 + 2 * columns + 3 * rows - 1e-9);
        continue;
      }
      EXPECT_NEAR(mm, 0.75 + 2 * columns + 3 * rows, 1e-9);
      ASSERT_EQ(static_cast<int>(cells.size()), columns + rows + 1);
      for (int i = 0; i < columns; ++i) EXPECT_EQ(cells[static_cast<size_t>(i) + 1].first, cells.front().first);
      for (int i = columns; i < columns + rows; ++i)
        EXPECT_EQ(cells[static_cast<size_t>(i) + 1].second, cells.back().second);
    }
  }
}

TEST_P(Cube, reaches_a_neighbour_exactly_where_two_ports_face_each_other) {
  PathRouter router(graph_);
  const auto has = [&](char side) { return shape_.ports.find(side) != std::string::npos; };
  const auto reaches = [&](int cube) {
    return router.has_path(node("sip0.cube0.pe0.pe_dma"), node("sip0.cube" + std::to_string(cube) + ".sram"));
  };
  EXPECT_TRUE(reaches(0));
  if (shape_.w > 1) {
    EXPECT_EQ(reaches(1), has('E') && has('W'));
  }
  if (shape_.h > 1) {
    EXPECT_EQ(reaches(shape_.w), has('N') && has('S'));
  }
}

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  const std::vector<Shape> grids = {{1, 1},
                                    {1, 7},
                                    {7, 1},
                                    {2, 2},
                                    {3, 5},
                                    {5, 4},
                                    {8, 3},
                                    {3, 3, {1, 1, 1, 1}},
                                    {9, 7},
                                    {11, 4},
                                    {4, 11},
                                    {7, 5, {2, 1, 4, 3}},
                                    {16, 16, {5, 6, 10, 9}}};
  const int pes[] = {1, 2, 3, 5, 8, 17, 64};
  const int connections[] = {4, 1, 3, 2, 5};
  size_t i = 0;
  for (const Shape& g : grids) {
    for (const int shift : {0, 3}) {
      Shape s = g;
      s.pes = pes[(i + static_cast<size_t>(shift)) % 7];
      s.connections = connections[i % 5];
      all.push_back(s);
      ++i;
    }
  }
  for (int subset = 0; subset < 16; ++subset) {
    Shape s{5, 3};
    s.pes = 6;
    s.ports.clear();
    for (int side = 0; side < 4; ++side)
      if (subset >> side & 1) s.ports += "NESW"[side];
    s.w = 2;
    s.h = 2;
    all.push_back(s);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(of, Cube, ::testing::ValuesIn(shapes()), [](const auto& p) {
  std::string name;
  for (const char c : p.param.name()) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + "_" + std::to_string(p.index);
});

}  // namespace
}  // namespace kernbench::topology::any_grid_any_pes_any_ports
