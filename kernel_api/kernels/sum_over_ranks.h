// SPDX-License-Identifier: Apache-2.0
// Adds up over the ranks a product of which each rank computes a summand. It works block by block, during the products
// of the next blocks. PEs with the same position in all ranks exchange messages, so that no other engine waits for the
// links between ranks.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "kernbench/kernel_api/kernels/peers.h"

namespace kernbench::kernels {

class SumOverRanks {
 public:
  using Store = std::function<void(const Range& rows, const Range& cols, const tl::Tensor&)>;
  /// `owned`: the columns that each rank adds up. `all`: the sums then go to all ranks. `store` receives this rank's
  /// results.
  SumOverRanks(tl::Context&, std::vector<Range> owned, bool all, Store store);
  /// Adds this rank's completed summand of a part, and an optional residual for this rank's columns of the sum.
  void add(const Range& rows, const Range& cols, const tl::Tensor& summand, const tl::Tensor& residual);
  /// Call it after all parts of a block were added.
  void next();
  /// Call it later: continues with the data that should have arrived by now.
  void go_on();
  /// Does the remaining work. Calls `flush` when the results given to `store` may be written to memory.
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
  /// Another rank's columns, as they are received.
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
  std::deque<Block> blocks_;  ///< blocks in flight
};

}  // namespace kernbench::kernels
