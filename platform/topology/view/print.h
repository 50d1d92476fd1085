// SPDX-License-Identifier: Apache-2.0
// The compiled graph in the forms of `kernbench topology`: all deterministic.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/systemc_models/core/impl_catalog.h"

namespace kernbench::topology {

/// Census by kind, links, memories, peak rates.
void print_text(const Graph&, std::ostream&);
/// Keys that blocks' number maps know and the file does not say, by implementation, with what they are then: nothing
/// where all are there.
void print_keys_left_out(const Graph&, const ImplCatalog&, std::ostream&);
/// The interface contract's JSON, streamed in compiled order.
void print_json(const Graph&, std::ostream&);

/// What a drawing shows. Tray: SIPs, cubes, IO chiplets as boxes. SIP: its cubes with their ports, its IO chiplets.
/// Cube: every node, a PE as one box. PE: its blocks. Flat: every node of a graph without hierarchy.
enum class View { tray, sip, cube, pe, flat };
std::optional<View> parse_view(const std::string&);
/// Tray where the graph has positions (a hierarchical file), else flat.
View default_view(const Graph&);

/// A floorplan to scale (tray, sip, cube), or a diagram (pe, flat), bandwidths (GB/s) on the links. sip, cube and pe
/// show the first of their kind, or `id` ("sip1", "sip0.cube3", "sip0.cube3.pe2"). std::invalid_argument if there is
/// none, and for an id beside tray or flat.
void print_svg(const Graph&, View, std::ostream&, const std::string& id = "");
/// The same selection for graphviz; the whole graph for flat.
void print_dot(const Graph&, View, std::ostream&, const std::string& id = "");

}  // namespace kernbench::topology
