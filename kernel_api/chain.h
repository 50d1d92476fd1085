// SPDX-License-Identifier: Apache-2.0
// Elementwise ops that are submitted only when their result is used, so that a chain of them becomes one MATH command.
// Internal, for interpreters of compiled kernels. A kernel author writes composites instead.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/kernel_api/context.h"
#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {
struct MathOp;
}

namespace kernbench::tl {

/// The result of an op that is not submitted yet. A reader of the same shape includes the op in its own command.
/// Otherwise, or by made(), the op is submitted asynchronously. The values are the same in both cases.
class Chained {
 public:
  /// A tensor, an immediate or the result of another op. If `waited_for` is set, the tensor is waited for before the
  /// command that reads it.
  struct Input {
    Input(const Arg& a, bool waited_for = false) : value(a), waits(waited_for) {}  // NOLINT: implicit
    Input(std::shared_ptr<Chained> c) : value(Tensor()), from(std::move(c)) {}     // NOLINT: implicit
    Arg value;
    bool waits = false;
    std::shared_ptr<Chained> from;
    void await() const;
  };

  /// `dtype`: for a cast. At least one input must be, or be computed from, a tensor. KernelFault for types that do not
  /// fit.
  Chained(const MathOp& op, std::vector<Input> in, std::optional<DType> dtype, SourceLine where);

  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  /// Submits the op, with all unsubmitted ops that it depends on.
  const Tensor& made();

 private:
  struct Command;
  /// Replaces a submitted op by its tensor.
  static void settle(Input*);
  std::shared_ptr<detail::Core> core() const;
  void submit_alone();

  const MathOp* op_;
  std::vector<Input> in_;  ///< empty after the submission
  DType dtype_ = DType::f32;
  Dims shape_;
  SourceLine where_;
  size_t steps_ = 1;  ///< upper bound, including those of its inputs
  Tensor made_;
};

}  // namespace kernbench::tl
