// SPDX-License-Identifier: Apache-2.0
// How a tensor is spread over the memories of the PEs that run a kernel: plain functions of shape and PE count. Who
// runs the kernel allocates each shard in its owner's memory and moves the bytes (scatter before, gather after).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/op.h"

namespace kernbench {

enum class Placement : uint8_t {
  replicate,  ///< a copy for every PE, each in its own slice (inputs only)
  rows,       ///< axis 0 in contiguous blocks of ⌈n / P⌉; the last PEs may get fewer or none
  flat_rows,  ///< the same over all dimensions but the last, seen as one: the plan's `whole` has rank 2
  cols,       ///< the last axis in contiguous blocks
  single      ///< one copy, in the first PE's slice, shared by all
};
std::string_view name_of(Placement);

/// How one level of the machine shares a tensor out: a copy each, or contiguous blocks of the first or last axis.
enum class Split : uint8_t { replicate, row_wise, column_wise };
std::string_view name_of(Split);

/// Over the cubes that run the kernel, then each cube's part over its PEs. With replicate at a level: inputs only.
struct CubePePolicy {
  Split cube = Split::row_wise, pe = Split::row_wise;
};

/// The part of a tensor that one PE works on.
struct Shard {
  uint32_t owner = 0;  ///< position (0 … P-1) of the PE whose slice holds it
  Dims offset;         ///< of its first element in the whole tensor
  Dims extent;         ///< all 0 where the PE has no part
  bool empty() const { return extent.elements() == 0; }
};

/// Narrows a part to the i-th of n contiguous blocks of ⌈length / n⌉, up to whole units, along an axis; the last may be
/// shorter or empty.
void take_block(Shard&, int axis, uint32_t i, uint32_t n, int64_t unit = 1);

/// Every shard is stored dense, row-major, at an address of its own.
struct ShardPlan {
  DType dtype = DType::f32;
  Dims whole;  ///< the tensor as the kernel sees it
  std::vector<Shard> shards;

  uint64_t nbytes(uint32_t pe) const { return static_cast<uint64_t>(shards.at(pe).extent.elements()) * size_of(dtype); }
  /// Whether PE `pe`'s shard is bytes of its own, to be allocated (false for empty shards and for shared ones).
  bool stored(uint32_t pe) const { return !shards.at(pe).empty() && shards.at(pe).owner == pe; }
};

/// For `pes` ≥ 1 PEs; a tensor of rank 0 can only be replicated or single. std::invalid_argument otherwise.
ShardPlan plan_shards(Placement placement, DType dtype, const Dims& shape, uint32_t pes);
/// `cube_of_pe`: of each PE that runs the kernel, any numbers; cubes count in the order in which they first stand
/// there.
ShardPlan plan_shards(const CubePePolicy& policy, DType dtype, const Dims& shape,
                      const std::vector<uint32_t>& cube_of_pe);

/// As many shards as there are blocks of `bytes` (a multiple of the element's size) in the flat tensor; each is its own
/// owner, and lies with PE number (its own) mod the PEs. std::invalid_argument for other sizes.
ShardPlan plan_interleaved(DType dtype, const Dims& shape, uint64_t bytes);

/// Whether the shard's bytes are contiguous in the whole tensor, and so need no rearranging: at `first_byte`.
bool contiguous_in_whole(const ShardPlan& plan, uint32_t pe, uint64_t* first_byte);
/// Copies a shard's bytes out of the whole tensor, dense to dense.
void scatter(const ShardPlan& plan, uint32_t pe, const uint8_t* whole, uint8_t* shard);
/// Copies a shard's bytes back into the whole tensor.
void gather(const ShardPlan& plan, uint32_t pe, const uint8_t* shard, uint8_t* whole);

}  // namespace kernbench
