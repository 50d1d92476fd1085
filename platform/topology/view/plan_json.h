// Floorplans for pages: what is where, without colours.
#pragma once

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench {

class JsonWriter;

namespace topology {

/// A list: the tray, its SIPs and their cubes, or a flat system as a whole. Of each its id ("" for all), title,
/// subtitle, boxes [id, kind, title, x, y, w, h, whether it is a container], x and y of its centre, and wires [box,
/// box, x, y of each bend …]. mm.
void write_plans(JsonWriter&, const Graph&);

}  // namespace topology
}  // namespace kernbench
