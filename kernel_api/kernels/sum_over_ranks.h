// SPDX-License-Identifier: Apache-2.0
// A product of which each rank makes a summand, added up over the ranks block by block while the next blocks are
// multiplied: by messages between PEs of one place in all ranks, so that no other engine waits for the links between
// ranks.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "kernbench/kernel_api/kernels/peers.h"

namespace kernbench::kernels {

class SumOverRanks {
 public:
  using Store = std::function<void(const Range& rows, const Range& cols, const tl::Tensor&)>;
  /// `owned`: the columns that each rank adds up. `all`: they then go to all ranks. `store` is given what this rank has
  /// in the end.
  SumOverRanks(tl::Context&, std::vector<Range> owned, bool all, Store store);
  /// This rank's summand of a part, which is done; and what comes to this rank's columns of the sum, if anything.
  void add(const Range& rows, const Range& cols, const tl::Tensor& summand, const tl::Tensor& residual);
  /// All parts of a block have been added.
  void next();
  /// Some time later: what should have come for it by now goes on.
  void go_on();
  /// What is left. `flush` is called where what has been given to `store` may go on to memory.
  void finish(const std::function<void()>& flush);

  /// Connections between ranks.
  static void join(const LaunchShape&, Rings*);

 private:
  /// This rank's columns of a part, as summands by rank.
  struct Mine {
    Range rows, cols;
    std::vector<tl::Tensor> summands;
    tl::Tensor residual;
  };
  /// Another rank's columns, as they come back.
  struct Theirs {
    Range rows, cols;
    tl::Tensor sum;
  };
  struct Block {
    std::vector<Mine> mine;
    std::vector<Theirs> theirs;
  };
  void add_up(Block*);
  void store(Block*);

  tl::Context& tl_;
  const std::vector<Range> owned_;
  const bool all_;
  const Store store_;
  const Peers parts_, sums_;
  std::deque<Block> blocks_;  ///< on their way
};

}  // namespace kernbench::kernels
