#include "kernbench/platform/topology/route/path_router.h"

#include <algorithm>
#include <cmath>

#include "kernbench/platform/topology/graph/foreign_blocks.h"

namespace kernbench::topology {
namespace {

bool leaves_out(EdgeSet set, const Graph& g, const Edge& e) {
  const bool command = e.kind == "command";
  switch (set) {
    case EdgeSet::all:
      return false;
    case EdgeSet::no_command:
      return command;
    case EdgeSet::m_cpu_dma:
      return command || g.nodes[e.from].kind.compare(0, 3, "pe_") == 0 || g.nodes[e.to].kind.compare(0, 3, "pe_") == 0;
    case EdgeSet::local:
      break;
  }
  return e.kind == "ucie" || e.kind == "pcie" || g.nodes[e.from].kind == "ucie" || g.nodes[e.to].kind == "ucie";
}

/// What an edge counts as hops: a foreign node in the middle of one leaves it one.
uint32_t hops_of(const Graph& g, const Edge& e) {
  constexpr uint32_t kHop = 256, kToForeign = 1;
  if (is_foreign(g, e.to)) return kToForeign;
  return is_foreign(g, e.from) ? kHop - kToForeign : kHop;
}

}  // namespace

PathRouter::PathRouter(const Graph& graph, EdgeSet set)
    : graph_(graph),
      nm_(graph.edges.size()),
      hops_(graph.edges.size()),
      left_out_(graph.edges.size(), false),
      in_first_(graph.nodes.size() + 1, 0),
      in_edges_(graph.edges.size()),
      labels_(graph.nodes.size()),
      source_(static_cast<uint32_t>(graph.nodes.size())) {
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    nm_[e] = graph.edges[e].nm();
    hops_[e] = hops_of(graph, graph.edges[e]);
    left_out_[e] = leaves_out(set, graph, graph.edges[e]);
    ++in_first_[graph.edges[e].to + 1];
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) in_first_[n + 1] += in_first_[n];
  std::vector<uint32_t> next(in_first_.begin(), in_first_.end() - 1);
  for (uint32_t e = 0; e < graph.edges.size(); ++e) in_edges_[next[graph.edges[e].to]++] = e;
}

void PathRouter::start(uint32_t source) {
  source_ = source;
  if (++epoch_ == 0) {  // wrapped after 2^32 searches: old stamps would look new
    for (Label& l : labels_) l.epoch = 0;
    epoch_ = 1;
  }
  open_.clear();
  labels_[source].cost = {0, 0};
  labels_[source].epoch = epoch_;
  labels_[source].settled = false;
  open_.push_back({{0, 0}, source});
}

bool PathRouter::settle(uint32_t target) {
  while (!settled(target)) {
    if (open_.empty()) return false;
    std::pop_heap(open_.begin(), open_.end(), std::greater<>());
    const Open top = open_.back();
    open_.pop_back();
    Label& here = labels_[top.node];
    if (here.settled || !(here.cost == top.cost)) continue;
    here.settled = true;
    if (!expandable(top.node)) continue;
    for (const uint32_t e : graph_.out_edges[top.node]) {
      if (left_out_[e]) continue;
      const uint32_t to = graph_.edges[e].to;
      const Cost cost{top.cost.nm + nm_[e], top.cost.hops + hops_[e]};
      Label& there = labels_[to];
      if (there.epoch != epoch_) {
        there.epoch = epoch_;
        there.settled = false;
        there.cost = cost;
      } else if (cost < there.cost) {
        there.cost = cost;
      } else {
        continue;
      }
      open_.push_back({cost, to});
      std::push_heap(open_.begin(), open_.end(), std::greater<>());
    }
  }
  return true;
}

bool PathRouter::on_optimal_path(uint32_t edge) const {
  const Edge& e = graph_.edges[edge];
  if (left_out_[edge] || !settled(e.from) || !settled(e.to) || !expandable(e.from)) return false;
  const Cost& from = labels_[e.from].cost;
  return Cost{from.nm + nm_[edge], from.hops + hops_[edge]} == labels_[e.to].cost;
}

void PathRouter::mark_back_from(uint32_t target) {
  if (++query_ == 0) {
    for (Label& l : labels_) l.marked = 0;
    query_ = 1;
  }
  std::vector<uint32_t> todo{target};
  labels_[target].marked = query_;
  while (!todo.empty()) {
    const uint32_t n = todo.back();
    todo.pop_back();
    for (uint32_t i = in_first_[n]; i < in_first_[n + 1]; ++i) {
      const uint32_t from = graph_.edges[in_edges_[i]].from;
      if (labels_[from].marked == query_ || !on_optimal_path(in_edges_[i])) continue;
      labels_[from].marked = query_;
      todo.push_back(from);
    }
  }
}

bool PathRouter::has_path(uint32_t a, uint32_t b) {
  if (a == b) return true;
  if (source_ != a) start(a);
  return settle(b);
}

std::vector<uint32_t> PathRouter::find_path(uint32_t a, uint32_t b) {
  std::vector<uint32_t> path;
  if (a == b) return path;
  if (!has_path(a, b)) throw RouteError("no path from '" + graph_.nodes[a].id + "' to '" + graph_.nodes[b].id + "'");
  // Among the optimal edges that lead to b, the least index at every node gives the least sequence: out_edges is in
  // compiled order.
  mark_back_from(b);
  for (uint32_t n = a; n != b;) {
    for (const uint32_t e : graph_.out_edges[n]) {
      if (labels_[graph_.edges[e].to].marked != query_ || !on_optimal_path(e)) continue;
      path.push_back(e);
      n = graph_.edges[e].to;
      break;
    }
  }
  return path;
}

int64_t PathRouter::distance_nm(uint32_t a, uint32_t b) {
  if (a == b) return 0;
  if (!has_path(a, b)) throw RouteError("no path from '" + graph_.nodes[a].id + "' to '" + graph_.nodes[b].id + "'");
  return labels_[b].cost.nm;
}

std::vector<uint32_t> PathRouter::reversed(const std::vector<uint32_t>& path) const {
  std::vector<uint32_t> back;
  back.reserve(path.size());
  for (const uint32_t e : path) {
    const Edge& forward = graph_.edges[e];
    const auto& candidates = graph_.out_edges[forward.to];
    const auto it = std::find_if(candidates.begin(), candidates.end(),
                                 [&](uint32_t c) { return graph_.edges[c].to == forward.from; });
    if (it == candidates.end())
      throw RouteError("no edge back from '" + graph_.nodes[forward.to].id + "' to '" + graph_.nodes[forward.from].id +
                       "'");
    back.push_back(*it);
  }
  return back;
}

}  // namespace kernbench::topology
