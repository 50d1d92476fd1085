// Floorplans of a hierarchical machine: tray, SIP, cube. Places are those that the builders gave to the nodes.
#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "kernbench/platform/topology/diagram.h"
#include "kernbench/platform/topology/faults.h"
#include "kernbench/platform/topology/naming.h"

namespace kernbench::topology {
namespace {

struct Extent {
  double left = 1e300, right = -1e300, top = 1e300, bottom = -1e300;
  void take(const Position& p, double by = 0) {
    left = std::min(left, p.x_mm - by);
    right = std::max(right, p.x_mm + by);
    top = std::min(top, p.y_mm - by);
    bottom = std::max(bottom, p.y_mm + by);
  }
  bool empty() const { return left > right; }
  Box box(double pad) const {
    Box b;
    b.centre = {(left + right) / 2, (top + bottom) / 2};
    b.w = right - left + 2 * pad;
    b.h = bottom - top + 2 * pad;
    return b;
  }
};

std::string last_word(const std::string& id) {
  return id.substr(id.rfind('.') + 1);
}
bool is_connection(const std::string& id) {
  return last_word(id).compare(0, 4, "conn") == 0;
}
bool is_port(const Node& n) {
  return n.kind == "ucie" && !is_connection(n.id);
}
std::string port_of(const Node& n) {
  return is_connection(n.id) ? n.id.substr(0, n.id.rfind('.')) : n.id;
}

/// "sip0.cube3" or "sip0.io1" of a node, "" for the tray's.
std::string part_of(const Node& n) {
  const naming::Owner o = naming::owner_of(n.id);
  if (o.cube >= 0) return naming::cube(static_cast<uint32_t>(o.sip), static_cast<uint32_t>(o.cube));
  if (o.io >= 0) return naming::io_chiplet(static_cast<uint32_t>(o.sip), static_cast<uint32_t>(o.io));
  return "";
}

std::string size_text(double bytes) {
  return bytes >= 1073741824.0 ? number_text(std::round(bytes / 1073741824.0 * 10) / 10) + " GB"
                               : number_text(std::round(bytes / 1048576.0 * 10) / 10) + " MB";
}

/// "8 PEs", "48 GB HBM", "32 MB SRAM".
std::vector<std::string> contents_of(const Graph& g, const std::string& part) {
  size_t pes = 0;
  double hbm = 0, sram = 0;
  const std::string prefix = part + ".";
  for (const Pe& p : g.pes) pes += p.id.compare(0, prefix.size(), prefix) == 0;
  for (const Memory& m : g.memories) {
    if (g.nodes[m.node].id.compare(0, prefix.size(), prefix) == 0)
      (m.space == "hbm" ? hbm : sram) += static_cast<double>(m.size);
  }
  std::vector<std::string> lines;
  if (pes > 0) lines.push_back(std::to_string(pes) + (pes == 1 ? " PE" : " PEs"));
  if (hbm > 0) lines.push_back(size_text(hbm) + " HBM");
  if (sram > 0) lines.push_back(size_text(sram) + " SRAM");
  return lines;
}

/// Boxes by id, made once.
class Boxes {
 public:
  explicit Boxes(Diagram& d) : d_(d) {}
  size_t find(const std::string& id) const {
    const auto it = index_.find(id);
    return it == index_.end() ? kOmitted : it->second;
  }
  size_t add(Box b) {
    index_.emplace(b.id, d_.boxes.size());
    d_.boxes.push_back(std::move(b));
    return d_.boxes.size() - 1;
  }

 private:
  Diagram& d_;
  std::map<std::string, size_t> index_;
};

Box make_box(Box geometry, std::string id, std::string kind, std::string title, std::vector<std::string> details = {}) {
  geometry.id = std::move(id);
  geometry.kind = std::move(kind);
  geometry.title = std::move(title);
  geometry.details = std::move(details);
  return geometry;
}

/// Extents of the cubes and IO chiplets, in compiled order; ports lie outside.
std::vector<std::pair<std::string, Extent>> parts_of(const Graph& g, const std::string& sip_prefix) {
  std::vector<std::pair<std::string, Extent>> parts;
  std::map<std::string, size_t> index;
  for (const Node& n : g.nodes) {
    const std::string part = part_of(n);
    if (part.empty() || !n.position || part.compare(0, sip_prefix.size(), sip_prefix) != 0) continue;
    if (is_port(n) && part.find(".cube") != std::string::npos) continue;
    const auto [it, fresh] = index.emplace(part, parts.size());
    if (fresh) parts.emplace_back(part, Extent{});
    parts[it->second].second.take(*n.position);
  }
  return parts;
}

double scale_for(const Diagram& d, double pixels) {
  Extent all;
  for (const Box& b : d.boxes) {
    all.take({b.centre.x_mm - b.w / 2, b.centre.y_mm - b.h / 2});
    all.take({b.centre.x_mm + b.w / 2, b.centre.y_mm + b.h / 2});
  }
  return all.empty() ? 1 : pixels / std::max({all.right - all.left, all.bottom - all.top, 1e-3});
}

std::string sip_of(const std::string& part) {
  return part.substr(0, part.find('.'));
}

double pad_of(const std::string& part) {
  return part.find(".io") != std::string::npos ? 0.8 : 0.0;
}

}  // namespace

Diagram draw_tray(const Graph& g) {
  Diagram d;
  d.title = g.name + ": tray";
  d.to_scale = true;
  Boxes boxes(d);
  std::map<std::string, Extent> sips;
  const auto parts = parts_of(g, "");
  for (const auto& [part, extent] : parts) {
    sips[sip_of(part)].take({extent.left, extent.top}, 2.5);
    sips[sip_of(part)].take({extent.right, extent.bottom}, 2.5);
  }
  for (const auto& [sip, extent] : sips) {
    Box b = make_box(extent.box(0), sip, "sip", sip);
    b.h += 3;  // room for the title
    b.centre.y_mm -= 1.5;
    b.container = true;
    boxes.add(std::move(b));
  }
  for (const auto& [part, extent] : parts) {
    const bool io = part.find(".io") != std::string::npos;
    Box b = make_box(extent.box(pad_of(part)), part, io ? "io" : "cube", last_word(part),
                     io ? std::vector<std::string>{} : contents_of(g, part));
    // Smaller than life, so that the links between neighbours can be seen and read.
    if (!io) {
      b.w *= 0.8;
      b.h *= 0.8;
    }
    boxes.add(std::move(b));
  }
  std::vector<size_t> box_of(g.nodes.size(), kOmitted);
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    const std::string part = part_of(node);
    if (!part.empty()) {
      box_of[n] = boxes.find(part);
    } else if (node.position) {
      Box b = make_box({}, node.id, node.kind, last_word(node.id));
      b.centre = *node.position;
      b.w = 24;
      b.h = 7;
      box_of[n] = boxes.add(std::move(b));
    }
  }
  add_wires(g, box_of, d);
  // PCIe runs beside the SIPs, not across their cubes: down to the switch's height, or below the lower of two SIPs.
  for (Wire& w : d.wires) {
    if (w.kind != "pcie") continue;
    const Box &a = d.boxes[w.from], &b = d.boxes[w.to];
    if (b.kind == "switch" || a.kind == "switch") {
      w.via_y = (b.kind == "switch" ? b : a).centre.y_mm;
    } else if (a.centre.x_mm != b.centre.x_mm) {
      const Box &sip_a = d.boxes[boxes.find(sip_of(a.id))], &sip_b = d.boxes[boxes.find(sip_of(b.id))];
      w.via_y = std::max(sip_a.centre.y_mm + sip_a.h / 2, sip_b.centre.y_mm + sip_b.h / 2) + 3 +
                0.02 * std::abs(a.centre.x_mm - b.centre.x_mm);
    }
  }
  d.pixels_per_unit = scale_for(d, 1500);
  return d;
}

Diagram draw_sip(const Graph& g, const std::string& id) {
  Diagram d;
  d.title = g.name + ": " + id;
  d.to_scale = true;
  d.font_px = 14;
  Boxes boxes(d);
  for (const auto& [part, extent] : parts_of(g, id + ".")) {
    const bool io = part.find(".io") != std::string::npos;
    Box outer = make_box(extent.box(io ? 1.7 : 0), part, io ? "io" : "cube", last_word(part));
    outer.container = true;
    boxes.add(outer);
    if (io) continue;
    Box core = make_box(outer, part + ".core", "router", "NoC", contents_of(g, part));
    core.w *= 0.42;
    core.h *= 0.42;
    core.container = false;
    boxes.add(core);
  }
  if (d.boxes.empty()) throw std::invalid_argument("no '" + id + "' in " + g.name + "; legal: a SIP such as sip0");
  std::vector<size_t> box_of(g.nodes.size(), kOmitted);
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    const std::string part = part_of(node);
    if (part.empty() || sip_of(part) != id || !node.position) continue;
    const bool io = part.find(".io") != std::string::npos;
    if (node.kind != "ucie") {
      if (!io) {
        box_of[n] = boxes.find(part + ".core");
        continue;
      }
      Box b = make_box({}, node.id, node.kind, last_word(node.id));
      b.centre = *node.position;
      b.w = 2.6;
      b.h = 1.1;
      box_of[n] = boxes.add(std::move(b));
      continue;
    }
    const std::string port = port_of(node);
    if (boxes.find(port) == kOmitted) {
      const uint32_t p = g.index_of.at(port);
      Box b = make_box({}, port, "ucie", last_word(port).substr(5));
      b.centre = *g.nodes[p].position;
      const Box& outer = d.boxes[boxes.find(part)];
      if (!io) {  // well inside the edge, so that there is room for the crossing
        const double dx = outer.centre.x_mm - b.centre.x_mm, dy = outer.centre.y_mm - b.centre.y_mm;
        const double share = 1.9 / std::max(std::abs(dx) + std::abs(dy), 1.9);
        b.centre.x_mm += share * dx;
        b.centre.y_mm += share * dy;
      }
      b.w = b.h = io ? 1.2 : 1.4;
      boxes.add(std::move(b));
    }
    box_of[n] = boxes.find(port);
  }
  add_wires(g, box_of, d);
  d.pixels_per_unit = scale_for(d, 1500);
  return d;
}

namespace {

/// The grid's pitch: the least distance between two fabric nodes.
double pitch_of(const std::vector<Position>& fabric) {
  double pitch = 1e300;
  for (size_t i = 0; i < fabric.size(); ++i)
    for (size_t k = i + 1; k < fabric.size(); ++k)
      pitch = std::min(pitch, std::abs(fabric[i].x_mm - fabric[k].x_mm) + std::abs(fabric[i].y_mm - fabric[k].y_mm));
  return pitch > 1e299 ? 4 : pitch;
}

Box cube_box(const Graph& g, const Node& n, double pitch, const Box& cube) {
  Box b = make_box({}, n.id, n.kind, last_word(n.id));
  b.centre = *n.position;
  b.w = 0.3 * pitch;
  b.h = 0.2 * pitch;
  if (n.kind == "hbm_ctrl") {
    b.w = 0.44 * pitch;
    b.h = 0.36 * pitch;
    double bw = 0;
    for (const uint32_t e : g.out_edges[g.index_of.at(n.id)]) bw += g.effective_bw(e);
    b.title = "HBM " + b.title;
    b.details = {number_text(bw)};
  } else if (n.kind == "sram" || n.kind == "m_cpu" || n.kind == "noc") {
    b.w = 0.42 * pitch;
    b.h = 0.22 * pitch;
    if (n.kind == "sram" || n.kind == "m_cpu") b.centre.x_mm += 0.3 * pitch;  // off the column's wires
  } else if (n.kind == "xbar") {
    b.title = "xbar " + b.title;
  } else if (n.kind == "ucie" && is_connection(n.id)) {
    b.w = b.h = std::min(0.14 * pitch, 0.4);
    b.title.clear();
  } else if (n.kind == "ucie") {
    const char side = n.id.back();
    const bool flat = side == 'N' || side == 'S';
    b.w = flat ? 0.94 * cube.w : 0.5;
    b.h = flat ? 0.5 : 0.94 * cube.h;
    // Its connections, which are too close to it for a number of their own.
    const auto& lanes = g.out_edges[g.index_of.at(n.id)];
    const auto inner =
        std::count_if(lanes.begin(), lanes.end(), [&](uint32_t e) { return is_connection(g.nodes[g.edges[e].to].id); });
    const auto lane =
        std::find_if(lanes.begin(), lanes.end(), [&](uint32_t e) { return is_connection(g.nodes[g.edges[e].to].id); });
    if (lane != lanes.end()) b.title += "   " + std::to_string(inner) + " x " + number_text(g.effective_bw(*lane));
  }
  return b;
}

}  // namespace

Diagram draw_cube(const Graph& g, const std::string& id) {
  Diagram d;
  d.title = g.name + ": " + id;
  d.to_scale = true;
  d.font_px = 14;
  Boxes boxes(d);
  const std::string prefix = id + ".";
  std::vector<Position> fabric;
  Extent outline, stack;
  for (const Node& n : g.nodes) {
    if (n.id.compare(0, prefix.size(), prefix) != 0 || !n.position) continue;
    if (n.kind == "router" || n.kind == "xbar") fabric.push_back(*n.position);
    if (!is_port(n)) outline.take(*n.position);
    if (n.kind == "hbm_ctrl") stack.take(*n.position);
  }
  if (outline.empty())
    throw std::invalid_argument("no '" + id + "' in " + g.name + "; legal: a cube such as sip0.cube0");
  const double pitch = pitch_of(fabric);
  Box whole = make_box(outline.box(0.2), id, "cube", "");
  whole.container = true;
  boxes.add(whole);
  const bool is_mesh = std::any_of(g.nodes.begin(), g.nodes.end(), [&](const Node& n) {
    return n.kind == "router" && n.id.compare(0, prefix.size(), prefix) == 0;
  });
  if (!stack.empty() && is_mesh) {
    Box hbm = make_box(stack.box(0.34 * pitch), id + ".hbm", "hbm", "HBM");
    hbm.container = true;
    boxes.add(std::move(hbm));
  }

  std::vector<size_t> box_of(g.nodes.size(), kOmitted);
  std::map<std::string, Extent> pes;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    if (node.id.compare(0, prefix.size(), prefix) != 0 || !node.position) continue;
    if (node.kind.compare(0, 3, "pe_") != 0) {
      box_of[n] = boxes.add(cube_box(g, node, pitch, whole));
      continue;
    }
    const std::string pe = node.id.substr(0, node.id.rfind('.'));
    if (boxes.find(pe) == kOmitted) boxes.add(make_box({}, pe, "pe", last_word(pe)));
    pes[pe].take(*node.position);
    box_of[n] = boxes.find(pe);
  }
  for (const auto& [pe, extent] : pes) {
    Box& b = d.boxes[boxes.find(pe)];
    b.centre = extent.box(0).centre;
    b.w = 0.4 * pitch;
    b.h = 0.28 * pitch;
  }
  add_wires(g, box_of, d);
  d.wires.erase(std::remove_if(d.wires.begin(), d.wires.end(), [](const Wire& w) { return w.kind == "command"; }),
                d.wires.end());
  for (Wire& w : d.wires) {
    // Said in the slice's box, in the port's name, or too short to carry a number.
    const std::string &a = d.boxes[w.from].kind, &b = d.boxes[w.to].kind;
    w.labelled = !(a == "hbm_ctrl" || b == "hbm_ctrl" || (a == "ucie" && b == "ucie") || w.kind == "pe" ||
                   (w.kind == "ucie" && !is_mesh));
  }
  d.pixels_per_unit = scale_for(d, 1500);
  return d;
}

}  // namespace kernbench::topology
