// Shortest paths with the contract's tie rule (timing contract §1).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"

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
  /// lexicographically least sequence of edge indices. Only transit nodes stand inside. RouteError if none; a == b
  /// gives an empty path. Resumes the search of the last source, so that queries grouped by source are cheap and a
  /// near target costs little in a large graph.
  std::vector<uint32_t> find_path(uint32_t a, uint32_t b);
  bool has_path(uint32_t a, uint32_t b);
  /// Sum of an existing path's distances, whole nanometres. RouteError if there is none.
  int64_t distance_nm(uint32_t a, uint32_t b);
  /// For each edge of a path, in the path's order, the edge back between the same nodes. RouteError names both.
  std::vector<uint32_t> reversed(const std::vector<uint32_t>& path) const;

 private:
  /// (distance, hops); every edge makes it larger, so that optimal edges form a DAG.
  struct Cost {
    int64_t nm = std::numeric_limits<int64_t>::max();
    uint32_t hops = 0;
    bool operator<(const Cost& o) const { return nm != o.nm ? nm < o.nm : hops < o.hops; }
    bool operator==(const Cost& o) const { return nm == o.nm && hops == o.hops; }
  };
  /// Per node, valid where `epoch` is that of the running search: starting one touches no node.
  struct Label {
    Cost cost;
    uint32_t epoch = 0;
    bool settled = false;
    uint32_t marked = 0;  ///< query in which the node was found to lead to the target
  };
  struct Open {
    Cost cost;
    uint32_t node;
    bool operator>(const Open& o) const { return cost == o.cost ? node > o.node : o.cost < cost; }
  };

  void start(uint32_t source);
  /// Settles nodes until `target` is; false if it cannot be reached.
  bool settle(uint32_t target);
  bool settled(uint32_t n) const { return labels_[n].epoch == epoch_ && labels_[n].settled; }
  bool expandable(uint32_t n) const { return n == source_ || graph_.nodes[n].transit; }
  bool on_optimal_path(uint32_t edge) const;
  void mark_back_from(uint32_t target);

  const Graph& graph_;
  std::vector<int64_t> nm_;     // per edge
  std::vector<uint32_t> hops_;  // per edge
  std::vector<bool> left_out_;  // per edge
  std::vector<uint32_t> in_first_, in_edges_;
  std::vector<Label> labels_;
  std::vector<Open> open_;  // a heap
  uint32_t source_;
  uint32_t epoch_ = 0;
  uint32_t query_ = 0;
};

}  // namespace kernbench::topology
