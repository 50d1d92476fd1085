// SPDX-License-Identifier: Apache-2.0
// A directed graph that stays acyclic while edges are added.
#pragma once

#include <cstdint>
#include <vector>

namespace kernbench::topology {

/// By Pearce and Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs" (ACM J. Exp. Algorithmics
/// 11, 2006): it maintains a topological order and searches only between the ends of a new edge.
class AcyclicGraph {
 public:
  explicit AcyclicGraph(uint32_t nodes);
  /// False if the edge would close a cycle; it is not added then.
  bool add(uint32_t from, uint32_t to);

 private:
  struct Node {
    std::vector<uint32_t> next, before;
    uint32_t place = 0;  ///< position in the order
    uint32_t seen = 0;   ///< number of the last search that visited it
  };
  bool find(uint32_t start, uint32_t until, bool forward, std::vector<uint32_t>& found);

  std::vector<Node> nodes_;
  uint32_t searches_ = 0;
};

}  // namespace kernbench::topology
