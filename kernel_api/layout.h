// How a program's tensor lies over ranks, the cubes of each and the PEs of those (collectives contract §13.6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/placement.h"

namespace kernbench::host {

/// What one level does with the part that the level above has given it.
struct LayoutLevel {
  enum class Kind : uint8_t {
    replicate,  ///< everyone has it whole
    shard,      ///< contiguous blocks of ⌈n/P⌉ along an axis; the last places get fewer or none
    partial     ///< ranks only: each has a whole tensor of its own, and the value is their sum
  };
  Kind kind = Kind::replicate;
  int axis = 0;  ///< of shard; negative: from the last
  bool operator==(const LayoutLevel& o) const { return kind == o.kind && (kind != Kind::shard || axis == o.axis); }
};

inline LayoutLevel replicate() {
  return {};
}
inline LayoutLevel shard(int axis) {
  return {LayoutLevel::Kind::shard, axis};
}
inline LayoutLevel row_wise() {
  return shard(0);
}
inline LayoutLevel column_wise() {
  return shard(-1);
}

/// rank_shard(1).cube(shard(0)).pe(shard(0)); a level that is not named is replicate.
class Layout {
 public:
  Layout() = default;
  explicit Layout(LayoutLevel rank) : rank_(rank) {}
  Layout cube(LayoutLevel) const;  ///< std::invalid_argument: partial
  Layout pe(LayoutLevel) const;    ///< std::invalid_argument: partial
  /// The same below the ranks, and this over them.
  Layout over_ranks(LayoutLevel) const;

  const LayoutLevel& rank() const { return rank_; }
  const LayoutLevel& cube() const { return cube_; }
  const LayoutLevel& pe() const { return pe_; }
  bool partial() const { return rank_.kind == LayoutLevel::Kind::partial; }
  /// "rank shard(1), cube shard(0), pe replicate".
  std::string to_string() const;

 private:
  LayoutLevel rank_, cube_, pe_;
};

inline Layout rank_replicate() {
  return Layout();
}
inline Layout rank_shard(int axis) {
  return Layout(shard(axis));
}
inline Layout rank_partial() {
  return Layout(LayoutLevel{LayoutLevel::Kind::partial, 0});
}

/// Where a PE stands: its rank, its cube and itself, by any numbers; places of a level count in the order in which they
/// first come.
struct LayoutPlace {
  uint32_t rank = 0, cube = 0, pe = 0;
};

/// The part of each of these PEs; each owns its bytes. std::invalid_argument for an axis that the shape lacks.
ShardPlan plan_shards(const Layout&, DType, const Dims& shape, const std::vector<LayoutPlace>& pes);

}  // namespace kernbench::host
