// SPDX-License-Identifier: Apache-2.0
// A diagram of boxes and wires, before conversion to SVG or DOT. Lengths in the diagram's unit (mm in floorplans).
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/view/print.h"

namespace kernbench::topology {

struct Box {
  std::string id;    ///< of a node or of a part: "sip0.cube3"
  std::string kind;  ///< selects the colour
  std::string title;
  std::vector<std::string> details;
  Position centre;
  double w = 0, h = 0;
  bool container = false;      ///< drawn behind wires; its title is in its top left corner
  bool title_centred = false;  ///< for a container: title in the middle of its upper side
};

struct Wire {
  size_t from = 0, to = 0;  ///< into Diagram::boxes
  std::string kind;
  const char* colour = nullptr;        ///< null: by kind
  double bw_gbs = 0, bw_back_gbs = 0;  ///< sums over the edges that it represents; 0: unlimited
  bool forward = false, back = false;
  bool labelled = true;
  std::vector<Position> bends;  ///< corners between `from` and `to`; none: straight
};

struct Diagram {
  std::string title;
  std::string subtitle;  ///< summary in one line
  std::vector<Box> boxes;
  std::vector<Wire> wires;
  double pixels_per_unit = 1;
  double font_px = 12;
  bool to_scale = false;  ///< a floorplan: gets a ruler in mm
  bool links = true;      ///< wires are links, with bandwidths
};

/// "512", "512 / 64" if the directions differ, "" if unlimited.
std::string bandwidth_text(const Wire&);
void write_svg(const Diagram&, std::ostream&);
void write_dot(const Diagram&, std::ostream&);

/// The box of each node (an index, or kOmitted); wires are summed by boxes.
constexpr size_t kOmitted = static_cast<size_t>(-1);
void add_wires(const Graph&, const std::vector<size_t>& box_of_node, Diagram&);

Diagram draw_tray(const Graph&);
Diagram draw_sip(const Graph&, const std::string& id);
Diagram draw_cube(const Graph&, const std::string& id);
Diagram draw_pe(const Graph&, const std::string& id);
Diagram draw_flat(const Graph&);

}  // namespace kernbench::topology
