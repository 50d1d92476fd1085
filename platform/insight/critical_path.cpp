// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/insight/critical_path.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace kernbench::insight {

CriticalPath critical_path(const RunGraph& graph, Moment end) {
  CriticalPath found;
  std::vector<PathStep>& path = found.steps;  // backwards in time
  for (Moment m = end; m != 0;) {
    found.moments.emplace_back(graph.ns(m), m);
    auto [c, behind] = graph.causes(m);
    auto last = c;
    double latest = graph.ns(last->from) + graph.cost_ns(last->cost);
    while (++c != behind) {
      const double comes = graph.ns(c->from) + graph.cost_ns(c->cost);
      if (comes <= latest) continue;
      latest = comes;
      last = c;
    }
    double to = graph.ns(m);
    const double from = graph.ns(last->from);
    const auto [first_part, end_part] = graph.parts(last->cost);
    for (const CostPart* p = first_part; p < end_part; ++p) found.limits[static_cast<size_t>(p->limit)] = true;
    for (const CostPart* p = end_part; p-- > first_part && to > from;) {
      if (p->ns == 0 && p != first_part) continue;  // a mark of a limit
      const double start = p == first_part ? from : std::max(from, to - p->ns);
      path.push_back({start, to, p->resource, p->is_edge, p->index, graph.op_of(m)});
      to = start;
    }
    // Rounding error of doubles.
    if (to > from && first_part == end_part)
      path.push_back({from, to, Resource::other, false, CostPart::kNobody, graph.op_of(m)});
    m = last->from;
  }
  std::reverse(path.begin(), path.end());
  std::reverse(found.moments.begin(), found.moments.end());
  return found;
}

Blame blame(const RunGraph& graph, const std::vector<PathStep>& path) {
  Blame b;
  std::map<std::tuple<Resource, bool, uint32_t>, double> components;
  using Line = std::pair<std::string, int>;
  std::map<Line, double> lines;
  std::array<std::map<Line, double>, kResources> lines_of;
  std::map<uint32_t, double> pes, launches;
  for (const PathStep& s : path) {
    b.by_resource[static_cast<size_t>(s.resource)] += s.ns();
    components[{s.resource, s.is_edge, s.index}] += s.ns();
    const RunGraph::Op* op = graph.op_at(s.op);
    pes[op ? op->pe : kNoPe] += s.ns();
    launches[op ? op->launch : kNoLaunch] += s.ns();
    const Line line = op && op->where.line > 0 ? Line(op->where.file, op->where.line) : Line();
    lines[line] += s.ns();
    lines_of[static_cast<size_t>(s.resource)][line] += s.ns();
  }
  const auto text_of = [](const Line& l) { return l.second > 0 ? l.first + ":" + std::to_string(l.second) : ""; };
  const auto less = [](const auto& x, const auto& y) { return x.second < y.second; };
  for (size_t i = 0; i < kResources; ++i) {
    if (!lines_of[i].empty())
      b.line_of[i] = text_of(std::max_element(lines_of[i].begin(), lines_of[i].end(), less)->first);
  }
  for (const auto& [key, ns] : components)
    b.by_component.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), ns});
  for (const auto& [where, ns] : lines) b.by_line.push_back({text_of(where), ns});
  for (const auto& [number, ns] : pes) b.by_pe.push_back({number, ns});
  for (const auto& [number, ns] : launches) b.by_launch.push_back({number, ns});
  const auto more = [](const auto& x, const auto& y) { return x.ns > y.ns; };
  std::stable_sort(b.by_component.begin(), b.by_component.end(), more);
  std::stable_sort(b.by_line.begin(), b.by_line.end(), more);
  return b;
}

std::string holder_name(const topology::Graph& graph, bool is_edge, uint32_t index) {
  if (index == CostPart::kNobody) return {};
  if (!is_edge) return graph.nodes[index].id;
  const topology::Edge& e = graph.edges[index];
  return graph.nodes[e.from].id + "->" + graph.nodes[e.to].id;
}

}  // namespace kernbench::insight
