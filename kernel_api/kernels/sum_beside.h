// SPDX-License-Identifier: Apache-2.0
// A sum over the ranks of what earlier launches have made, which a kernel does beside its own work: its optional
// tensors part, of which the ranks have summands, and sum, of which each has a copy. Each share is added up by one PE,
// which stores it in all ranks: loads and stores alone, on engines that the kernel's own work leaves free.
#pragma once

#include <cstddef>
#include <vector>

#include "kernbench/kernel_api/kernels/redistribution_pieces.h"
#include "kernbench/kernel_api/registry.h"

namespace kernbench::kernels {

class SumBeside {
 public:
  /// `steps`: of the kernel's own work in this PE. Parameters turn and turns say which share of the PEs this launch is
  /// of.
  SumBeside(tl::Context&, const tl::Args&, size_t steps);
  /// With each of them. PEs begin one after the other: each then has the links to the other ranks for itself, and what
  /// it asks for is there when it comes to use it, a step later.
  void step();
  /// What is left.
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
  size_t begin_ = 0, now_ = 0, done_ = 0;  ///< done_: things, three a piece
};

/// Tensors and parameters of it, for a kernel whose last parameter is dtype.
void add_sum_beside(KernelSpec*);
/// Of a launch's parameters. BadParam.
void check_sum_beside(const Params&);

}  // namespace kernbench::kernels
