// SPDX-License-Identifier: Apache-2.0
// Distribution of a tensor over the memories of the PEs that run a kernel: functions of shape and PE count. The
// launcher allocates each shard in its owner's memory and moves the bytes (scatter before, gather after).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/op.h"

namespace kernbench {

enum class Placement : uint8_t {
  replicate,  ///< one copy per PE, each in the PE's slice (inputs only)
  rows,       ///< axis 0 in contiguous blocks of ⌈n / P⌉; the last PEs may get fewer or none
  flat_rows,  ///< the same for all dimensions but the last, flattened: the plan's `whole` has rank 2
  cols,       ///< the last axis in contiguous blocks
  single      ///< one copy, in the first PE's slice, shared by all
};
std::string_view name_of(Placement);

/// Distribution at one level of the machine: a copy for each member, or contiguous blocks of the first or last axis.
enum class Split : uint8_t { replicate, row_wise, column_wise };
std::string_view name_of(Split);

/// Over the cubes that run the kernel, then each cube's part over its PEs. A level with replicate is legal only for
/// inputs.
struct CubePePolicy {
  Split cube = Split::row_wise, pe = Split::row_wise;
};

/// A PE's part of a tensor.
struct Shard {
  uint32_t owner = 0;  ///< position (0 … P-1) of the PE whose slice holds it
  Dims offset;         ///< its first element in the complete tensor
  Dims extent;         ///< all 0 if the PE has no part
  bool empty() const { return extent.elements() == 0; }
};

/// Narrows a part to the i-th of n contiguous blocks along an axis. Each has ⌈length / n⌉ elements, rounded up to whole
/// units; the last ones may be shorter or empty.
void take_block(Shard&, int axis, uint32_t i, uint32_t n, int64_t unit = 1);

/// Every shard is stored dense and row-major at its own address.
struct ShardPlan {
  DType dtype = DType::f32;
  Dims whole;  ///< shape of the tensor for the kernel
  std::vector<Shard> shards;

  uint64_t nbytes(uint32_t pe) const { return static_cast<uint64_t>(shards.at(pe).extent.elements()) * size_of(dtype); }
  /// Whether PE `pe`'s shard needs an allocation (false for empty and for shared shards).
  bool stored(uint32_t pe) const { return !shards.at(pe).empty() && shards.at(pe).owner == pe; }
};

/// For `pes` ≥ 1 PEs. A tensor of rank 0 can only be replicated or single. std::invalid_argument otherwise.
ShardPlan plan_shards(Placement placement, DType dtype, const Dims& shape, uint32_t pes);
/// `cube_of_pe`: the cube of each PE that runs the kernel, with any numbering. Cubes count in order of first
/// appearance.
ShardPlan plan_shards(const CubePePolicy& policy, DType dtype, const Dims& shape,
                      const std::vector<uint32_t>& cube_of_pe);

/// One shard for each block of `bytes` (a multiple of the element size) of the flat tensor. Shard i is its own owner
/// and belongs to PE i mod P. std::invalid_argument for other sizes.
ShardPlan plan_interleaved(DType dtype, const Dims& shape, uint64_t bytes);

/// Whether the shard's bytes are contiguous in the complete tensor, from `first_byte` on, so that no rearranging is
/// needed.
bool contiguous_in_whole(const ShardPlan& plan, uint32_t pe, uint64_t* first_byte);
/// Copies a shard's bytes out of the complete tensor, dense to dense.
void scatter(const ShardPlan& plan, uint32_t pe, const uint8_t* whole, uint8_t* shard);
/// Copies a shard's bytes back into the complete tensor.
void gather(const ShardPlan& plan, uint32_t pe, const uint8_t* shard, uint8_t* whole);

}  // namespace kernbench
