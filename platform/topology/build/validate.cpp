#include "kernbench/platform/topology/build/validate.h"

#include <algorithm>
#include <set>

#include "kernbench/platform/topology/graph/kinds.h"
#include "kernbench/platform/topology/graph/pe_edges.h"

namespace kernbench::topology {
namespace {

std::string range_text(const Memory& m) {
  return "[" + std::to_string(m.base) + ", " + std::to_string(m.base + (m.size - 1)) + "]";
}

bool is_pseudo_channel(const Node& n) {
  return n.attrs.has("interleave_bytes");
}

void check_owner(const Graph& g, const Memory& m, FaultList& faults) {
  const Node& n = g.nodes[m.node];
  const KindInfo* info = find_kind(n.kind);
  const std::string space = info ? info->space : "";
  if (space.empty()) {
    faults.add(m.line, "memories.node",
               "found '" + n.id + "' of kind " + n.kind + "; legal: a node of kind hbm_ctrl or sram");
  } else if (space != m.space) {
    faults.add(m.line, "memories.space",
               "found '" + m.space + "' on '" + n.id + "' of kind " + n.kind + "; legal: " + space);
  }
}

void check_windows(const Graph& g, FaultList& faults) {
  std::vector<const Memory*> sorted;
  std::vector<const Memory*> of_node(g.nodes.size(), nullptr);
  for (const Memory& m : g.memories) {
    check_owner(g, m, faults);
    if (m.size > 0 && m.base + (m.size - 1) < m.base) {
      faults.add(m.line, "memories.base",
                 "found base " + std::to_string(m.base) + " + size " + std::to_string(m.size) +
                     "; legal: a window that ends at 2^64 or before");
      continue;
    }
    const Node& n = g.nodes[m.node];
    if (is_pseudo_channel(n)) {
      const auto interleave = static_cast<uint64_t>(n.attrs.integer("interleave_bytes", 1));
      if (m.base % interleave != 0)
        faults.add(m.line, "memories.base",
                   "found " + std::to_string(m.base) + " on '" + n.id +
                       "'; legal: a multiple of its interleave_bytes " + std::to_string(interleave));
      if (of_node[m.node])
        faults.add(m.line, "memories.node",
                   "found a second window on '" + n.id + "', first on line " + std::to_string(of_node[m.node]->line) +
                       "; legal: one, as channels count from its base");
      of_node[m.node] = &m;
    }
    sorted.push_back(&m);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Memory* a, const Memory* b) { return a->base < b->base; });
  const Memory* widest = nullptr;  // of those before, the one that ends last
  for (const Memory* m : sorted) {
    if (widest && m->base <= widest->base + (widest->size - 1)) {
      faults.add(m->line, "memories.base",
                 "found " + range_text(*m) + " of '" + g.nodes[m->node].id + "', which overlaps " +
                     range_text(*widest) + " of '" + g.nodes[widest->node].id + "' on line " +
                     std::to_string(widest->line) + "; legal: ranges apart");
    }
    if (!widest || m->base + (m->size - 1) > widest->base + (widest->size - 1)) widest = m;
  }
}

/// A memory that no initiator can reach is a mistake in the links.
void check_reachable(const Graph& g, FaultList& faults) {
  std::vector<bool> reached(g.nodes.size(), false);
  std::vector<uint32_t> open;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const KindInfo* info = find_kind(g.nodes[n].kind);
    if (info && info->initiator) open.push_back(n);
  }
  std::vector<bool> expanded(g.nodes.size(), false);
  for (const uint32_t n : open) expanded[n] = true;
  while (!open.empty()) {
    const uint32_t n = open.back();
    open.pop_back();
    for (const uint32_t e : g.out_edges[n]) {
      const uint32_t to = g.edges[e].to;
      reached[to] = true;
      if (!g.nodes[to].transit || expanded[to]) continue;
      expanded[to] = true;
      open.push_back(to);
    }
  }
  for (const Memory& m : g.memories) {
    if (!reached[m.node])
      faults.add(
          m.line, "memories.node",
          "found '" + g.nodes[m.node].id +
              "', which no initiator reaches; legal: a memory with a path from a pe_dma, m_cpu, pcie_ep or port");
  }
}

void check_flits(const Graph& g, FaultList& faults) {
  if (g.timing.links != Links::flit) return;
  for (const Node& n : g.nodes) {
    if (!is_pseudo_channel(n)) continue;
    const int64_t interleave = n.attrs.integer("interleave_bytes", 0);
    if (interleave % g.timing.flit_bytes != 0)
      faults.add(n.line, "interleave_bytes",
                 "found " + std::to_string(interleave) + " on '" + n.id +
                     "' with links: flit; legal: a multiple of timing.flit_bytes " +
                     std::to_string(g.timing.flit_bytes));
  }
}

void check_tcm(const Graph& g, FaultList& faults) {
  for (const Node& n : g.nodes) {
    if (n.kind != "pe_tcm" || !n.attrs.has("size_mb")) continue;
    const double size = n.attrs.number("size_mb", 0), reserved = n.attrs.number("reserved_mb", 0);
    if (reserved > size)
      faults.add(
          n.line, "reserved_mb",
          "found " + number_text(reserved) + " on '" + n.id + "'; legal: at most its size_mb " + number_text(size));
  }
}

/// A template's fault is told for the first PE that is made from it.
void check_edges_inside_pes(const Graph& g, FaultList& faults) {
  std::set<std::pair<int, int>> told;  // lines of both blocks
  for (const Pe& pe : g.pes) {
    for (const auto& [from, to] : missing_edges_inside(g, pe)) {
      const Node &a = g.nodes[from], &b = g.nodes[to];
      if (!told.emplace(a.line, b.line).second) continue;
      faults.add(a.line, "links", "found no edge '" + a.id + " -> " + b.id + "' among those inside the PE; legal: one " +
                                      a.kind + " -> " + b.kind + ", or no edge at all for the standard ones");
    }
  }
}

}  // namespace

void validate(const Graph& g, FaultList& faults) {
  check_windows(g, faults);
  check_reachable(g, faults);
  check_flits(g, faults);
  check_tcm(g, faults);
  check_edges_inside_pes(g, faults);
}

}  // namespace kernbench::topology
