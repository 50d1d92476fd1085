// SPDX-License-Identifier: Apache-2.0
// Floorplan of a SIP: its cubes with their UCIe ports, and its IO chiplets.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/view/floorplan.h"

namespace kernbench::topology {
namespace {

using namespace floorplan;

constexpr double kBarMm = 1.3;                                // width of an IO chiplet's NoC
constexpr double kBlockW = 2.5, kBlockH = 1.1, kGapMm = 1.2;  // its endpoint and CPU

/// An IO chiplet's NoC is a bar along its ports, with endpoint and CPU on its far side.
class IoChipletPlan {
 public:
  IoChipletPlan(const Graph& g, const std::string& part) {
    Extent ports;
    Position noc;
    for (const Node& n : g.nodes) {
      if (part_of(n) != part || !n.position) continue;
      if (is_port(n)) ports.take(*n.position);
      if (n.kind == "io_noc") noc = *n.position;
    }
    const Position middle = ports.box(0).centre;
    along_x_ = std::abs(noc.y_mm - middle.y_mm) > std::abs(noc.x_mm - middle.x_mm);
    const double out = along_x_ ? noc.y_mm - middle.y_mm : noc.x_mm - middle.x_mm;
    outward_ = out < 0 ? -1 : 1;
    bar_ = at(middle, std::abs(out));
    const double length = (along_x_ ? ports.right - ports.left : ports.bottom - ports.top) + 2 * kBarMm;
    set_size(bar_, std::max(length, 6.0), kBarMm);
    ports_ = middle;
  }

  Box outer() const {
    const double depth = std::abs(along_x_ ? bar_.centre.y_mm - ports_.y_mm : bar_.centre.x_mm - ports_.x_mm);
    const double inner = -0.8, outer_edge = depth + kBarMm / 2 + kGapMm + across() + 0.5;  // from the line of ports
    Box b = at(ports_, (inner + outer_edge) / 2);
    set_size(b, (along_x_ ? bar_.w : bar_.h) + 1.2, outer_edge - inner);
    return b;
  }

  Box bar() const { return bar_; }

  /// The endpoint before the middle, the CPU after it.
  Box beside(bool first) const {
    Box b = at(bar_.centre, kBarMm / 2 + kGapMm + across() / 2);
    (along_x_ ? b.centre.x_mm : b.centre.y_mm) += (first ? -0.65 : 0.65) * (along_x_ ? kBlockW : 2 * kBlockH);
    b.w = kBlockW;
    b.h = kBlockH;
    return b;
  }

 private:
  Box at(Position p, double out) const {
    (along_x_ ? p.y_mm : p.x_mm) += outward_ * out;
    Box b;
    b.centre = p;
    return b;
  }
  double across() const { return along_x_ ? kBlockH : kBlockW; }
  void set_size(Box& b, double along, double thick) const {
    b.w = along_x_ ? along : thick;
    b.h = along_x_ ? thick : along;
  }

  bool along_x_ = false;
  double outward_ = -1;
  Position ports_;
  Box bar_;
};

}  // namespace

Diagram draw_sip(const Graph& g, const std::string& id) {
  Diagram d;
  d.title = g.name + ": " + id;
  d.to_scale = true;
  d.font_px = 14;
  Boxes boxes(d);
  size_t cubes = 0, chiplets = 0;
  for (const auto& [part, extent] : parts_of(g, id + ".")) {
    const bool io = is_io(part);
    (io ? chiplets : cubes) += 1;
    Box outer =
        make_box(io ? IoChipletPlan(g, part).outer() : extent.box(0), part, io ? "io" : "cube", last_word(part));
    outer.container = true;
    boxes.add(outer);
    if (io) continue;
    Box core = make_box(outer, part + ".core", "router", "NoC", contents_of(g, part + "."));
    core.w *= 0.42;
    core.h *= 0.42;
    core.container = false;
    boxes.add(core);
  }
  if (d.boxes.empty()) throw std::invalid_argument("no '" + id + "' in " + g.name + "; legal: a SIP such as sip0");
  std::vector<std::string> whole = {count_text(cubes, "cube"), count_text(chiplets, "IO chiplet")};
  for (const std::string& s : contents_of(g, id + ".")) whole.push_back(s);
  d.subtitle = joined(whole);

  std::vector<size_t> box_of(g.nodes.size(), kOmitted);
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    const std::string part = part_of(node);
    if (part.empty() || sip_of(part) != id || !node.position) continue;
    if (node.kind != "ucie") {
      if (!is_io(part)) {
        box_of[n] = boxes.find(part + ".core");
        continue;
      }
      const IoChipletPlan plan(g, part);
      const Box at = node.kind == "io_noc" ? plan.bar() : plan.beside(node.kind == "pcie_ep");
      box_of[n] = boxes.add(make_box(at, node.id, node.kind, last_word(node.id)));
      continue;
    }
    const std::string port = port_of(node);
    if (boxes.find(port) == kOmitted) {
      const uint32_t p = g.index_of.at(port);
      Box b = make_box({}, port, "ucie", last_word(port).substr(5));
      b.centre = *g.nodes[p].position;
      const Box& outer = boxes.at(part);
      if (!is_io(part)) {  // away from the edge, so that the crossing has room
        const double dx = outer.centre.x_mm - b.centre.x_mm, dy = outer.centre.y_mm - b.centre.y_mm;
        const double share = 1.9 / std::max(std::abs(dx) + std::abs(dy), 1.9);
        b.centre.x_mm += share * dx;
        b.centre.y_mm += share * dy;
      }
      b.w = b.h = is_io(part) ? 1.2 : 1.4;
      boxes.add(std::move(b));
    }
    box_of[n] = boxes.find(port);
  }
  add_wires(g, box_of, d);
  d.pixels_per_unit = scale_for(d, 1500);
  return d;
}

}  // namespace kernbench::topology
