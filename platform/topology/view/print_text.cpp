// The summary that a person reads first: what the machine is, how large, how fast.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "kernbench/platform/topology/graph/faults.h"
#include "kernbench/platform/topology/graph/naming.h"
#include "kernbench/platform/topology/graph/pe_edges.h"
#include "kernbench/platform/topology/view/print.h"

namespace kernbench::topology {
namespace {

std::string grouped(uint64_t v) {
  std::string s = std::to_string(v);
  for (size_t i = s.size(); i > 3; i -= 3) s.insert(i - 3, ",");
  return s;
}

std::string fixed(double v, int digits) {
  char b[64];
  std::snprintf(b, sizeof b, "%.*f", digits, v);
  std::string s = b;
  if (s.find('.') != std::string::npos) {
    while (s.back() == '0') s.pop_back();
    if (s.back() == '.') s.pop_back();
  }
  return s;
}

/// "6 GB", "1.5 TB".
std::string size_text(double bytes) {
  const char* units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
  int u = 0;
  while (bytes >= 1024 && u < 6) {
    bytes /= 1024;
    ++u;
  }
  return fixed(bytes, 2) + " " + units[u];
}

std::string rate_text(double gbs) {
  return gbs >= 1e4 ? fixed(gbs / 1e3, 2) + " TB/s" : fixed(gbs, 2) + " GB/s";
}

/// Rows of cells, columns aligned; the first left, the others right, the last left again if it is a remark.
class Table {
 public:
  explicit Table(std::ostream& out) : out_(out) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print(size_t left_columns) {
    std::vector<size_t> width;
    for (const auto& r : rows_) {
      width.resize(std::max(width.size(), r.size()));
      for (size_t c = 0; c < r.size(); ++c) width[c] = std::max(width[c], r[c].size());
    }
    for (const auto& r : rows_) {
      std::string line = " ";
      for (size_t c = 0; c < r.size(); ++c) {
        const std::string pad(width[c] - r[c].size(), ' ');
        line += " " + (c < left_columns ? r[c] + pad : pad + r[c]) + " ";
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out_ << line << "\n";
    }
  }

 private:
  std::ostream& out_;
  std::vector<std::vector<std::string>> rows_;
};

std::string plural(size_t n, const char* what) {
  return grouped(n) + " " + what + (n == 1 ? "" : "s");
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
  if (!sips.empty()) out << plural(sips.size(), "SIP") << ", " << plural(cubes.size(), "cube") << ", ";
  out << plural(g.pes.size(), "PE") << "; " << plural(g.nodes.size(), "node") << ", " << plural(g.edges.size(), "edge")
      << "\n";
  out << "timing: links " << name_of(g.timing.links) << ", response " << name_of(g.timing.response) << ", header "
      << number_text(g.timing.header_bytes) << " B, flit " << g.timing.flit_bytes << " B, wire "
      << number_text(g.ns_per_mm) << " ns/mm\n";
  if (g.materialize_outputs) out << "materialize: outputs\n";
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
  std::string text() const { return least == most ? fixed(most, 3) : fixed(least, 3) + "-" + fixed(most, 3); }
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
  Table table(out);
  for (const auto& [kind, c] : by_impl) table.row({kind, grouped(c.nodes), c.overhead.text() + " ns"});
  table.print(1);
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
  Table table(out);
  for (const auto& [kind, s] : by_kind) {
    const bool limited = s.edges > s.unlimited;
    table.row({kind, grouped(s.edges),
               limited ? s.bw_each.text() + " GB/s" + (s.unlimited ? " or unlimited" : "") : "unlimited",
               limited ? rate_text(s.bw) + " in all" : "", s.mm_each.text() + " mm"});
  }
  table.print(1);
}

/// What a controller can deliver: its channels, or the widest link that leaves it.
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
  Table table(out);
  for (const auto& [space, s] : by_space) {
    char range[64];
    std::snprintf(range, sizeof range, "0x%llx-0x%llx", static_cast<unsigned long long>(s.first),
                  static_cast<unsigned long long>(s.last));
    table.row({space, grouped(s.count), "x " + size_text(s.bytes / static_cast<double>(s.count)),
               size_text(s.bytes) + " in all", rate_text(s.bw / static_cast<double>(s.count)) + " each",
               rate_text(s.bw) + " in all", range});
  }
  table.print(1);
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
  Table table(out);
  table.row({"GEMM f16", fixed(tops / n, 2) + " TFLOP/s each", fixed(tops, 1) + " TFLOP/s in all"});
  table.row({"TCM", size_text(tcm / n) + " each", size_text(tcm) + " in all"});
  table.print(1);
}

/// Contract: what happens inside a PE takes the time of its blocks alone.
void print_unused_figures(const Graph& g, std::ostream& out) {
  size_t count = 0;
  for (const Pe& pe : g.pes) {
    for (const auto& [from, to] : edges_inside(g, pe)) {
      const auto has_figures = [&, to = to](uint32_t e) {
        return g.edges[e].to == to && (g.edges[e].distance_mm > 0 || g.edges[e].bw_gbs);
      };
      count += static_cast<size_t>(std::count_if(g.out_edges[from].begin(), g.out_edges[from].end(), has_figures));
    }
  }
  if (count > 0)
    out << "\nEdges inside a PE take no time: of " << grouped(count) << " the distance or bandwidth is not used.\n";
}

}  // namespace

void print_text(const Graph& g, std::ostream& out) {
  print_head(g, out);
  print_nodes(g, out);
  print_edges(g, out);
  print_memories(g, out);
  print_pes(g, out);
  print_unused_figures(g, out);
}

}  // namespace kernbench::topology
