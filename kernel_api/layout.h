// SPDX-License-Identifier: Apache-2.0
// Layout of a program's tensor over ranks, the cubes of each rank and the PEs of each cube (collectives rules §13.6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/placement.h"

namespace kernbench::host {

/// Distribution, at one level, of the part that the level above has.
struct LayoutLevel {
  enum class Kind : uint8_t {
    replicate,  ///< every member has a complete copy
    shard,  ///< contiguous blocks of ⌈n/P⌉ along an axis, rounded up to `unit`; the last members get fewer or none
    partial,  ///< ranks only: each rank has a complete tensor, and the value is their sum
    grid      ///< cubes and PEs only: blocks of one axis over the grid's rows, blocks of another over its columns
  };
  static constexpr int kWhole = 1 << 16;  ///< instead of an axis: the grid's rows or columns have copies
  Kind kind = Kind::replicate;
  int axis = 0;         ///< of shard, and of a grid's rows; negative: from the last
  int across = kWhole;  ///< axis of a grid's columns
  int64_t unit = 1;     ///< of shard: all blocks but the last are a multiple of this
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
/// Over the grid of the cubes of a SIP, or of the PEs of a cube (docs/collectives.md, "Groups"). Its rows, from north
/// to south, take blocks as in `down`; its columns, from west to east, as in `across`. Both are replicate() or
/// shard(axis), else std::invalid_argument.
LayoutLevel grid(LayoutLevel down, LayoutLevel across);
inline LayoutLevel row_wise() {
  return shard(0);
}
inline LayoutLevel column_wise() {
  return shard(-1);
}

/// For example rank_shard(1).cube(shard(0)).pe(shard(0)). The default of a level is replicate. Covers all ranks, or
/// those of on().
class Layout {
 public:
  Layout() = default;
  explicit Layout(LayoutLevel rank) : rank_(rank) {}
  Layout cube(LayoutLevel) const;  ///< std::invalid_argument: partial
  Layout pe(LayoutLevel) const;    ///< std::invalid_argument: partial
  /// The same layout below the ranks, with this one over them.
  Layout over_ranks(LayoutLevel) const;
  /// The same layout on these ranks only, distributed over them as rank() states; other ranks have no part. Empty: all
  /// ranks.
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
/// A complete copy on one rank.
inline Layout on(uint32_t rank) {
  return Layout().on(rank);
}

// Layouts of a matrix for gemm_2d: blocks of rows over the rows of cubes, blocks of columns over the columns of cubes.
/// The PEs of a cube split the rows: layout of gemm_2d's a and c.
inline Layout grid_of_rows(LayoutLevel rank = {}) {
  return Layout(rank).cube(grid(shard(0), shard(1))).pe(shard(0));
}
/// The PEs of a cube split the columns: layout of gemm_2d's b.
inline Layout grid_of_columns(LayoutLevel rank = {}) {
  return Layout(rank).cube(grid(shard(0), shard(1))).pe(shard(1));
}

/// Position of a PE: numbers of its rank, cube and itself. A rank has its number in Layout::on(); the places of a level
/// are ordered by first appearance.
struct LayoutPlace {
  uint32_t rank = 0, cube = 0, pe = 0;
};

/// Grids of cubes and PEs: the number of cells and the number of columns, as in the machine; all in one row if some are
/// omitted.
struct LayoutGrids {
  int64_t cubes = 0, cube_w = 0;  ///< of a SIP
  int64_t pes = 0, pe_w = 0;      ///< of a cube
};
LayoutGrids grids_of(const LaunchShape&);

/// The part of each of these PEs; each owns its bytes. std::invalid_argument for an axis that the shape lacks, and for
/// a layout on ranks that do not exist.
ShardPlan plan_shards(const Layout&, DType, const Dims& shape, const std::vector<LayoutPlace>& pes,
                      const LayoutGrids& = {});
/// Over the PEs of a launch; null: one PE.
ShardPlan plan_shards(const Layout&, DType, const Dims& shape, const LaunchShape*);

}  // namespace kernbench::host
