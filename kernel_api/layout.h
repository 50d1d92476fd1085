// How a program's tensor lies over ranks, the cubes of each and the PEs of those (collectives contract §13.6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/placement.h"

namespace kernbench::host {

/// What one level does with the part that the level above has given it.
struct LayoutLevel {
  enum class Kind : uint8_t {
    replicate,  ///< everyone has it whole
    shard,      ///< contiguous blocks of ⌈n/P⌉, up to whole units, along an axis; the last places get fewer or none
    partial,    ///< ranks only: each has a whole tensor of its own, and the value is their sum
    grid        ///< cubes and PEs only: the grid's rows take blocks of one axis, its columns blocks of another
  };
  static constexpr int kWhole = 1 << 16;  ///< for an axis: none, the grid's rows or columns have copies
  Kind kind = Kind::replicate;
  int axis = 0;         ///< of shard, and over a grid's rows; negative: from the last
  int across = kWhole;  ///< over a grid's columns
  int64_t unit = 1;     ///< of shard: blocks but the last have a multiple of so many
  bool operator==(const LayoutLevel& o) const {
    if (kind != o.kind) return false;
    return kind == Kind::replicate || kind == Kind::partial || (axis == o.axis && across == o.across && unit == o.unit);
  }
};

inline LayoutLevel replicate() {
  return {};
}
inline LayoutLevel shard(int axis, int64_t unit = 1) {
  return {LayoutLevel::Kind::shard, axis, LayoutLevel::kWhole, unit};
}
/// Over the grid in which the cubes of a SIP, or the PEs of a cube, stand (docs/collectives.md, "Groups"): its rows,
/// from north to south, take blocks as `down` says, its columns, from west to east, as `across` says; each replicate()
/// or shard(axis). std::invalid_argument otherwise.
LayoutLevel grid(LayoutLevel down, LayoutLevel across);
inline LayoutLevel row_wise() {
  return shard(0);
}
inline LayoutLevel column_wise() {
  return shard(-1);
}

/// rank_shard(1).cube(shard(0)).pe(shard(0)); a level that is not named is replicate. Over all ranks, or on() some.
class Layout {
 public:
  Layout() = default;
  explicit Layout(LayoutLevel rank) : rank_(rank) {}
  Layout cube(LayoutLevel) const;  ///< std::invalid_argument: partial
  Layout pe(LayoutLevel) const;    ///< std::invalid_argument: partial
  /// The same below the ranks, and this over them.
  Layout over_ranks(LayoutLevel) const;
  /// The same on these ranks alone, which share it as `rank()` says; the others have no part. Empty: on all.
  Layout on(std::vector<uint32_t> ranks) const;
  Layout on(uint32_t rank) const { return on(std::vector<uint32_t>{rank}); }

  const LayoutLevel& rank() const { return rank_; }
  const LayoutLevel& cube() const { return cube_; }
  const LayoutLevel& pe() const { return pe_; }
  const std::vector<uint32_t>& ranks() const { return ranks_; }  ///< by number; empty: all
  bool partial() const { return rank_.kind == LayoutLevel::Kind::partial; }
  bool operator==(const Layout& o) const {
    return rank_ == o.rank_ && cube_ == o.cube_ && pe_ == o.pe_ && ranks_ == o.ranks_;
  }
  /// "rank shard(1), cube grid(shard(0), shard(1)), pe replicate, on ranks 0, 2".
  std::string to_string() const;

 private:
  LayoutLevel rank_, cube_, pe_;
  std::vector<uint32_t> ranks_;  ///< ascending
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
/// Whole on one rank.
inline Layout on(uint32_t rank) {
  return Layout().on(rank);
}

// Layouts of a matrix in two dimensions, for gemm_2d: blocks of rows over the rows of cubes, blocks of columns over
// the columns of cubes.
/// In a cube the PEs take rows: what gemm_2d reads as a and writes as c.
inline Layout grid_of_rows(LayoutLevel rank = {}) {
  return Layout(rank).cube(grid(shard(0), shard(1))).pe(shard(0));
}
/// In a cube the PEs take columns: what gemm_2d reads as b.
inline Layout grid_of_columns(LayoutLevel rank = {}) {
  return Layout(rank).cube(grid(shard(0), shard(1))).pe(shard(1));
}

/// Where a PE stands: its rank, its cube and itself, by any numbers (a rank: by that of Layout::on()); places of a
/// level count in the order in which they first come.
struct LayoutPlace {
  uint32_t rank = 0, cube = 0, pe = 0;
};

/// How many stand side by side in a grid of so many: w of the machine's, all of them where some are left out.
struct LayoutGrids {
  int64_t cubes = 0, cube_w = 0;  ///< of a SIP
  int64_t pes = 0, pe_w = 0;      ///< of a cube
};
LayoutGrids grids_of(const LaunchShape&);

/// The part of each of these PEs; each owns its bytes. std::invalid_argument for an axis that the shape lacks, or no
/// rank of those that it is on.
ShardPlan plan_shards(const Layout&, DType, const Dims& shape, const std::vector<LayoutPlace>& pes,
                      const LayoutGrids& = {});
/// Over the PEs of a launch; null: of one PE.
ShardPlan plan_shards(const Layout&, DType, const Dims& shape, const LaunchShape*);

}  // namespace kernbench::host
