// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/topology/route/channel_dependencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/topology/route/channel_layers.h"
#include "kernbench/platform/topology/route/ways.h"

namespace kernbench::topology {
namespace {

constexpr uint32_t kNone = Ways::kNone;

/// Channel numbers: edge e for requests, edges + e for responses.
class DependencyFinder {
 public:
  DependencyFinder(const Graph& g, PathRouter& paths)
      : g_(g),
        ways_(g, paths),
        edges_(static_cast<uint32_t>(g.edges.size())),
        limited_(edges_),
        used_(2 * edges_),
        next_(2 * edges_) {
    for (uint32_t e = 0; e < edges_; ++e) limited_[e] = g.buffer_flits(g.edges[e].to) > 0;
  }

  ChannelDependencies find() {
    if (ways_.by_rule()) {
      ways_.for_each_way([this](const auto& begin, const auto& there, const auto& back, const auto& end) {
        add_way(begin, there, back, end);
      });
    } else {
      ways_.for_each_turn([this](uint32_t before, uint32_t edge) { add_turn(before, edge); });
    }
    ChannelDependencies found;
    for (const bool used : used_) found.channels += used;
    for (const auto& next : next_) found.dependencies += next.size();
    const std::vector<uint32_t> component = find_cycles(found);
    if (!found.cycle.empty()) found.layers = divide_into_layers(ways_, component, found.datelines);
    return found;
  }

 private:
  /// Requests there, responses back. At the memory a request waits until there is room for its response.
  void add_turn(uint32_t before, uint32_t edge) {
    depend(before, edge);
    const uint32_t back = ways_.back(edge);
    if (back == kNone) return;
    depend(edges_ + back, before == kNone || ways_.back(before) == kNone ? kNone : edges_ + ways_.back(before));
    if (ways_.leads_to_memory(edge)) depend(edge, edges_ + back);
  }

  /// The same if responses take another path: its channels in sequence, from one gate to the other.
  void add_way(const Ways::Gate& begin, const std::vector<uint32_t>& there, const std::vector<uint32_t>& back,
               const Ways::Gate& end) {
    std::vector<uint32_t> first = begin.edges, last = end.edges;
    if (begin.itself) first.push_back(kNone);
    if (end.itself) last.push_back(kNone);
    for (const uint32_t a : first) {
      for (const uint32_t b : last) {
        uint32_t at = a;
        for (const uint32_t e : there) depend(std::exchange(at, e), e);
        if (b != kNone) depend(std::exchange(at, b), b);
        const bool answers = at != kNone && ways_.leads_to_memory(at);
        // The continuation of a request at its memory; messages between PEs end there.
        at = answers ? at : kNone;
        const auto respond = [&](uint32_t e) { depend(std::exchange(at, edges_ + e), edges_ + e); };
        if (b != kNone) respond(ways_.back(b));
        for (const uint32_t e : back) respond(e);
        if (a != kNone) respond(ways_.back(a));
      }
    }
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

  /// By Tarjan's algorithm, without recursion: the number of each channel's strongly connected component, and a
  /// shortest cycle in the first one. A channel that is alone and does not depend on itself has 0.
  std::vector<uint32_t> find_cycles(ChannelDependencies& found) const {
    std::vector<uint32_t> component_of(next_.size(), 0);
    uint32_t components = 0;
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
        if (component.size() == 1 && !on_itself) continue;
        for (const uint32_t c : component) component_of[c] = components + 1;
        if (components++ > 0) continue;
        const std::vector<uint32_t> round = shortest_round(component);
        found.cycle_of_responses = round.front() >= edges_;
        for (const uint32_t c : round) found.cycle.push_back(c % edges_);
      }
    }
    for (uint32_t c = 0; c < component_of.size(); ++c) {
      if (component_of[c] == 0) continue;
      const uint32_t vcs = g_.virtual_channels(g_.edges[c % edges_].to);
      found.vcs = found.vcs == 0 ? vcs : std::min(found.vcs, vcs);
      found.circular[c / edges_].push_back(c % edges_);
    }
    return component_of;
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
  const Ways ways_;
  const uint32_t edges_;
  std::vector<bool> limited_;                ///< by edge
  std::vector<bool> used_;                   ///< by channel
  std::vector<std::vector<uint32_t>> next_;  ///< by channel: the channels that it depends on
};

/// "r0 -> r1 -> r0 (requests)"; a long cycle is shortened in the middle.
std::string cycle_text(const Graph& g, const ChannelDependencies& d) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < d.cycle.size(); ++i) {
    if (d.cycle.size() > 2 * kShown + 1 && i == kShown) {
      text += fmt::format("… {} more … -> ", d.cycle.size() - 2 * kShown);
      i = d.cycle.size() - kShown;
    }
    text += g.nodes[g.edges[d.cycle[i]].from].id + " -> ";
  }
  return fmt::format("{}{} ({})", text, g.nodes[g.edges[d.cycle.front()].from].id,
                     d.cycle_of_responses ? "responses" : "requests");
}

}  // namespace

ChannelDependencies find_dependencies(const Graph& g, PathRouter& paths) {
  return DependencyFinder(g, paths).find();
}

std::string describe(const Graph& g, const ChannelDependencies& d) {
  if (!d.deadlock_free()) {
    return fmt::format("may deadlock{}: links wait for each other in a cycle: {}",
                       d.layered() ? fmt::format(" with less than {} virtual channels", d.layers) : "",
                       cycle_text(g, d));
  }
  return fmt::format("deadlock-free: proved over {} channels and {} dependencies{}", d.channels, d.dependencies,
                     d.layers > 1 ? fmt::format(" in {} layers of virtual channels", d.layers) : "");
}

void require_deadlock_free(const Graph& g, const ChannelDependencies& d) {
  if (d.deadlock_free()) return;
  throw InputError(
      fmt::format("{}:{}: buffer_flits: found links that wait for each other in a cycle: {}; legal: {}routes without "
                  "one, a node on it without buffer_flits, or timing.prove_deadlock_free: false",
                  g.name, g.nodes[g.edges[d.cycle.front()].to].line, cycle_text(g, d),
                  d.layered() ? fmt::format("{} vcs or more at its nodes, ", d.layers) : ""));
}

}  // namespace kernbench::topology
