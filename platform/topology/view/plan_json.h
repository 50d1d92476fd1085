// SPDX-License-Identifier: Apache-2.0
// Floorplans for pages: positions without colours.
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/view/diagram.h"

namespace kernbench::phase2 {
class Fields;
}

namespace kernbench {

namespace topology {

struct Plan {
  std::string id;  ///< "" for all
  Diagram diagram;
};
/// The tray, its SIPs and their cubes, or a complete flat system.
std::vector<Plan> plans_of(const Graph&);
/// Id, title, subtitle, boxes [id, kind, title, x, y, w, h, whether it is a container], x and y being the centre, and
/// wires [box, box, x, y of each bend …]. mm.
void describe(Fields&, const Plan&);

}  // namespace topology
}  // namespace kernbench
