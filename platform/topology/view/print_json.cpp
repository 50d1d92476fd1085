#include <ostream>

#include "kernbench/phase2/text/json_writer.h"
#include "kernbench/platform/topology/view/print.h"

namespace kernbench::topology {
namespace {

void write_node(JsonWriter& w, const Node& n) {
  w.open('{').field("id", n.id).field("kind", n.kind).field("impl", n.impl).field("transit", n.transit);
  w.key("attrs").open('{');
  for (const auto& [key, value] : n.attrs.items()) w.field(key, value);
  w.close('}').close('}');
}

void write_edge(JsonWriter& w, const Graph& g, const Edge& e) {
  w.open('{').field("from", g.nodes[e.from].id).field("to", g.nodes[e.to].id).field("kind", e.kind);
  w.field("distance_mm", e.distance_mm).field("bw_gbs", e.bw_gbs).close('}');
}

void write_memory(JsonWriter& w, const Graph& g, const Memory& m) {
  w.open('{').field("node", g.nodes[m.node].id).field("space", m.space).field("base", m.base).field("size", m.size);
  w.close('}');
}

}  // namespace

void print_json(const Graph& g, std::ostream& out) {
  std::string text;
  JsonWriter w(text, JsonWriter::Layout::spaced, JsonWriter::Reals::pointed);
  const auto write_list = [&](const char* name, const auto& list, const auto& write) {
    w.new_line(1).key(name).open('[');
    for (const auto& item : list) {
      w.new_line(2);
      write(item);
      out << text;
      text.clear();
    }
    if (!list.empty()) w.new_line(1);
    w.close(']');
  };
  w.open('{').new_line(1).field("ns_per_mm", g.ns_per_mm).new_line(1).key("timing").open('{');
  w.field("links", g.timing.links.name()).field("response", name_of(g.timing.response));
  w.field("header_bytes", g.timing.header_bytes).field("flit_bytes", g.timing.flit_bytes);
  if (g.timing.packet_flits > 0) w.field("packet_flits", g.timing.packet_flits);
  w.close('}');
  write_list("nodes", g.nodes, [&](const Node& n) { write_node(w, n); });
  write_list("edges", g.edges, [&](const Edge& e) { write_edge(w, g, e); });
  write_list("memories", g.memories, [&](const Memory& m) { write_memory(w, g, m); });
  w.new_line(0).close('}');
  out << text << '\n';
}

}  // namespace kernbench::topology
