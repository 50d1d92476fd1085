#include "kernbench/platform/topology/view/plan_json.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/view/diagram.h"

namespace kernbench::topology {
namespace {

double rounded_mm(double mm) {
  return std::round(mm * 1e3) / 1e3;
}

void write_plan(JsonWriter& w, const std::string& id, const Diagram& d) {
  w.open('{').field("id", id).field("title", d.title).field("subtitle", d.subtitle).key("boxes").open('[');
  for (const Box& b : d.boxes) {
    w.open('[')
        .value(b.id)
        .value(b.kind)
        .value(b.title)
        .value(rounded_mm(b.centre.x_mm))
        .value(rounded_mm(b.centre.y_mm));
    w.value(rounded_mm(b.w)).value(rounded_mm(b.h)).value(b.container ? 1 : 0).close(']');
  }
  w.close(']').key("wires").open('[');
  for (const Wire& wire : d.wires) {
    w.open('[').value(wire.from).value(wire.to);
    for (const Position& p : wire.bends) w.value(rounded_mm(p.x_mm)).value(rounded_mm(p.y_mm));
    w.close(']');
  }
  w.close(']').close('}');
}

}  // namespace

void write_plans(JsonWriter& w, const Graph& system) {
  w.open('[');
  if (default_view(system) == View::flat) {
    write_plan(w, "", draw_flat(system));
  } else {
    write_plan(w, "", draw_tray(system));
    std::set<std::pair<int, int>> parts;  // SIP and cube
    for (const Node& n : system.nodes) {
      const naming::Owner o = naming::owner_of(n.id);
      if (o.sip >= 0 && parts.insert({o.sip, -1}).second) {
        const std::string id = naming::sip(static_cast<uint32_t>(o.sip));
        write_plan(w, id, draw_sip(system, id));
      }
      if (o.cube >= 0 && parts.insert({o.sip, o.cube}).second) {
        const std::string id = naming::cube(static_cast<uint32_t>(o.sip), static_cast<uint32_t>(o.cube));
        write_plan(w, id, draw_cube(system, id));
      }
    }
  }
  w.close(']');
}

}  // namespace kernbench::topology
