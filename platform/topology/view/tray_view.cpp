// SPDX-License-Identifier: Apache-2.0
// Floorplan of the tray: SIPs, their cubes and IO chiplets, the switch, and separate lanes for PCIe.
#include <algorithm>
#include <cmath>
#include <map>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/graph/edge_kinds.h"
#include "kernbench/platform/topology/view/floorplan.h"

namespace kernbench::topology {
namespace {

using namespace floorplan;

constexpr double kLaneMm = 3.4;      // between lanes: room for a number
constexpr double kCubeShrink = 0.8;  // cubes are closer than a visible and labelled link needs

/// Routes PCIe wires without overlap: down from an IO chiplet, and along a lane under its row of SIPs. Then beside the
/// SIPs of lower rows to the switch or to the other chiplet.
class PcieLanes {
 public:
  PcieLanes(Diagram& d, const Boxes& boxes) : d_(d), boxes_(boxes) {}

  void lay() {
    std::vector<size_t> wires;
    for (size_t w = 0; w < d_.wires.size(); ++w)
      if (d_.wires[w].kind == edge_kind::kPcie) wires.push_back(w);
    spread_drops(wires);
    // Short ones first: they take the lanes nearest to the SIPs.
    std::stable_sort(wires.begin(), wires.end(), [&](size_t a, size_t b) { return span(a) < span(b); });
    for (const size_t w : wires)
      if (!switch_of(w)) join_chiplets(w);
    for (const size_t w : wires)
      if (switch_of(w)) leave_sip(w);
    enter_switches(wires);
  }

 private:
  struct Interval {
    double from, to;
  };

  const Box& box(size_t b) const { return d_.boxes[b]; }
  const Box* switch_of(size_t w) const {
    for (const size_t end : {d_.wires[w].from, d_.wires[w].to})
      if (box(end).kind != "io") return &box(end);
    return nullptr;
  }
  size_t chiplet_of(size_t w) const { return box(d_.wires[w].from).kind == "io" ? d_.wires[w].from : d_.wires[w].to; }
  const Box& sip_of_box(size_t b) const { return box(boxes_.find(sip_of(box(b).id))); }
  double bottom_of(size_t b) const { return sip_of_box(b).centre.y_mm + sip_of_box(b).h / 2; }
  double span(size_t w) const {
    const Position &a = box(d_.wires[w].from).centre, &b = box(d_.wires[w].to).centre;
    return std::abs(a.x_mm - b.x_mm) + std::abs(a.y_mm - b.y_mm);
  }

  /// Each wire leaves its chiplet at a separate position, ordered from left to right.
  void spread_drops(const std::vector<size_t>& wires) {
    std::map<size_t, std::vector<std::pair<double, size_t>>> of;
    for (const size_t w : wires) {
      const size_t a = d_.wires[w].from, b = d_.wires[w].to;
      for (const auto& [io, other] : {std::make_pair(a, b), std::make_pair(b, a)}) {
        if (box(io).kind != "io") continue;
        // The switch's wires of upper rows go left, around the SIPs below.
        const bool down = box(other).kind != "io" && !last_row(io);
        of[io].emplace_back(down ? -1e9 : box(other).centre.x_mm, w);
      }
    }
    for (auto& [io, list] : of) {
      std::stable_sort(list.begin(), list.end(), [](const auto& p, const auto& q) { return p.first < q.first; });
      const double step = box(io).w / static_cast<double>(list.size() + 1);
      for (size_t i = 0; i < list.size(); ++i)
        drop_[{list[i].second, io}] = box(io).centre.x_mm - box(io).w / 2 + static_cast<double>(i + 1) * step;
    }
  }

  bool last_row(size_t io) const {
    return std::none_of(d_.boxes.begin(), d_.boxes.end(),
                        [&](const Box& b) { return b.kind == "sip" && b.centre.y_mm > bottom_of(io); });
  }

  /// A free lane under the chiplet's row of SIPs.
  double lane_under(size_t io, double x1, double x2) {
    auto& lanes = lanes_[bottom_of(io)];
    const Interval wanted{std::min(x1, x2) - 2, std::max(x1, x2) + 2};
    size_t lane = 0;
    for (;; ++lane) {
      if (lane == lanes.size()) lanes.emplace_back();
      const bool free = std::none_of(lanes[lane].begin(), lanes[lane].end(),
                                     [&](const Interval& i) { return i.from < wanted.to && wanted.from < i.to; });
      if (free) break;
    }
    lanes[lane].push_back(wanted);
    const double y = bottom_of(io) + kLaneMm * static_cast<double>(lane + 1);
    lowest_ = std::max(lowest_, y);
    return y;
  }

  /// A vertical path left of the chiplet's column of SIPs.
  double gutter_beside(size_t io) {
    const double left = sip_of_box(io).centre.x_mm - sip_of_box(io).w / 2;
    return left - kLaneMm * static_cast<double>(++gutters_[left]);
  }

  void join_chiplets(size_t w) {
    Wire& wire = d_.wires[w];
    const size_t a = wire.from, b = wire.to;
    const double xa = drop_.at({w, a}), xb = drop_.at({w, b}), ya = box(a).centre.y_mm, yb = box(b).centre.y_mm;
    if (bottom_of(a) == bottom_of(b)) {
      const double y = lane_under(a, xa, xb);
      wire.bends = {{xa, ya}, {xa, y}, {xb, y}, {xb, yb}};
    } else if (box(a).centre.x_mm == box(b).centre.x_mm && neighbours(a, b)) {
      wire.bends = {{xa, ya}, {xa, yb}};
    } else {
      const double x = gutter_beside(a);
      const double y1 = lane_under(a, xa, x), y2 = lane_under(b, xb, x);
      wire.bends = {{xa, ya}, {xa, y1}, {x, y1}, {x, y2}, {xb, y2}, {xb, yb}};
    }
  }

  bool neighbours(size_t a, size_t b) const {
    const double low = std::min(bottom_of(a), bottom_of(b)), high = std::max(bottom_of(a), bottom_of(b));
    return std::none_of(d_.boxes.begin(), d_.boxes.end(), [&](const Box& s) {
      const double bottom = s.centre.y_mm + s.h / 2;
      return s.kind == "sip" && bottom > low && bottom < high;
    });
  }

  /// Up to the position from which a switch's wire runs straight down.
  void leave_sip(size_t w) {
    const size_t io = chiplet_of(w);
    const double x = drop_.at({w, io}), y = box(io).centre.y_mm;
    d_.wires[w].bends = {{x, y}};
    if (last_row(io)) return;
    const double gutter = gutter_beside(io), lane = lane_under(io, x, gutter);
    d_.wires[w].bends.push_back({x, lane});
    d_.wires[w].bends.push_back({gutter, lane});
  }

  /// The switch is below all lanes and as high as its wires need; the outermost wires enter lowest.
  void enter_switches(const std::vector<size_t>& wires) {
    for (size_t s = 0; s < d_.boxes.size(); ++s) {
      Box& target = d_.boxes[s];
      std::vector<size_t> sides[2];
      for (const size_t w : wires)
        if (switch_of(w) == &target) sides[d_.wires[w].bends.back().x_mm > target.centre.x_mm].push_back(w);
      const size_t most = std::max(sides[0].size(), sides[1].size());
      if (most == 0) continue;
      target.h = std::max(target.h, kLaneMm * static_cast<double>(most) + 2);
      target.centre.y_mm = std::max(target.centre.y_mm, lowest_ + kLaneMm + target.h / 2);
      for (std::vector<size_t>& side : sides) {
        const auto reach = [&](size_t w) { return std::abs(d_.wires[w].bends.back().x_mm - target.centre.x_mm); };
        std::stable_sort(side.begin(), side.end(), [&](size_t a, size_t b) { return reach(a) < reach(b); });
        for (size_t i = 0; i < side.size(); ++i) {
          Wire& wire = d_.wires[side[i]];
          const double y =
              target.centre.y_mm + (static_cast<double>(i) - (static_cast<double>(side.size()) - 1) / 2) * kLaneMm;
          wire.bends.push_back({wire.bends.back().x_mm, y});
          wire.bends.push_back({target.centre.x_mm, y});
          if (wire.from == s) std::reverse(wire.bends.begin(), wire.bends.end());
        }
      }
    }
  }

  Diagram& d_;
  const Boxes& boxes_;
  std::map<std::pair<size_t, size_t>, double> drop_;            // (wire, chiplet) -> x
  std::map<double, std::vector<std::vector<Interval>>> lanes_;  // by the bottom of a row of SIPs
  std::map<double, size_t> gutters_;                            // by the left side of a column
  double lowest_ = -1e300;
};

}  // namespace

Diagram draw_tray(const Graph& g) {
  Diagram d;
  d.title = g.name + ": tray";
  d.to_scale = true;
  Boxes boxes(d);
  std::vector<std::string> order;
  std::map<std::string, Extent> sips;
  const auto parts = parts_of(g, "");
  size_t cubes = 0;
  for (const auto& [part, extent] : parts) {
    cubes += !is_io(part);
    const std::string sip = sip_of(part);
    if (sips.count(sip) == 0) order.push_back(sip);
    sips[sip].take({extent.left, extent.top}, 2.5);
    sips[sip].take({extent.right, extent.bottom}, 2.5);
  }
  std::vector<std::string> whole = {count_text(sips.size(), "SIP"), count_text(cubes, "cube")};
  for (const std::string& s : contents_of(g, "")) whole.push_back(s);
  d.subtitle = joined(whole) + "; to scale, cubes at 80 %";
  for (const std::string& sip : order) {
    Box b = make_box(sips.at(sip).box(0), sip, "sip", sip);
    b.h += 3;  // room for the title
    b.centre.y_mm -= 1.5;
    b.container = true;
    b.title_centred = true;  // PCIe comes down on the left
    boxes.add(std::move(b));
  }
  for (const auto& [part, extent] : parts) {
    Box b = make_box(extent.box(0), part, is_io(part) ? "io" : "cube", last_word(part),
                     is_io(part) ? std::vector<std::string>{} : contents_of(g, part + "."));
    if (is_io(part)) {  // longer than its line of ports, but no nearer to the cubes
      (b.w < b.h ? b.w : b.h) += 0.6;
      (b.w < b.h ? b.h : b.w) += 1.6;
    }
    if (!is_io(part)) {
      b.w *= kCubeShrink;
      b.h *= kCubeShrink;
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
  PcieLanes(d, boxes).lay();
  d.pixels_per_unit = scale_for(d, 1500);
  return d;
}

}  // namespace kernbench::topology
