// SPDX-License-Identifier: Apache-2.0
// Shortest paths with the contract's tie rule (timing rules §1).
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

/// No path, or no way back: names both ends.
class RouteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The graphs that ADR-0051 routes on, as the edges they leave out. `all` is what timing uses; in the others a path
/// that does not exist is a RouteError although one may exist in `all`.
enum class EdgeSet {
  all,
  no_command,  ///< without edges of kind "command"
  m_cpu_dma,   ///< without PE-internal and command edges, and those between a PE and its router
  local,       ///< without UCIe and PCIe: what stays within a cube
};

class PathRouter {
 public:
  explicit PathRouter(const Graph&, EdgeSet = EdgeSet::all);
  /// Edges from a to b: least distance (each edge rounded to whole nm), then fewest hops, then the
  /// lexicographically least sequence of edge indices; inside a network with a rule of its own by that. Only transit
  /// nodes stand inside. RouteError if none; a == b gives an empty path. Every block of the graph resumes the search of
  /// a source that it has kept: of the last one, and as far as they take little memory of others. So a near target
  /// costs little in a large graph, and sources that ask in turns do not begin anew.
  std::vector<uint32_t> find_path(uint32_t a, uint32_t b);
  bool has_path(uint32_t a, uint32_t b);
  /// Each pair of edges that follow each other on a path from `a` to one of the ends, once; the first edge of all with
  /// kNoEdge before it. An end without a path is passed over.
  static constexpr uint32_t kNoEdge = ~0u;
  template <class Visit>
  void for_each_turn(uint32_t a, const std::vector<uint32_t>& ends, const Visit& visit);
  /// Sum of an existing path's distances, whole nanometres. RouteError if there is none.
  int64_t distance_nm(uint32_t a, uint32_t b);
  /// For each edge of a path, in the path's order, the edge back between the same nodes. RouteError names both.
  std::vector<uint32_t> reversed(const std::vector<uint32_t>& path) const;
  /// Edges of the way back from a path's end to its beginning: the reversed path, inside a network with a rule of its
  /// own by that.
  std::vector<uint32_t> way_back(const std::vector<uint32_t>& path) const;
  /// Whether a rule decides some of the path.
  bool by_rule(const std::vector<uint32_t>& path) const;

 private:
  /// (distance, hops); every edge makes it larger.
  struct Cost {
    int64_t nm = 0;
    uint32_t hops = 0;
    bool operator<(const Cost& o) const { return nm != o.nm ? nm < o.nm : hops < o.hops; }
    bool operator==(const Cost& o) const { return nm == o.nm && hops == o.hops; }
  };
  /// Of a node in a search, valid where `epoch` is the search's: starting one touches no node.
  struct Label {
    Cost cost;
    uint32_t epoch = 0;
    uint32_t by = 0;     ///< last edge of the best path that is known
    uint32_t edges = 0;  ///< of that path
  };
  /// Those of a block, by place_. What a search has not come near takes no memory.
  class Labels {
   public:
    explicit Labels(uint32_t size) : pages_(size / kPage + 1) {}
    Label& operator[](uint32_t place) {
      std::unique_ptr<Label[]>& page = pages_[place / kPage];
      if (!page) page = std::make_unique<Label[]>(kPage);
      return page[place % kPage];
    }
    /// Of a place where the search has been.
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
  /// Inside one block, from one node.
  struct Search {
    uint32_t block = 0, source = 0;
    uint32_t epoch = 0;
    std::vector<Open> open;  ///< a heap
    Labels labels;
    explicit Search(uint32_t size) : labels(size) {}
  };
  /// Those that a block keeps.
  struct Searches {
    std::vector<Search> all;
    size_t last = 0;    ///< that was asked for
    size_t oldest = 0;  ///< the next to be given up
  };
  static constexpr size_t kMostLabels = 1 << 19;  ///< in all: 15 MB

  std::vector<uint32_t> shortest_path(uint32_t a, uint32_t b);
  uint32_t edge_back(uint32_t edge) const;
  Search& search(uint32_t block, uint32_t source);
  Search& new_search(uint32_t block);
  Label& label(Search& s, uint32_t slot) const { return s.labels[place_[slot]]; }
  const Label& label(const Search& s, uint32_t slot) const { return s.labels[place_[slot]]; }
  void expand(Search&, uint32_t slot);
  bool precedes(const Search&, uint32_t a, uint32_t b) const;
  /// Goes on until the slot's label is final; false if it cannot be reached.
  bool settle(Search&, uint32_t slot);
  /// visit(stretch, the search that has led to its end) for each on the way; false if there is none.
  template <class Visit>
  bool walk(uint32_t a, uint32_t b, const Visit&);
  /// Makes what a search needs, before the first.
  void prepare();
  RouteError no_path(uint32_t a, uint32_t b) const;

  const Graph& graph_;
  const NetworkRules rules_;
  std::vector<int64_t> nm_;         // per edge
  std::vector<uint32_t> hops_;      // per edge
  std::vector<bool> left_out_;      // per edge
  std::unique_ptr<Blocks> blocks_;  // made by the first query
  std::vector<uint32_t> place_;     // per slot: which of its block's it is
  std::vector<uint32_t> sizes_;     // per block: its slots
  std::vector<uint32_t> turned_;    // per slot: for_each_turn() has been there, by number of the call
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

/// Paths from one node are a tree: what leads to a place where one has been is known.
template <class Visit>
void PathRouter::for_each_turn(uint32_t a, const std::vector<uint32_t>& ends, const Visit& visit) {
  prepare();
  turned_.resize(place_.size(), 0);
  ++turns_;
  std::vector<std::pair<Blocks::Stretch, const Search*>> way;
  for (const uint32_t b : ends) {
    if (turned_[b] == turns_) continue;  // where a node is not the top of its block, it is its slot
    way.clear();
    if (!walk(a, b, [&](const Blocks::Stretch& x, const Search& s) { way.emplace_back(x, &s); })) continue;
    uint32_t before = kNoEdge;  // the last edge of the stretch before
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
