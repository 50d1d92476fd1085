// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/view/diagram.h"
#include "kernbench/platform/topology/view/print.h"

namespace kernbench::topology {
namespace {

/// The first SIP, cube or PE of the graph.
std::string first_of(const Graph& g, View view) {
  if (view == View::pe) return g.pes.empty() ? "" : g.pes.front().id;
  for (const Node& n : g.nodes) {
    const naming::Owner o = naming::owner_of(n.id);
    if (view == View::sip && o.sip >= 0) return naming::sip(static_cast<uint32_t>(o.sip));
    if (view == View::cube && o.cube >= 0)
      return naming::cube(static_cast<uint32_t>(o.sip), static_cast<uint32_t>(o.cube));
  }
  return "";
}

Diagram draw(const Graph& g, View view, const std::string& id) {
  if (!id.empty() && (view == View::tray || view == View::flat))
    throw std::invalid_argument("tray and flat show the whole system, not " + in_quotes(id) +
                                "; legal beside an id: sip, cube, pe");
  const std::string of = id.empty() ? first_of(g, view) : id;
  switch (view) {
    case View::tray:
      return draw_tray(g);
    case View::sip:
      return draw_sip(g, of);
    case View::cube:
      return draw_cube(g, of);
    case View::pe:
      return draw_pe(g, of);
    case View::flat:
      break;
  }
  return draw_flat(g);
}

}  // namespace

std::optional<View> parse_view(const std::string& s) {
  if (s == "tray") return View::tray;
  if (s == "sip") return View::sip;
  if (s == "cube") return View::cube;
  if (s == "pe") return View::pe;
  if (s == "flat") return View::flat;
  return std::nullopt;
}

View default_view(const Graph& g) {
  return !g.nodes.empty() && g.nodes[0].position ? View::tray : View::flat;
}

void print_svg(const Graph& g, View view, std::ostream& out, const std::string& id) {
  write_svg(draw(g, view, id), out);
}

void print_dot(const Graph& g, View view, std::ostream& out, const std::string& id) {
  write_dot(draw(g, view, id), out);
}

}  // namespace kernbench::topology
