// SPDX-License-Identifier: Apache-2.0
// Floorplan of a cube: its NoC, memories, PEs and UCIe ports.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/view/floorplan.h"

namespace kernbench::topology {
namespace {

using namespace floorplan;

/// The NoC nodes of a cube: positions and distances.
struct Fabric {
  std::vector<Position> nodes;
  bool mesh = false;
  double pitch = 4;  ///< least distance between two nodes
  Extent hole;       ///< cells of the grid without a router

  void measure() {
    double least = 1e300;
    for (size_t i = 0; i < nodes.size(); ++i)
      for (size_t k = i + 1; k < nodes.size(); ++k)
        least = std::min(least, std::abs(nodes[i].x_mm - nodes[k].x_mm) + std::abs(nodes[i].y_mm - nodes[k].y_mm));
    if (least < 1e299) pitch = least;
    if (!mesh) return;
    const auto key = [](double mm) { return std::llround(mm * 1e6); };
    std::set<int64_t> columns, rows;
    std::set<std::pair<int64_t, int64_t>> taken;
    for (const Position& p : nodes) {
      columns.insert(key(p.x_mm));
      rows.insert(key(p.y_mm));
      taken.emplace(key(p.x_mm), key(p.y_mm));
    }
    for (const int64_t x : columns)
      for (const int64_t y : rows)
        if (taken.count({x, y}) == 0) hole.take({static_cast<double>(x) * 1e-6, static_cast<double>(y) * 1e-6});
  }
};

std::string gbs_text(double bw) {
  return number_text(bw) + " GB/s";
}

double bandwidth_out(const Graph& g, uint32_t node, const char* kind) {
  double bw = 0;
  for (const uint32_t e : g.out_edges[node])
    if (g.edges[e].kind == kind) bw += g.effective_bw(e);
  return bw;
}

Box hbm_box(const Graph& g, const Node& n, const Fabric& f) {
  Box b = make_box({}, n.id, n.kind, "HBM " + last_word(n.id).substr(2));
  b.centre = *n.position;
  b.w = 0.4 * f.pitch;
  b.h = (f.mesh ? 0.3 : 0.36) * f.pitch;
  const uint32_t index = g.index_of.at(n.id);
  for (const Memory& m : g.memories)
    if (m.node == index) b.details.push_back(size_text(static_cast<double>(m.size)));
  b.details.push_back(gbs_text(bandwidth_out(g, index, edge_kind::kMemory)));
  return b;
}

/// A port is as long as its side. Its connections are too near for separate labels, so the port's title has them.
Box port_box(const Graph& g, const Node& n, const Box& cube) {
  Box b = make_box({}, n.id, n.kind, "UCIe " + last_word(n.id).substr(5));
  b.centre = *n.position;
  const char side = n.id.back();
  const bool flat = side == 'N' || side == 'S';
  b.w = flat ? 0.94 * cube.w : 0.5;
  b.h = flat ? 0.5 : 0.94 * cube.h;
  size_t lanes = 0;
  double bw = 0;
  for (const uint32_t e : g.out_edges[g.index_of.at(n.id)]) {
    if (!is_connection(g.nodes[g.edges[e].to].id)) continue;
    ++lanes;
    bw = g.effective_bw(e);
  }
  if (lanes > 0) b.title += fmt::format(": {} x {}", lanes, gbs_text(bw));
  return b;
}

Box block_box(const Node& n, const Fabric& f) {
  Box b = make_box({}, n.id, n.kind, (n.kind == "xbar" ? "xbar " : "") + last_word(n.id));
  b.centre = *n.position;
  b.w = 0.3 * f.pitch;
  b.h = 0.2 * f.pitch;
  if (n.kind == "sram" || n.kind == "m_cpu") {
    b.w = 0.42 * f.pitch;
    b.h = 0.22 * f.pitch;
  } else if (is_connection(n.id)) {
    b.w = b.h = std::min(0.14 * f.pitch, 0.4);
    b.title.clear();
  }
  return b;
}

/// At crossbars: a bar between their halves, so that most wires are straight.
Box noc_bar(const Node& n, const Fabric& f) {
  Extent e;
  for (const Position& p : f.nodes) e.take(p);
  Box b = make_box(e.box(0), n.id, n.kind, last_word(n.id));
  b.w = std::max(0.46 * b.w, f.pitch);
  b.h *= 0.42;
  return b;
}

/// M_CPU and SRAM near their position, where they cover neither the mesh's wires nor another block.
void move_aside(const Diagram& d, const Fabric& f, Box& b) {
  const Position place = b.centre;
  const auto covers = [&] {
    return std::any_of(d.boxes.begin(), d.boxes.end(), [&](const Box& o) {
      return &o != &b && !o.container && std::abs(o.centre.x_mm - b.centre.x_mm) < (o.w + b.w) / 2 + 0.02 * f.pitch &&
             std::abs(o.centre.y_mm - b.centre.y_mm) < (o.h + b.h) / 2 + 0.02 * f.pitch;
    });
  };
  for (const double dy : {0.0, 0.3, -0.3, 0.6, -0.6}) {
    for (const double dx : {0.3, -0.3, 0.6, -0.6}) {
      b.centre = {place.x_mm + dx * f.pitch, place.y_mm + dy * f.pitch};
      if (!covers()) return;
    }
  }
}

std::vector<std::string> details_of_pe(const Graph& g, const std::string& id) {
  std::vector<std::string> lines;
  for (const Pe& p : g.pes) {
    if (p.id != id) continue;
    const auto tcm = p.blocks.find("pe_tcm");
    if (tcm != p.blocks.end())
      lines.push_back(number_text(g.nodes[tcm->second].attrs.number("size_mb", 0)) + " MiB TCM");
    lines.push_back(gbs_text(bandwidth_out(g, p.blocks.at("pe_dma"), edge_kind::kPe)));
  }
  return lines;
}

/// Data collected before drawing.
struct Survey {
  Fabric fabric;
  Extent outline;
  size_t slices = 0;
  double hbm_gbs = 0;
};

bool is_drawn(const Node& n, const std::string& prefix) {
  return n.id.compare(0, prefix.size(), prefix) == 0 && n.position;
}

Survey survey(const Graph& g, const std::string& prefix) {
  Survey s;
  for (const Node& n : g.nodes) {
    if (!is_drawn(n, prefix)) continue;
    if (n.kind == "router" || n.kind == "xbar") s.fabric.nodes.push_back(*n.position);
    s.fabric.mesh = s.fabric.mesh || n.kind == "router";
    if (!is_port(n)) s.outline.take(*n.position);
    if (n.kind != "hbm_ctrl") continue;
    ++s.slices;
    s.hbm_gbs += bandwidth_out(g, g.index_of.at(n.id), edge_kind::kMemory);
  }
  s.fabric.measure();
  return s;
}

/// Draws a box for each PE and each other node of the cube; returns each node's box.
std::vector<size_t> add_boxes(const Graph& g, const std::string& prefix, const Fabric& fabric, const Box& cube,
                              Boxes& boxes) {
  std::vector<size_t> box_of(g.nodes.size(), kOmitted);
  std::map<std::string, Extent> pes;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    if (!is_drawn(node, prefix)) continue;
    if (node.kind.compare(0, 3, "pe_") == 0) {
      const std::string pe = node.id.substr(0, node.id.rfind('.'));
      if (boxes.find(pe) == kOmitted) boxes.add(make_box({}, pe, "pe", last_word(pe), details_of_pe(g, pe)));
      pes[pe].take(*node.position);
      box_of[n] = boxes.find(pe);
    } else if (!fabric.mesh && is_connection(node.id)) {
      box_of[n] = boxes.find(port_of(node));  // all lead to the single NoC node
    } else {
      box_of[n] = boxes.add(node.kind == "hbm_ctrl"                       ? hbm_box(g, node, fabric)
                            : is_port(node)                               ? port_box(g, node, cube)
                            : node.kind == "noc" && !fabric.nodes.empty() ? noc_bar(node, fabric)
                                                                          : block_box(node, fabric));
    }
  }
  for (const auto& [pe, extent] : pes) {
    Box& b = boxes.at(pe);
    b.centre = extent.box(0).centre;
    b.w = 0.4 * fabric.pitch;
    b.h = (fabric.mesh ? 0.3 : 0.36) * fabric.pitch;
  }
  return box_of;
}

void dress_wires(Diagram& d) {
  d.wires.erase(
      std::remove_if(d.wires.begin(), d.wires.end(), [](const Wire& w) { return w.kind == edge_kind::kCommand; }),
      d.wires.end());
  for (Wire& w : d.wires) {
    const Box &a = d.boxes[w.from], &b = d.boxes[w.to];
    // Labelled in the box of the slice or PE, or in the port's title.
    w.labelled = a.kind != "hbm_ctrl" && b.kind != "hbm_ctrl" && !(a.kind == "ucie" && b.kind == "ucie") &&
                 w.kind != edge_kind::kPe;
    // From the east and west to a bar: above the blocks between.
    const Box &bar = a.kind == "noc" ? a : b, &port = a.kind == "noc" ? b : a;
    if (bar.kind == "noc" && port.kind == "ucie" && port.h > port.w) {
      const double y = bar.centre.y_mm - 0.42 * bar.h;
      w.bends = {{a.centre.x_mm, y}, {b.centre.x_mm, y}};
    }
  }
}

}  // namespace

Diagram draw_cube(const Graph& g, const std::string& id) {
  Diagram d;
  d.title = g.name + ": " + id;
  d.to_scale = true;
  d.font_px = 14;
  Boxes boxes(d);
  const std::string prefix = id + ".";
  const Survey s = survey(g, prefix);
  if (s.outline.empty())
    throw std::invalid_argument("no '" + id + "' in " + g.name + "; legal: a cube such as sip0.cube0");
  std::vector<std::string> whole = {
      s.fabric.nodes.empty() ? "one NoC" : count_text(s.fabric.nodes.size(), s.fabric.mesh ? "router" : "crossbar")};
  for (const std::string& part : contents_of(g, prefix)) whole.push_back(part);
  d.subtitle = joined(whole) + "; HBM " + gbs_text(s.hbm_gbs) + " in all";
  Box cube = make_box(s.outline.box(0.2), id, "cube", "");
  cube.container = true;
  boxes.add(cube);
  if (!s.fabric.hole.empty() && s.slices > 0)
    boxes.add(make_box(
        s.fabric.hole.box(0.36 * s.fabric.pitch), id + ".hbm", "hbm", "HBM stack",
        {"one slice a PE, behind the PE's router", count_text(s.slices, "slice") + ", " + gbs_text(s.hbm_gbs)}));
  const std::vector<size_t> box_of = add_boxes(g, prefix, s.fabric, cube, boxes);
  for (Box& b : d.boxes)
    if (s.fabric.mesh && (b.kind == "m_cpu" || b.kind == "sram")) move_aside(d, s.fabric, b);
  add_wires(g, box_of, d);
  dress_wires(d);
  d.pixels_per_unit = scale_for(d, 1500);
  return d;
}

}  // namespace kernbench::topology
