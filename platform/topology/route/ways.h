// SPDX-License-Identifier: Apache-2.0
// All ways of a system's traffic, as far as deadlock is concerned: which edges follow each other on them.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench::topology {

/// From every initiator to every memory, and between all PEs that have queues.
class Ways {
 public:
  static constexpr uint32_t kNone = PathRouter::kNoEdge;
  /// An edge behind another; kNone before the first of a way.
  using Turn = std::function<void(uint32_t before, uint32_t edge)>;
  /// An edge of the ways from one place, which are a tree.
  struct Step {
    uint32_t before, edge;
    bool ends;  ///< some of the ways, but for a last edge to where one way alone ends
  };

  /// Where a node's ways begin or end: many initiators and memories have one edge to a node that others have too, and
  /// what lies behind that is the same for all of them.
  struct Gate {
    std::vector<uint32_t> edges;  ///< from there, or to there; none where the node is its own gate
    bool itself = false;
  };
  /// All ways between two gates, from gate to gate there and back.
  using Between = std::function<void(const Gate& begin, const std::vector<uint32_t>& there,
                                     const std::vector<uint32_t>& back, const Gate& end)>;

  Ways(const Graph&, PathRouter&);
  /// Whether networks have rules of their own: then those back are no reversed ones, and for_each_way() says them all.
  bool by_rule() const { return !graph_.networks.empty(); }
  void for_each_way(const Between&) const;
  /// Each turn at least once.
  void for_each_turn(const Turn&) const;
  /// The trees, without what lies before the place and behind the ends where nothing is passed on.
  void for_each_tree(const std::function<void(const std::vector<Step>&)>&) const;
  /// What answers to a message over an edge takes (PathRouter::reversed): the first edge back between the same nodes.
  uint32_t back(uint32_t edge) const { return back_[edge]; }
  bool leads_to_memory(uint32_t edge) const { return holds_memory_[graph_.edges[edge].to]; }

 private:
  using Gates = std::map<uint32_t, Gate>;
  struct Kind {
    Gates begins, ends;
    std::vector<uint32_t> end_gates;
  };

  Gates gates_of(const std::vector<uint32_t>& nodes, bool ends) const;
  void add_kind(const std::vector<uint32_t>& from, const std::vector<uint32_t>& to);

  const Graph& graph_;
  PathRouter& paths_;
  std::vector<uint32_t> back_;
  std::vector<std::vector<uint32_t>> in_edges_;
  std::vector<bool> holds_memory_;
  std::vector<Kind> kinds_;
};

}  // namespace kernbench::topology
