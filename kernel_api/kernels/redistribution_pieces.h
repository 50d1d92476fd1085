// SPDX-License-Identifier: Apache-2.0
// A PE's moves in a redistribution (collectives/redistribution.h): its blocks, in pieces that one command can move.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/collectives/redistribution.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// For the tensors with these names; the first one may be partial. PEs of launches with the same parts share the
/// object.
const ccl::Redistribution& redistribution(const tl::Args&, const LaunchShape&, const std::string& from,
                                          const std::string& to, bool partial);

/// A strided block of rows of one shard. It begins `first` elements after the shard's beginning; rows are `ld` elements
/// apart.
struct Rows {
  int64_t first = 0, ld = 0;
};
/// A block that one command can move, in its source shard and in its destination shard.
struct Piece {
  const ccl::Redistribution::Take* take;
  int64_t rows = 1, cols = 1;
  Rows in_x, in_y;
};

/// Splits a block into pieces whose rows have a constant distance in both shards.
void cut_into_pieces(const ccl::Redistribution::Take&, const tl::View& x, const tl::View& y, std::vector<Piece>*);
/// A piece in a shard with rows in this form.
tl::Block block(const tl::View&, const Rows&, const Piece&);

}  // namespace kernbench::kernels
