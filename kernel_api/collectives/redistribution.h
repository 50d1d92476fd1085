// SPDX-License-Identifier: Apache-2.0
// Moves a tensor from one layout to another: the parts that each PE fetches and from which PE, and the parts that PEs
// then pass on (docs/programs.md). It follows from the two plans alone, so that a kernel, its queues and a report
// agree.
//
// PEs that need the same part are a group. A ring is used if the group has several members and a ring is faster, or if
// sums are needed. In a ring, the members that already hold a part of x fetch it; if none does, each member fetches a
// share. The pieces then go around the ring. Without a ring, each member fetches its complete part itself. In both
// cases each PE receives missing data once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/layout.h"

namespace kernbench::ccl {

class Redistribution {
 public:
  /// A block of the tensor in the shard of a PE. For a partial tensor, the shards of the `also` PEs are added to it in
  /// order.
  struct Take {
    uint32_t from = 0;
    Dims offset, extent;  ///< in the complete tensor
    std::vector<uint32_t> also;
  };
  /// PEs that need the same part.
  struct Group {
    std::vector<uint32_t> members;
    Shard part;
    bool hand_on = false;
    std::vector<std::vector<Take>> takes;  ///< by member
  };

  /// Both plans are over the same PEs. If x is partial, shards of the same part on several ranks are added in their
  /// order.
  Redistribution(const ShardPlan& x, bool partial, const ShardPlan& y, const std::vector<host::LayoutPlace>&);

  const std::vector<Group>& groups() const { return groups_; }
  /// The group of a PE; null: it needs nothing.
  const Group* group_of(uint32_t pe) const {
    return of_pe_[pe] < 0 ? nullptr : &groups_[static_cast<size_t>(of_pe_[pe])];
  }
  /// bytes_moved(): the bytes that PEs receive from others. bytes_least(): the minimum, where each PE receives its part
  /// without the bytes that it holds. For a partial tensor the minimum has each summand once, except one that is
  /// already at a destination, and the sum for each further copy.
  uint64_t bytes_moved() const { return moved_; }
  uint64_t bytes_least() const { return least_; }
  /// "0,1,2;5,6": the PEs of each ring; empty: no rings.
  std::string rings() const;
  /// Lines of text.
  std::string to_string(const std::vector<host::LayoutPlace>&) const;

 private:
  struct Part {
    Dims offset, extent;
    std::vector<uint32_t> holders;                ///< any of them can deliver
    std::vector<std::vector<uint32_t>> summands;  ///< for a partial tensor: holders by rank
  };
  std::vector<Part> parts_of(const ShardPlan& x, bool partial) const;
  Take take_from(const Part&, Dims offset, Dims extent, uint32_t by) const;
  void fill(Group&, const std::vector<Part>&);
  void count(const Group&, const std::vector<Part>&);
  uint64_t nbytes(const Dims& extent) const { return static_cast<uint64_t>(extent.elements()) * item_; }
  uint32_t nearest(const std::vector<uint32_t>& holders, uint32_t to) const;

  uint64_t item_;
  std::vector<host::LayoutPlace> places_;
  std::vector<Group> groups_;
  std::vector<int64_t> of_pe_;
  uint64_t moved_ = 0, least_ = 0;
};

}  // namespace kernbench::ccl
