// SPDX-License-Identifier: Apache-2.0
// A summary: structure, size and speed of the machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernbench/phase2/text/print.h"
#include "kernbench/phase2/text/table.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/platform/topology/route/channel_dependencies.h"
#include "kernbench/platform/topology/view/print.h"

namespace kernbench::topology {
namespace {

/// With at most `digits` decimals.
std::string rounded(double v, int digits) {
  std::string s = fmt::format("{:.{}f}", v, digits);
  s.erase(s.find_last_not_of('0') + 1);
  if (s.back() == '.') s.pop_back();
  return s;
}

/// "6 GiB", "1.5 TiB".
std::string size_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int u = 0;
  while (bytes >= 1024 && u < 6) {
    bytes /= 1024;
    ++u;
  }
  return rounded(bytes, 2) + " " + units[u];
}

std::string rate_text(double gbs) {
  return gbs >= 1e4 ? rounded(gbs / 1e3, 2) + " TB/s" : rounded(gbs, 2) + " GB/s";
}

std::string plural(size_t n, const char* what) {
  return fmt::format("{} {}{}", grouped(n), what, n == 1 ? "" : "s");
}

void print_head(const Graph& g, std::ostream& out) {
  std::set<int> sips;
  std::set<std::pair<int, int>> cubes;
  for (const Node& n : g.nodes) {
    const naming::Owner o = naming::owner_of(n.id);
    if (o.sip >= 0) sips.insert(o.sip);
    if (o.cube >= 0) cubes.insert({o.sip, o.cube});
  }
  out << g.name << ": ";
  if (!sips.empty()) print_to(out, "{}, {}, ", plural(sips.size(), "SIP"), plural(cubes.size(), "cube"));
  print_to(out, "{}; {}, {}\n", plural(g.pes.size(), "PE"), plural(g.nodes.size(), "node"),
           plural(g.edges.size(), "edge"));
  print_to(out, "timing: links {}, response {}, header {} B, flit {} B, wire {} ns/mm\n", g.timing.links.name(),
           name_of(g.timing.response), number_text(g.timing.header_bytes), g.timing.flit_bytes,
           number_text(g.ns_per_mm));
  if (g.timing.packet_flits > 0)
    print_to(out, "packets: at most {} flits of data behind a header\n", g.timing.packet_flits);
  for (const Network& n : g.networks) {
    print_to(out, "network {}: {} x {} routers, {}, along {} first\n", n.id, n.axes[0].size, n.axes[1].size,
             n.axes[0].wraps ? "torus" : "mesh", n.first == 0 ? "x" : "y");
  }
  if (g.materialize != Materialize::none) print_to(out, "materialize: {}\n", name_of(g.materialize));
  if (!g.has_finite_buffers()) return;
  const auto limited =
      std::count_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return n.attrs.has("buffer_flits"); });
  PathRouter paths(g);
  print_to(out, "buffers: finite at {}; {}\n", plural(static_cast<size_t>(limited), "node"),
           describe(g, find_dependencies(g, paths)));
}

/// "8", "0-8".
struct Range {
  double least = 0, most = 0;
  bool empty = true;
  void take(double v) {
    least = empty ? v : std::min(least, v);
    most = empty ? v : std::max(most, v);
    empty = false;
  }
  std::string text() const { return least == most ? rounded(most, 3) : rounded(least, 3) + "-" + rounded(most, 3); }
};

void print_nodes(const Graph& g, std::ostream& out) {
  struct Count {
    size_t nodes = 0;
    Range overhead;
  };
  std::map<std::string, Count> by_impl;
  for (const Node& n : g.nodes) {
    Count& c = by_impl[n.impl == "builtin." + n.kind ? n.kind : n.kind + " (" + n.impl + ")"];
    c.overhead.take(n.attrs.number("overhead_ns", 0));
    ++c.nodes;
  }
  out << "\nnodes\n";
  TextTable table(1, 2);
  for (const auto& [kind, c] : by_impl) table.add({kind, grouped(c.nodes), c.overhead.text() + " ns"});
  out << table.text();
}

void print_edges(const Graph& g, std::ostream& out) {
  struct Sum {
    size_t edges = 0, unlimited = 0;
    double bw = 0;
    Range bw_each, mm_each;
  };
  std::map<std::string, Sum> by_kind;
  for (uint32_t e = 0; e < g.edges.size(); ++e) {
    Sum& s = by_kind[g.edges[e].kind];
    ++s.edges;
    s.mm_each.take(g.edges[e].distance_mm);
    const double bw = g.effective_bw(e);
    s.bw += bw;
    if (bw == 0)
      ++s.unlimited;
    else
      s.bw_each.take(bw);
  }
  out << "\nedges (directed)\n";
  TextTable table(1, 2);
  for (const auto& [kind, s] : by_kind) {
    const bool limited = s.edges > s.unlimited;
    table.add({kind, grouped(s.edges),
               limited ? s.bw_each.text() + " GB/s" + (s.unlimited ? " or unlimited" : "") : "unlimited",
               limited ? rate_text(s.bw) + " in all" : "", s.mm_each.text() + " mm"});
  }
  out << table.text();
}

/// A controller's peak: its channels, or its widest outgoing link.
double peak_of(const Graph& g, uint32_t node) {
  const Attributes& a = g.nodes[node].attrs;
  if (a.has("pc_bw_gbs")) return a.number("pc_bw_gbs", 0) * static_cast<double>(a.integer("pseudo_channels", 1));
  double widest = 0;
  for (const uint32_t e : g.out_edges[node]) widest = std::max(widest, g.effective_bw(e));
  return widest;
}

void print_memories(const Graph& g, std::ostream& out) {
  if (g.memories.empty()) return;
  struct Sum {
    size_t count = 0;
    double bytes = 0, bw = 0;
    uint64_t first = UINT64_MAX, last = 0;
  };
  std::map<std::string, Sum> by_space;
  for (const Memory& m : g.memories) {
    Sum& s = by_space[m.space];
    ++s.count;
    s.bytes += static_cast<double>(m.size);
    s.bw += peak_of(g, m.node);
    s.first = std::min(s.first, m.base);
    s.last = std::max(s.last, m.base + (m.size - 1));
  }
  out << "\nmemories\n";
  TextTable table(1, 2);
  for (const auto& [space, s] : by_space) {
    table.add({space, grouped(s.count), "x " + size_text(s.bytes / static_cast<double>(s.count)),
               size_text(s.bytes) + " in all", rate_text(s.bw / static_cast<double>(s.count)) + " each",
               rate_text(s.bw) + " in all", fmt::format("{:#x}-{:#x}", s.first, s.last)});
  }
  out << table.text();
}

void print_pes(const Graph& g, std::ostream& out) {
  if (g.pes.empty()) return;
  double tops = 0, tcm = 0;
  size_t complete = 0;
  for (const Pe& pe : g.pes) {
    const auto gemm = pe.blocks.find("pe_gemm"), mem = pe.blocks.find("pe_tcm");
    if (gemm != pe.blocks.end()) {
      const Attributes& a = g.nodes[gemm->second].attrs;
      const double macs = a.number("macs_per_cycle", a.number("rows", 0) * a.number("cols", 0));
      const NumberMap* rates = a.map("rates");
      const double rate = rates && rates->count("f16") ? rates->at("f16") : 1;
      tops += 2e-3 * macs * a.number("freq_ghz", 0) * rate;
    }
    if (mem != pe.blocks.end()) tcm += g.nodes[mem->second].attrs.number("size_mb", 0) * 1048576;
    if (pe.blocks.count("pe_cpu") && pe.blocks.count("pe_scheduler") && gemm != pe.blocks.end()) ++complete;
  }
  if (complete == 0) return;
  const auto n = static_cast<double>(g.pes.size());
  out << "\nPEs\n";
  TextTable table(1, 2);
  table.add({"GEMM f16", rounded(tops / n, 2) + " TFLOP/s each", rounded(tops, 1) + " TFLOP/s in all"});
  table.add({"TCM", size_text(tcm / n) + " each", size_text(tcm) + " in all"});
  out << table.text();
}

/// Inside a PE only the blocks take time (timing rules).
void print_unused_figures(const Graph& g, std::ostream& out) {
  size_t count = 0;
  for (const Pe& pe : g.pes) {
    for (const PeEdge& inside : edges_inside(g, pe)) {
      const auto has_figures = [&](uint32_t e) {
        return g.edges[e].to == inside.to && (g.edges[e].distance_mm > 0 || g.edges[e].bw_gbs);
      };
      const std::vector<uint32_t>& out_edges = g.out_edges[inside.from];
      count += static_cast<size_t>(std::count_if(out_edges.begin(), out_edges.end(), has_figures));
    }
  }
  if (count > 0)
    out << "\nEdges inside a PE take no time: of " << grouped(count) << " the distance or bandwidth is not used.\n";
}

/// "pe_math.cycles lacks erf, softmax: each is 1"; empty if it lists all ops.
std::string keys_left_out(const Node& n, const AttrSpec& attribute) {
  const NumberMap* given = n.attrs.map(attribute.name);
  std::string list;
  for (const KnownKey& key : attribute.known_keys) {
    if (given && key.in(*given)) continue;
    list += (list.empty() ? "" : ", ") + key.name;
  }
  if (list.empty()) return {};
  return fmt::format("{}.{} lacks {}: each is {}", n.kind, attribute.name, list, number_text(attribute.key_default));
}

}  // namespace

void print_keys_left_out(const Graph& g, const ImplCatalog& catalog, std::ostream& out) {
  std::set<std::string> lines;
  for (const Node& n : g.nodes) {
    const ImplSpec* spec = catalog.find(n.impl);
    for (size_t a = 0; spec && a < spec->attributes.size(); ++a) {
      const std::string line = keys_left_out(n, spec->attributes[a]);
      if (!line.empty()) lines.insert(line);
    }
  }
  if (!lines.empty()) out << "\n";
  for (const std::string& line : lines) out << line << "\n";
}

void print_text(const Graph& g, std::ostream& out) {
  print_head(g, out);
  print_nodes(g, out);
  print_edges(g, out);
  print_memories(g, out);
  print_pes(g, out);
  print_unused_figures(g, out);
}

}  // namespace kernbench::topology
