// SPDX-License-Identifier: Apache-2.0
// Output formats of `kernbench topology`; all are deterministic.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

/// Census by kind, links, memories, peak rates.
void print_text(const Graph&, std::ostream&);
/// Keys that blocks' number maps support and the file omits, by implementation, with their defaults; empty if none is
/// missing.
void print_keys_left_out(const Graph&, const ImplCatalog&, std::ostream&);
/// JSON as the rules on interfaces define it, streamed in compiled order.
void print_json(const Graph&, std::ostream&);

/// The contents of a drawing. Tray: SIPs, cubes, IO chiplets as boxes. SIP: its cubes with their ports, its IO
/// chiplets. Cube: every node, a PE as one box. PE: its blocks. Flat: every node of a graph without hierarchy.
enum class View { tray, sip, cube, pe, flat };
std::optional<View> parse_view(const std::string&);
/// Tray if the graph has positions (a hierarchical file), else flat.
View default_view(const Graph&);

/// A floorplan to scale (tray, sip, cube), or a diagram (pe, flat), with bandwidths (GB/s) on the links. sip, cube and
/// pe show the first of their kind, or `id` ("sip1", "sip0.cube3", "sip0.cube3.pe2"). std::invalid_argument if it does
/// not exist, and for an id with tray or flat.
void print_svg(const Graph&, View, std::ostream&, const std::string& id = "");
/// The same selection for graphviz; the complete graph for flat.
void print_dot(const Graph&, View, std::ostream&, const std::string& id = "");

}  // namespace kernbench::topology
