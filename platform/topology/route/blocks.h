// SPDX-License-Identifier: Apache-2.0
// The biconnected components (blocks) of a graph and the cut nodes that join them. A path never returns to a block that
// it has left. So a shortest path consists of one shortest path inside each block, from cut node to cut node.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernbench/platform/topology/graph/graph.h"

namespace kernbench::topology {

/// The direction of edges is ignored. A node of several blocks has a slot in each; slots number these pairs.
class Blocks {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  Blocks(const Graph&, const std::vector<bool>& left_out);

  /// The stretches that every path between two nodes has, in order. Empty if no path can exist.
  struct Stretch {
    uint32_t block, from, to;
  };
  std::vector<Stretch> stretches(uint32_t a, uint32_t b) const;

  uint32_t count() const { return static_cast<uint32_t>(top_.size()); }
  uint32_t slots() const { return static_cast<uint32_t>(first_.size() - 1); }
  uint32_t slot(uint32_t block, uint32_t node) const {
    return top_[block] == node ? static_cast<uint32_t>(home_.size()) + block : node;
  }
  /// kNone: none.
  uint32_t block_of_slot(uint32_t slot) const {
    return slot < home_.size() ? home_[slot] : slot - static_cast<uint32_t>(home_.size());
  }
  /// The block's edges that leave the slot's node, in compiled order.
  std::pair<const uint32_t*, const uint32_t*> out_edges(uint32_t slot) const {
    return {edges_.data() + first_[slot], edges_.data() + first_[slot + 1]};
  }

 private:
  void find(const Graph&, const std::vector<bool>& left_out);
  void take_block(uint32_t top, uint32_t first, std::vector<uint32_t>* found);
  void sort_edges(const Graph&, const std::vector<bool>& left_out);
  uint32_t block_of(const Edge&) const;
  uint32_t depth(uint32_t node) const { return home_[node] == kNone ? 0 : depth_[home_[node]]; }

  // The search makes the blocks a tree; a block's top is the node by which it was entered.
  std::vector<uint32_t> home_;           ///< by node: the block in which it is not the top; kNone: start of a search
  std::vector<uint32_t> top_;            ///< by block
  std::vector<uint32_t> depth_;          ///< by block, from 1
  std::vector<uint32_t> first_, edges_;  ///< by slot
};

}  // namespace kernbench::topology
