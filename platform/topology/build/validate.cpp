// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/build/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernbench/phase2/op/space.h"
#include "kernbench/phase2/text/text.h"
#include "kernbench/platform/topology/graph/pe_edges.h"

namespace kernbench::topology {
namespace {

std::string range_text(const Memory& m) {
  return fmt::format("[{}, {}]", m.base, m.base + (m.size - 1));
}

bool is_pseudo_channel(const Node& n) {
  return n.attrs.has("interleave_bytes");
}

/// "a, b or c".
std::string one_of(std::vector<std::string> words) {
  if (words.size() < 2) return joined(words);
  const std::string last = words.back();
  words.pop_back();
  return joined(words) + " or " + last;
}

void check_owner(const Graph& g, const Kinds& kinds, const Memory& m, FaultList& faults) {
  const Node& n = g.nodes[m.node];
  if (n.space.empty()) {
    faults.add(m.line, "memories.node",
               "found '" + n.id + "' of kind " + n.kind + "; legal: a node of kind " + one_of(kinds.with_memory()));
  } else if (n.space != m.space && (m.space == name_of(Space::hbm) || m.space == name_of(Space::sram))) {
    faults.add(m.line, "memories.space",
               "found '" + m.space + "' on '" + n.id + "' of kind " + n.kind + "; legal: " + n.space +
                   ", or a name of your own");
  }
}

/// User-defined names become spaces of the process, whose number is limited.
void check_spaces(const Graph& g, FaultList& faults) {
  std::set<std::string_view> names = {name_of(Space::hbm), name_of(Space::sram), name_of(Space::tcm)};
  for (const Memory& m : g.memories) {
    if (!names.insert(m.space).second || names.size() != kMostSpaces + 1) continue;
    faults.add(
        m.line, "memories.space",
        fmt::format("found '{}' after {} other names; legal: at most {} spaces", m.space, kMostSpaces, kMostSpaces));
  }
}

void check_windows(const Graph& g, const Kinds& kinds, FaultList& faults) {
  check_spaces(g, faults);
  std::vector<const Memory*> sorted;
  std::vector<const Memory*> of_node(g.nodes.size(), nullptr);
  for (const Memory& m : g.memories) {
    check_owner(g, kinds, m, faults);
    if (m.size > 0 && m.base + (m.size - 1) < m.base) {
      faults.add(m.line, "memories.base",
                 fmt::format("found base {} + size {}; legal: a window that ends at 2^64 or before", m.base, m.size));
      continue;
    }
    const Node& n = g.nodes[m.node];
    if (is_pseudo_channel(n)) {
      const auto interleave = static_cast<uint64_t>(n.attrs.integer("interleave_bytes", 1));
      if (m.base % interleave != 0)
        faults.add(
            m.line, "memories.base",
            fmt::format("found {} on '{}'; legal: a multiple of its interleave_bytes {}", m.base, n.id, interleave));
      if (of_node[m.node])
        faults.add(
            m.line, "memories.node",
            fmt::format("found a second window on '{}', first on line {}; legal: one, as channels count from its base",
                        n.id, of_node[m.node]->line));
      of_node[m.node] = &m;
    }
    sorted.push_back(&m);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Memory* a, const Memory* b) { return a->base < b->base; });
  const Memory* widest = nullptr;  // of the previous memories, the one that ends last
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

/// A memory without any initiator is a mistake in the links.
void check_reachable(const Graph& g, const Kinds& kinds, FaultList& faults) {
  std::vector<bool> reached(g.nodes.size(), false);
  std::vector<uint32_t> open;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    if (g.nodes[n].initiator) open.push_back(n);
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
      faults.add(m.line, "memories.node",
                 "found '" + g.nodes[m.node].id + "', which no initiator reaches; legal: a memory with a path from a " +
                     one_of(kinds.of_initiators()));
  }
}

/// Links without buffers: one error for any number of nodes.
void check_buffers(const Graph& g, FaultList& faults) {
  if (g.timing.links.spec().has_buffers) return;
  const Node* first = nullptr;
  size_t more = 0;
  for (const Node& n : g.nodes) {
    if (!n.attrs.has("buffer_flits")) continue;
    if (first) {
      ++more;
    } else {
      first = &n;
    }
  }
  if (!first) return;
  faults.add(
      first->line, "buffer_flits",
      fmt::format("found {} on '{}'{} with links: {}; legal: only with links: {}",
                  first->attrs.integer("buffer_flits", 0), first->id, more > 0 ? fmt::format(" and {} more", more) : "",
                  g.timing.links.name(), link_modes().names_text(&LinkModeSpec::has_buffers)));
}

void check_link_mode(const Graph& g, FaultList& faults) {
  check_buffers(g, faults);
  if (!g.timing.links.spec().cuts_data) return;
  for (const Node& n : g.nodes) {
    if (!is_pseudo_channel(n)) continue;
    const int64_t interleave = n.attrs.integer("interleave_bytes", 0);
    if (interleave % g.timing.flit_bytes != 0)
      faults.add(n.line, "interleave_bytes",
                 fmt::format("found {} on '{}' with links: {}; legal: a multiple of timing.flit_bytes {}", interleave,
                             n.id, g.timing.links.name(), g.timing.flit_bytes));
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

/// An error of a template is reported for the first PE made from it.
void check_edges_inside_pes(const Graph& g, FaultList& faults) {
  std::set<std::pair<int, int>> told;  // lines of both blocks
  for (const Pe& pe : g.pes) {
    for (const auto& [from, to] : missing_edges_inside(g, pe)) {
      const Node &a = g.nodes[from], &b = g.nodes[to];
      if (!told.emplace(a.line, b.line).second) continue;
      faults.add(a.line, "links",
                 "found no edge '" + a.id + " -> " + b.id + "' among those inside the PE; legal: one " + a.kind +
                     " -> " + b.kind + ", or no edge at all for the standard ones");
    }
  }
}

}  // namespace

void validate(const Graph& g, const Kinds& kinds, FaultList& faults) {
  check_windows(g, kinds, faults);
  check_reachable(g, kinds, faults);
  check_link_mode(g, faults);
  check_tcm(g, faults);
  check_edges_inside_pes(g, faults);
}

}  // namespace kernbench::topology
