// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/view/plan_json.h"

#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "kernbench/phase2/text/fields.h"
#include "kernbench/platform/topology/graph/naming.h"

namespace kernbench::topology {
namespace {

double rounded_mm(double mm) {
  return std::round(mm * 1e3) / 1e3;
}

}  // namespace

void describe(Fields& f, const Plan& plan) {
  const Diagram& d = plan.diagram;
  f("id", plan.id)("title", d.title)("subtitle", d.subtitle).list("boxes", d.boxes, [&](const Box& b) {
    f("", std::tuple(b.id, b.kind, b.title, rounded_mm(b.centre.x_mm), rounded_mm(b.centre.y_mm), rounded_mm(b.w),
                     rounded_mm(b.h), b.container ? 1 : 0));
  });
  f.list("wires", d.wires, [&](const Wire& wire) {
    std::vector<std::variant<size_t, double>> items = {wire.from, wire.to};
    for (const Position& p : wire.bends) items.insert(items.end(), {rounded_mm(p.x_mm), rounded_mm(p.y_mm)});
    f("", items);
  });
}

std::vector<Plan> plans_of(const Graph& system) {
  if (default_view(system) == View::flat) return {{"", draw_flat(system)}};
  std::vector<Plan> plans = {{"", draw_tray(system)}};
  std::set<std::pair<int, int>> parts;  // SIP and cube
  for (const Node& n : system.nodes) {
    const naming::Owner o = naming::owner_of(n.id);
    if (o.sip >= 0 && parts.insert({o.sip, -1}).second) {
      const std::string id = naming::sip(static_cast<uint32_t>(o.sip));
      plans.push_back({id, draw_sip(system, id)});
    }
    if (o.cube >= 0 && parts.insert({o.sip, o.cube}).second) {
      const std::string id = naming::cube(static_cast<uint32_t>(o.sip), static_cast<uint32_t>(o.cube));
      plans.push_back({id, draw_cube(system, id)});
    }
  }
  return plans;
}

}  // namespace kernbench::topology
