// SPDX-License-Identifier: Apache-2.0
// How a tensor goes from one layout into another: who takes which part from whom, and what is then handed on from PE to
// PE (docs/programs.md). It follows from the two plans alone, so that a kernel, its queues and a report have the same.
//
// PEs that are to have the same part are a group. Each part of x is taken by the member that has it already, else
// shares of it by the members in turn; where the group has several members and that is the quicker way, or there are
// sums to make, what each has taken goes round them in a ring, else every member takes all of it itself. Either way
// each PE receives what it lacks, once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/layout.h"

namespace kernbench::ccl {

class Redistribution {
 public:
  /// A block of the tensor, in the shard of a PE; of a partial tensor also in those of others, to be added in order.
  struct Take {
    uint32_t from = 0;
    Dims offset, extent;  ///< in the whole tensor
    std::vector<uint32_t> also;
  };
  /// PEs that get the same part.
  struct Group {
    std::vector<uint32_t> members;
    Shard part;
    bool hand_on = false;
    std::vector<std::vector<Take>> takes;  ///< by member
  };

  /// Both over the same PEs. x partial: shards of the same part on several ranks are summed up in their order.
  Redistribution(const ShardPlan& x, bool partial, const ShardPlan& y, const std::vector<host::LayoutPlace>&);

  const std::vector<Group>& groups() const { return groups_; }
  /// The one that a PE is in; null: it gets nothing.
  const Group* group_of(uint32_t pe) const {
    return of_pe_[pe] < 0 ? nullptr : &groups_[static_cast<size_t>(of_pe_[pe])];
  }
  /// What PEs receive from others, and the least that they must: of each its part without what it has itself; of a
  /// partial tensor each summand once, but for one that is where the sum is wanted, and the sum in each further copy.
  uint64_t bytes_moved() const { return moved_; }
  uint64_t bytes_least() const { return least_; }
  /// "0,1,2;5,6": PEs that hand on to the next, by ring; empty: none do.
  std::string rings() const;
  /// Lines of text.
  std::string to_string(const std::vector<host::LayoutPlace>&) const;

 private:
  struct Part {
    Dims offset, extent;
    std::vector<uint32_t> holders;                ///< any of them will do
    std::vector<std::vector<uint32_t>> summands;  ///< of a partial tensor: holders by rank
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
