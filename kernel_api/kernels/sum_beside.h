// SPDX-License-Identifier: Apache-2.0
// A sum over ranks of the results of earlier launches. A kernel computes it besides its own work. Its optional tensors
// are part, the summands of the ranks, and sum, of which each rank has a copy. One PE adds up each share and stores it
// in all ranks. This uses only loads and stores, on engines that the kernel's own work leaves idle.
#pragma once

#include <cstddef>
#include <vector>

#include "kernbench/kernel_api/kernels/redistribution_pieces.h"
#include "kernbench/kernel_api/registry.h"

namespace kernbench::kernels {

class SumBeside {
 public:
  /// `steps`: steps of the kernel's own work in this PE. The parameters turn and turns select this launch's share of
  /// the PEs.
  SumBeside(tl::Context&, const tl::Args&, size_t steps);
  /// Call it in each step. PEs begin one after another, so that each has the links to the other ranks to itself.
  /// Requested data has arrived when it is used one step later.
  void step();
  /// Does the remaining work.
  void finish();

 private:
  void ask();
  void add();
  void store();

  tl::Context& tl_;
  const tl::Args& args_;
  const ccl::Redistribution::Group* group_ = nullptr;
  std::vector<Piece> pieces_;
  std::vector<tl::Loaded> loads_;  ///< the summands of a piece
  tl::Tensor value_;
  size_t begin_ = 0, now_ = 0, done_ = 0;  ///< done_: actions, three per piece
};

/// Its tensors and parameters, for a kernel whose last parameter is dtype.
void add_sum_beside(KernelSpec*);
/// Checks a launch's parameters. BadParam.
void check_sum_beside(const Params&);

}  // namespace kernbench::kernels
