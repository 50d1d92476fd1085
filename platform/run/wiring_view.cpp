// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/run/wiring_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernbench/kernel_api/collectives/grids.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/view/floorplan.h"

namespace kernbench {
namespace {

using topology::Box;
using topology::Diagram;
using topology::Position;
using topology::naming::outermost_scope_of;
using topology::naming::scope_of;

/// One axis of the launch: its grid, or a single row if the launch omits some of its places.
struct Axis {
  ccl::Grid grid;
  bool whole = false;
  Axis(ccl::Grid all, int64_t launched) : grid(all), whole(all.cells() == launched) {
    if (!whole) grid = {launched, 1};
  }
  int64_t cell(int64_t place, int64_t among_launched) const { return whole ? place : among_launched; }
};

/// Number of places: the largest index plus one.
int64_t count(const LaunchShape& l, int64_t LaunchShape::Place::*number) {
  int64_t n = 0;
  for (const LaunchShape::Place& p : l.pes) n = std::max(n, p.*number + 1);
  return n;
}

/// Positions of PEs, in widths of a PE's box.
class Plan {
 public:
  explicit Plan(const LaunchShape& l)
      : pes_(ccl::whole_grid(l, ccl::Axis::pe), count(l, &LaunchShape::Place::pe)),
        cubes_(ccl::whole_grid(l, ccl::Axis::cube), count(l, &LaunchShape::Place::cube)),
        ranks_(ccl::whole_grid(l, ccl::Axis::rank), count(l, &LaunchShape::Place::rank)) {}

  bool several_ranks() const { return ranks_.grid.cells() > 1; }
  Box pe(const LaunchShape::Place& p) const {
    return cell(cube(p), pes_.grid, pes_.cell(p.pe_place, p.pe), kPe, kPeGap);
  }
  Box cube(const LaunchShape::Place& p) const {
    return cell(sip(p), cubes_.grid, cubes_.cell(p.cube_place, p.cube), cube_size(), kGap);
  }
  Box sip(const LaunchShape::Place& p) const {
    return cell({}, ranks_.grid, ranks_.cell(p.rank_place, p.rank), around(cubes_.grid, cube_size(), kGap), 2 * kGap);
  }

 private:
  struct Size {
    double w, h;
  };
  static constexpr Size kPe{1, 0.62};
  static constexpr double kPeGap = 0.75, kGap = 0.5, kTitle = 0.4;
  /// Size of a grid of cells with gaps, and an outer gap with a title.
  static Size around(const ccl::Grid& grid, Size cell, double gap) {
    return {static_cast<double>(grid.w) * (cell.w + gap) + gap,
            static_cast<double>(grid.h) * (cell.h + gap) + gap + kTitle};
  }
  Size cube_size() const { return around(pes_.grid, kPe, kPeGap); }
  /// The i-th cell of a grid inside a box.
  static Box cell(const Box& box, const ccl::Grid& grid, int64_t i, Size size, double gap) {
    const Size all = around(grid, size, gap);
    Box b;
    b.w = size.w;
    b.h = size.h;
    b.centre.x_mm = box.centre.x_mm - all.w / 2 + gap + static_cast<double>(grid.x(i)) * (size.w + gap) + size.w / 2;
    b.centre.y_mm =
        box.centre.y_mm - all.h / 2 + gap + kTitle + static_cast<double>(grid.y(i)) * (size.h + gap) + size.h / 2;
    return b;
  }

  const Axis pes_, cubes_, ranks_;
};

std::string without_number(std::string port) {
  while (!port.empty() && port.back() >= '0' && port.back() <= '9') port.pop_back();
  return port;
}

/// The legend's name of a connection: "next → prev", "x0".
std::string name_of(const QueueConnection& c, bool numbered) {
  const std::string a = numbered ? c.port : without_number(c.port);
  const std::string b = numbered ? c.peer_port : without_number(c.peer_port);
  return a == b ? a : a + " → " + b;
}

/// Corners of a wire between boxes: straight to a neighbour or diagonally, around boxes in the same row or column.
std::vector<Position> bends(const Position& a, const Position& b, bool again) {
  const double dx = b.x_mm - a.x_mm, dy = b.y_mm - a.y_mm, length = std::hypot(dx, dy);
  const bool in_line = std::abs(dx) < 1e-9 || std::abs(dy) < 1e-9;
  if (!again && (!in_line || length < 2)) return {};
  constexpr int kCorners = 12;
  const double height = std::min(1.1, 0.16 * length) + (again ? 0.25 : 0);
  std::vector<Position> corners;
  for (int i = 1; i < kCorners; ++i) {
    const double t = static_cast<double>(i) / kCorners, out = 4 * t * (1 - t) * height / length;
    corners.push_back({a.x_mm + t * dx + out * dy, a.y_mm + t * dy - out * dx});
  }
  return corners;
}

/// The PEs; behind them their cubes and SIPs if there are several.
void add_boxes(const LaunchShape& launch, Diagram* d) {
  const Plan plan(launch);
  for (const auto& p : launch.pes) {
    d->boxes.push_back(plan.pe(p));
    Box& b = d->boxes.back();
    b.id = p.id;
    b.kind = "pe";
    b.title = std::to_string(d->boxes.size() - 1);
  }
  std::set<std::string> made;
  const auto add = [&](Box b, const std::string& id, const char* kind) {
    if (!made.insert(id).second) return;
    b.id = b.title = id;
    b.kind = kind;
    b.container = true;
    d->boxes.push_back(std::move(b));
  };
  for (const auto& p : launch.pes) {
    if (!launch.flat && plan.several_ranks()) add(plan.sip(p), outermost_scope_of(p.id), "sip");
  }
  for (const auto& p : launch.pes) {
    if (!launch.flat) add(plan.cube(p), scope_of(p.id), "cube");
  }
}

}  // namespace

void write_wiring_svg(std::ostream& out, const std::string& title, const LaunchShape& launch,
                      const std::vector<QueueConnection>& connections) {
  static const char* const kColours[] = {"#3b6fb6", "#c2601b", "#4f8a3c", "#7450a8", "#b3414d", "#2a8c80",
                                         "#b9772a", "#545d68", "#d05aa0", "#8a9a1b", "#1b8ac2", "#7a4a2a"};
  Diagram d;
  d.title = title;
  d.subtitle = fmt::format("{} PEs by their index, {} connections", launch.pes.size(), connections.size());
  d.links = false;
  add_boxes(launch, &d);
  d.pixels_per_unit = std::min(90.0, topology::floorplan::scale_for(d, 1500));
  d.font_px = std::clamp(0.22 * d.pixels_per_unit, 6.0, 14.0);
  std::set<std::string> names;
  for (const QueueConnection& c : connections) names.insert(name_of(c, true));
  const bool numbered = names.size() <= std::size(kColours);
  std::map<std::string, const char*> colours;
  std::set<std::pair<int64_t, int64_t>> joined;
  for (const QueueConnection& c : connections) {
    topology::Wire w;
    w.from = static_cast<size_t>(c.a);
    w.to = static_cast<size_t>(c.b);
    w.kind = name_of(c, numbered);
    w.colour = colours.emplace(w.kind, kColours[colours.size() % std::size(kColours)]).first->second;
    w.forward = true;
    w.back = w.kind.find(' ') == std::string::npos;
    const bool again = !joined.insert(std::minmax(c.a, c.b)).second;
    w.bends = bends(d.boxes[w.from].centre, d.boxes[w.to].centre, again);
    d.wires.push_back(std::move(w));
  }
  write_svg(d, out);
}

}  // namespace kernbench
