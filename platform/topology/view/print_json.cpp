// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "kernbench/phase2/text/forms.h"
#include "kernbench/platform/topology/view/print.h"

namespace kernbench::topology {
void print_json(const Graph& g, std::ostream& out) {
  JsonFields f(out, JsonWriter::Layout::spaced, JsonWriter::Reals::pointed);
  const auto list = [&](const char* name, const auto& all, const auto& record) {
    f.line(1).lines(all.empty() ? -1 : 2, all.empty() ? -1 : 1).each(name, all, record);
  };
  f.document([&] {
    f.line(1)("ns_per_mm", g.ns_per_mm).line(1)("timing", [&] {
      f("links", g.timing.links.name())("response", g.timing.response)("header_bytes", g.timing.header_bytes);
      f("flit_bytes", g.timing.flit_bytes).given("packet_flits", g.timing.packet_flits);
    });
    list("nodes", g.nodes, [&](const Node& n) {
      f("id", n.id)("kind", n.kind)("impl", n.impl)("transit", n.transit)("attrs", n.attrs.items());
    });
    list("edges", g.edges, [&](const Edge& e) {
      f("from", g.nodes[e.from].id)("to", g.nodes[e.to].id)("kind", e.kind)("distance_mm", e.distance_mm);
      f("bw_gbs", e.bw_gbs);
    });
    list("memories", g.memories,
         [&](const Memory& m) { f("node", g.nodes[m.node].id)("space", m.space)("base", m.base)("size", m.size); });
    f.line(0);
  });
}

}  // namespace kernbench::topology
