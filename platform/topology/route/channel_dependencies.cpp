#include "kernbench/platform/topology/route/channel_dependencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "kernbench/phase2/op/errors.h"

namespace kernbench::topology {
namespace {

constexpr uint32_t kNone = PathRouter::kNoEdge;

/// Channels are numbered: edge e for requests, edges + e for responses.
class DependencyFinder {
 public:
  DependencyFinder(const Graph& g, PathRouter& paths)
      : g_(g), paths_(paths), edges_(static_cast<uint32_t>(g.edges.size())), used_(2 * edges_), next_(2 * edges_) {
    find_edges_back();
    for (const Memory& m : g.memories) memories_.push_back(m.node);
    std::sort(memories_.begin(), memories_.end());
    memories_.erase(std::unique(memories_.begin(), memories_.end()), memories_.end());
    holds_memory_.resize(g.nodes.size());
    gate_.resize(g.nodes.size());
    for (const uint32_t m : memories_) holds_memory_[m] = true;
  }

  ChannelDependencies find() {
    std::vector<uint32_t> initiators, queues;
    for (uint32_t n = 0; n < g_.nodes.size(); ++n) {
      if (g_.nodes[n].initiator) initiators.push_back(n);
    }
    add_ways(initiators, memories_);
    for (const Pe& pe : g_.pes) {
      if (pe.blocks.count("pe_ipcq") > 0) queues.push_back(pe.blocks.at("pe_dma"));
    }
    add_ways(queues, queues);
    ChannelDependencies found;
    for (const bool used : used_) found.channels += used;
    for (const auto& next : next_) found.dependencies += next.size();
    for (const uint32_t channel : cycle()) {
      if (found.cycle.empty()) found.cycle_of_responses = channel >= edges_;
      found.cycle.push_back(channel % edges_);
    }
    return found;
  }

 private:
  /// What answers to a message over an edge takes (PathRouter::reversed): the first edge back between the same nodes.
  void find_edges_back() {
    in_edges_.resize(g_.nodes.size());
    for (uint32_t e = 0; e < edges_; ++e) in_edges_[g_.edges[e].to].push_back(e);
    back_.assign(edges_, kNone);
    for (uint32_t e = 0; e < edges_; ++e) {
      for (const uint32_t c : g_.out_edges[g_.edges[e].to]) {
        if (g_.edges[c].to != g_.edges[e].from) continue;
        back_[e] = c;
        break;
      }
    }
    limited_.resize(edges_);
    for (uint32_t e = 0; e < edges_; ++e) limited_[e] = g_.buffer_flits(g_.edges[e].to) > 0;
  }

  /// Where a node's ways begin or end: many initiators and memories have one edge to a node that others have too, and
  /// what lies behind that is the same for all of them.
  struct Gate {
    std::vector<uint32_t> edges;  ///< from there, or to there; none where the node is its own gate
    bool itself = false;
  };
  using Gates = std::map<uint32_t, Gate>;

  Gates gates_of(const std::vector<uint32_t>& nodes, bool ends) const {
    Gates gates;
    for (const uint32_t n : nodes) {
      const std::vector<uint32_t>& edges = ends ? in_edges_[n] : g_.out_edges[n];
      const bool leaf = edges.size() == 1 && !g_.nodes[n].transit;
      if (!leaf) {
        gates[n].itself = true;
        continue;
      }
      const Edge& e = g_.edges[edges.front()];
      const uint32_t gate = ends ? e.from : e.to;
      // A way leads on only past nodes that pass on.
      if (g_.nodes[gate].transit) {
        gates[gate].edges.push_back(edges.front());
      } else {
        gates[n].itself = true;
      }
    }
    return gates;
  }

  void add_ways(const std::vector<uint32_t>& from, const std::vector<uint32_t>& to) {
    const Gates ends = gates_of(to, true);
    std::vector<uint32_t> end_gates;
    for (auto g = ends.rbegin(); g != ends.rend(); ++g) end_gates.push_back(g->first);
    for (const uint32_t n : end_gates) gate_[n] = &ends.at(n);
    for (const auto& [start, begin] : gates_of(from, false)) {
      if (const auto here = ends.find(start); here != ends.end()) add_ends(begin.edges, begin.itself, here->second);
      paths_.for_each_turn(start, end_gates, [&, &first = begin](uint32_t before, uint32_t edge) {
        if (before != kNone) add_turn(before, edge);
        if (before == kNone) add_begin(first, edge);
        if (const Gate* g = gate_[g_.edges[edge].to]) add_ends({edge}, false, *g);
      });
    }
    for (const uint32_t n : end_gates) gate_[n] = nullptr;
  }

  /// Ways that begin with this edge, or come to it from a gate.
  void add_begin(const Gate& g, uint32_t edge) {
    if (g.itself) add_turn(kNone, edge);
    for (const uint32_t e : g.edges) add_turn(e, edge);
  }

  /// Ways that are at a gate by these edges, or begin there, go on to the ends behind it.
  void add_ends(const std::vector<uint32_t>& before, bool begins, const Gate& g) {
    for (const uint32_t e : g.edges) {
      if (begins) add_turn(kNone, e);
      for (const uint32_t b : before) add_turn(b, e);
    }
  }

  /// Requests there, responses back; at the memory a request waits until there is room for its response.
  void add_turn(uint32_t before, uint32_t edge) {
    depend(before, edge);
    const uint32_t back = back_[edge];
    if (back == kNone) return;
    depend(edges_ + back, before == kNone || back_[before] == kNone ? kNone : edges_ + back_[before]);
    if (holds_memory_[g_.edges[edge].to]) depend(edge, edges_ + back);
  }

  bool is_limited(uint32_t channel) const { return channel != kNone && limited_[channel % edges_]; }
  void use(uint32_t channel) {
    if (is_limited(channel)) used_[channel] = true;
  }
  void depend(uint32_t a, uint32_t b) {
    use(a);
    use(b);
    if (!is_limited(a) || !is_limited(b)) return;
    std::vector<uint32_t>& next = next_[a];
    if (std::find(next.begin(), next.end(), b) == next.end()) next.push_back(b);
  }

  /// By Tarjan's algorithm, without recursion: the first strongly connected component of several channels (or of one
  /// that depends on itself), and in it a shortest way round.
  std::vector<uint32_t> cycle() const {
    std::vector<uint32_t> index(next_.size(), 0), low(next_.size(), 0), stack;
    std::vector<bool> on_stack(next_.size(), false);
    uint32_t count = 0;
    struct Frame {
      uint32_t channel;
      size_t at;
    };
    std::vector<Frame> frames;
    for (uint32_t root = 0; root < next_.size(); ++root) {
      if (index[root] == 0) frames.push_back({root, 0});
      while (!frames.empty()) {
        const uint32_t v = frames.back().channel;
        if (frames.back().at == 0) {
          index[v] = low[v] = ++count;
          stack.push_back(v);
          on_stack[v] = true;
        }
        if (frames.back().at < next_[v].size()) {
          const uint32_t w = next_[v][frames.back().at++];
          if (index[w] == 0) {
            frames.push_back({w, 0});
          } else if (on_stack[w]) {
            low[v] = std::min(low[v], index[w]);
          }
          continue;
        }
        frames.pop_back();
        if (!frames.empty()) low[frames.back().channel] = std::min(low[frames.back().channel], low[v]);
        if (low[v] != index[v]) continue;
        const auto first = std::find(stack.begin(), stack.end(), v);
        const std::vector<uint32_t> component(first, stack.end());
        stack.erase(first, stack.end());
        for (const uint32_t c : component) on_stack[c] = false;
        const bool on_itself = std::find(next_[v].begin(), next_[v].end(), v) != next_[v].end();
        if (component.size() > 1 || on_itself) return shortest_round(component);
      }
    }
    return {};
  }

  std::vector<uint32_t> shortest_round(const std::vector<uint32_t>& component) const {
    const uint32_t start = *std::min_element(component.begin(), component.end());
    const std::unordered_set<uint32_t> inside(component.begin(), component.end());
    std::vector<uint32_t> open{start};
    std::unordered_map<uint32_t, uint32_t> from;
    for (size_t i = 0; i < open.size(); ++i) {
      for (const uint32_t w : next_[open[i]]) {
        if (w == start) {
          std::vector<uint32_t> round{open[i]};
          while (round.back() != start) round.push_back(from.at(round.back()));
          std::reverse(round.begin(), round.end());
          return round;
        }
        if (inside.count(w) > 0 && from.emplace(w, open[i]).second) open.push_back(w);
      }
    }
    return {};
  }

  const Graph& g_;
  PathRouter& paths_;
  const uint32_t edges_;
  std::vector<uint32_t> memories_, back_;
  std::vector<std::vector<uint32_t>> in_edges_;
  std::vector<const Gate*> gate_;  ///< by node, of the ends that ways are looked for to
  std::vector<bool> holds_memory_, limited_;
  std::vector<bool> used_;                   ///< by channel
  std::vector<std::vector<uint32_t>> next_;  ///< by channel: those that it depends on
};

std::string cycle_text(const Graph& g, const ChannelDependencies& d) {
  std::string text;
  for (const uint32_t e : d.cycle) text += g.nodes[g.edges[e].from].id + " -> ";
  return fmt::format("{}{} ({})", text, g.nodes[g.edges[d.cycle.front()].from].id,
                     d.cycle_of_responses ? "responses" : "requests");
}

}  // namespace

ChannelDependencies find_dependencies(const Graph& g, PathRouter& paths) {
  return DependencyFinder(g, paths).find();
}

std::string describe(const Graph& g, const ChannelDependencies& d) {
  if (!d.deadlock_free()) return "may deadlock: links wait for each other in a circle: " + cycle_text(g, d);
  return fmt::format("deadlock-free: proved over {} channels and {} dependencies", d.channels, d.dependencies);
}

void require_deadlock_free(const Graph& g, PathRouter& paths) {
  if (!g.has_finite_buffers() || !g.timing.prove_deadlock_free) return;
  const ChannelDependencies d = find_dependencies(g, paths);
  if (d.deadlock_free()) return;
  throw InputError(fmt::format(
      "{}:{}: buffer_flits: found links that wait for each other in a circle: {}; legal: routes without one, a node on "
      "it without buffer_flits, or timing.prove_deadlock_free: false",
      g.name, g.nodes[g.edges[d.cycle.front()].to].line, cycle_text(g, d)));
}

}  // namespace kernbench::topology
