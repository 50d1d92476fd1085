// SPDX-License-Identifier: Apache-2.0
// A directed graph that is kept free of cycles while edges are added.
#pragma once

#include <cstdint>
#include <vector>

namespace kernbench::topology {

/// By Pearce and Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs" (ACM J. Exp. Algorithmics
/// 11, 2006): an order of the nodes is kept, and only what lies between the ends of a new edge is looked at.
class AcyclicGraph {
 public:
  explicit AcyclicGraph(uint32_t nodes);
  /// False, and nothing is added, where the edge would close a cycle.
  bool add(uint32_t from, uint32_t to);

 private:
  struct Node {
    std::vector<uint32_t> next, before;
    uint32_t place = 0;  ///< in the order
    uint32_t seen = 0;   ///< by which search
  };
  bool find(uint32_t start, uint32_t until, bool forward, std::vector<uint32_t>& found);

  std::vector<Node> nodes_;
  uint32_t searches_ = 0;
};

}  // namespace kernbench::topology
