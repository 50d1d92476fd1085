// SPDX-License-Identifier: Apache-2.0
// All paths of a system's traffic for the deadlock check: which edges follow each other.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"
#include "kernbench/platform/topology/route/path_router.h"

namespace kernbench::topology {

/// From every initiator to every memory, and between all PEs with queues.
class Ways {
 public:
  static constexpr uint32_t kNone = PathRouter::kNoEdge;
  /// An edge after another; kNone before the first of a path.
  using Turn = std::function<void(uint32_t before, uint32_t edge)>;
  /// An edge of the paths from one place, which form a tree.
  struct Step {
    uint32_t before, edge;
    bool ends;  ///< some paths end there, except for a last edge used by one path only
  };

  /// Start or end of a node's paths. Many initiators and memories have only one edge to a shared node, and share all
  /// paths beyond it.
  struct Gate {
    std::vector<uint32_t> edges;  ///< from there, or to there; empty if the node is its own gate
    bool itself = false;
  };
  /// All paths between two gates, in both directions.
  using Between = std::function<void(const Gate& begin, const std::vector<uint32_t>& there,
                                     const std::vector<uint32_t>& back, const Gate& end)>;

  Ways(const Graph&, PathRouter&);
  /// Whether networks have their own rules. Then return paths are not reversed paths, and for_each_way() gives all of
  /// them.
  bool by_rule() const { return !graph_.networks.empty(); }
  void for_each_way(const Between&) const;
  /// Each turn at least once.
  void for_each_turn(const Turn&) const;
  /// The trees, without the parts before the root and after the ends through non-transit nodes.
  void for_each_tree(const std::function<void(const std::vector<Step>&)>&) const;
  /// The edge of the answer to a message (PathRouter::reversed): the first reverse edge between the same nodes.
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
