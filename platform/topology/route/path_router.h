// SPDX-License-Identifier: Apache-2.0
// Shortest paths with the tie rule of the timing rules (§1).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/route/blocks.h"
#include "kernbench/platform/topology/route/network_rules.h"

namespace kernbench::topology {

/// No path, or no return path; the message names both ends.
class RouteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The graphs of ADR-0051, defined by the edges that they exclude. Timing uses `all`. In the others, a path that only
/// exists in `all` is a RouteError.
enum class EdgeSet {
  all,
  no_command,  ///< without edges of kind "command"
  m_cpu_dma,   ///< without edges inside PEs, command edges, and edges between a PE and its router
  local,       ///< without UCIe and PCIe: paths within a cube
};

class PathRouter {
 public:
  explicit PathRouter(const Graph&, EdgeSet = EdgeSet::all);
  /// Edges from a to b: least distance (each edge rounded to whole nm), then fewest hops, then the lexicographically
  /// least sequence of edge indices. Networks with their own rule use that rule. Inner nodes are transit nodes.
  /// RouteError if there is no path; a == b gives an empty one. Each block of the graph caches searches by source: the
  /// last one, and others within a memory limit. So near targets are cheap in large graphs, and alternating sources do
  /// not restart.
  std::vector<uint32_t> find_path(uint32_t a, uint32_t b);
  bool has_path(uint32_t a, uint32_t b);
  /// Calls for each pair of consecutive edges on paths from `a` to the ends, once; the first edge has kNoEdge before
  /// it. Ends without a path are skipped.
  static constexpr uint32_t kNoEdge = ~0u;
  template <class Visit>
  void for_each_turn(uint32_t a, const std::vector<uint32_t>& ends, const Visit& visit);
  /// Length of an existing path in whole nanometres. RouteError if there is none.
  int64_t distance_nm(uint32_t a, uint32_t b);
  /// For each edge of a path, in its order, the reverse edge between the same nodes. RouteError names both.
  std::vector<uint32_t> reversed(const std::vector<uint32_t>& path) const;
  /// Edges of the return path: the reversed path, except inside a network with its own rule.
  std::vector<uint32_t> way_back(const std::vector<uint32_t>& path) const;
  /// Whether part of the path follows a network's rule.
  bool by_rule(const std::vector<uint32_t>& path) const;

 private:
  /// (distance, hops); strictly increasing along a path.
  struct Cost {
    int64_t nm = 0;
    uint32_t hops = 0;
    bool operator<(const Cost& o) const { return nm != o.nm ? nm < o.nm : hops < o.hops; }
    bool operator==(const Cost& o) const { return nm == o.nm && hops == o.hops; }
  };
  /// A node's label in a search, valid if `epoch` matches, so that a new search need not reset labels.
  struct Label {
    Cost cost;
    uint32_t epoch = 0;
    uint32_t by = 0;     ///< last edge of the best known path
    uint32_t edges = 0;  ///< number of its edges
  };
  /// Labels of a block by place_; unvisited parts take no memory.
  class Labels {
   public:
    explicit Labels(uint32_t size) : pages_(size / kPage + 1) {}
    Label& operator[](uint32_t place) {
      std::unique_ptr<Label[]>& page = pages_[place / kPage];
      if (!page) page = std::make_unique<Label[]>(kPage);
      return page[place % kPage];
    }
    /// Of a visited place.
    const Label& operator[](uint32_t place) const { return pages_[place / kPage][place % kPage]; }
    void clear() {
      for (auto& page : pages_) page.reset();
    }

   private:
    static constexpr uint32_t kPage = 64;
    std::vector<std::unique_ptr<Label[]>> pages_;
  };
  struct Open {
    Cost cost;
    uint32_t slot;
    bool operator>(const Open& o) const { return cost == o.cost ? slot > o.slot : o.cost < cost; }
  };
  /// A search inside one block, from one node.
  struct Search {
    uint32_t block = 0, source = 0;
    uint32_t epoch = 0;
    std::vector<Open> open;  ///< a heap
    Labels labels;
    explicit Search(uint32_t size) : labels(size) {}
  };
  /// The cached searches of a block.
  struct Searches {
    std::vector<Search> all;
    size_t last = 0;    ///< index of the last one used
    size_t oldest = 0;  ///< index of the next one to replace
  };
  static constexpr size_t kMostLabels = 1 << 19;  ///< in all searches: 15 MB

  std::vector<uint32_t> shortest_path(uint32_t a, uint32_t b);
  uint32_t edge_back(uint32_t edge) const;
  Search& search(uint32_t block, uint32_t source);
  Search& new_search(uint32_t block);
  Label& label(Search& s, uint32_t slot) const { return s.labels[place_[slot]]; }
  const Label& label(const Search& s, uint32_t slot) const { return s.labels[place_[slot]]; }
  void expand(Search&, uint32_t slot);
  bool precedes(const Search&, uint32_t a, uint32_t b) const;
  /// Continues until the slot's label is final; false if it is unreachable.
  bool settle(Search&, uint32_t slot);
  /// Calls visit(stretch, search up to its end) for each stretch of the path; false if there is none.
  template <class Visit>
  bool walk(uint32_t a, uint32_t b, const Visit&);
  /// Computes the data for searches, before the first.
  void prepare();
  RouteError no_path(uint32_t a, uint32_t b) const;

  const Graph& graph_;
  const NetworkRules rules_;
  std::vector<int64_t> nm_;         // per edge
  std::vector<uint32_t> hops_;      // per edge
  std::vector<bool> left_out_;      // per edge
  std::unique_ptr<Blocks> blocks_;  // made by the first query
  std::vector<uint32_t> place_;     // per slot: its number within its block
  std::vector<uint32_t> sizes_;     // per block: number of slots
  std::vector<uint32_t> turned_;    // per slot: number of the last for_each_turn() call that visited it
  uint32_t turns_ = 0;
  std::vector<Searches> searches_;  // per block
  size_t labels_ = 0;               // of all searches
};

template <class Visit>
bool PathRouter::walk(uint32_t a, uint32_t b, const Visit& visit) {
  if (a == b) return true;
  prepare();
  const std::vector<Blocks::Stretch> stretches = blocks_->stretches(a, b);
  for (const Blocks::Stretch& x : stretches) {
    if (x.from != a && !graph_.nodes[x.from].transit) return false;
    Search& s = search(x.block, x.from);
    const uint32_t slot = blocks_->slot(x.block, x.to);
    if (!settle(s, slot)) return false;
    visit(x, std::as_const(s));
  }
  return !stretches.empty();
}

/// Paths from one node form a tree, so the path to a visited place is known.
template <class Visit>
void PathRouter::for_each_turn(uint32_t a, const std::vector<uint32_t>& ends, const Visit& visit) {
  prepare();
  turned_.resize(place_.size(), 0);
  ++turns_;
  std::vector<std::pair<Blocks::Stretch, const Search*>> way;
  for (const uint32_t b : ends) {
    if (turned_[b] == turns_) continue;  // if a node is not the top of its block, its number is its slot
    way.clear();
    if (!walk(a, b, [&](const Blocks::Stretch& x, const Search& s) { way.emplace_back(x, &s); })) continue;
    uint32_t before = kNoEdge;  // the last edge of the previous stretch
    for (const auto& [x, s] : way) {
      const Label& end = label(*s, blocks_->slot(x.block, x.to));
      const Label* l = &end;
      for (uint32_t slot = blocks_->slot(x.block, x.to); l->edges > 0 && turned_[slot] != turns_;) {
        turned_[slot] = turns_;
        const uint32_t edge = l->by;
        slot = blocks_->slot(x.block, graph_.edges[edge].from);
        l = &label(*s, slot);
        visit(l->edges > 0 ? l->by : before, edge);
      }
      before = end.by;
    }
  }
}

}  // namespace kernbench::topology
