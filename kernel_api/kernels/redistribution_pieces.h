// SPDX-License-Identifier: Apache-2.0
// What a PE moves in a redistribution (collectives/redistribution.h): its blocks, in pieces that one command moves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/collectives/redistribution.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

/// Of the tensors of these names, the first partial or not; the same object for all PEs of launches with the same
/// parts.
const ccl::Redistribution& redistribution(const tl::Args&, const LaunchShape&, const std::string& from,
                                          const std::string& to, bool partial);

/// A strided block of rows of one shard: `first` elements behind its beginning, rows `ld` elements apart.
struct Rows {
  int64_t first = 0, ld = 0;
};
/// A block that one command moves, in the shard that it comes from and in the one that it goes to.
struct Piece {
  const ccl::Redistribution::Take* take;
  int64_t rows = 1, cols = 1;
  Rows in_x, in_y;
};

/// Cuts a block into pieces: in both shards rows at a fixed distance.
void cut_into_pieces(const ccl::Redistribution::Take&, const tl::View& x, const tl::View& y, std::vector<Piece>*);
/// A piece in a shard in which its rows lie so.
tl::Block block(const tl::View&, const Rows&, const Piece&);

}  // namespace kernbench::kernels
