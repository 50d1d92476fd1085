// SPDX-License-Identifier: Apache-2.0
// Elementwise ops that wait for what reads them, so that a chain of them is one MATH command: for who runs compiled
// kernels. Internal to who interprets; a kernel author writes composites.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/kernel_api/context.h"
#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {
struct MathOp;
}

namespace kernbench::tl {

/// What an op gives that has not been submitted. What reads it takes it along, if it has its shape; else, and by
/// made(), it is submitted, asynchronously. Its values are the same either way.
class Chained {
 public:
  /// A tensor (which is waited for before the command that takes it, or not), an immediate, or another's result.
  struct Input {
    Input(const Arg& a, bool waited_for = false) : value(a), waits(waited_for) {}  // NOLINT: implicit
    Input(std::shared_ptr<Chained> c) : value(Tensor()), from(std::move(c)) {}     // NOLINT: implicit
    Arg value;
    bool waits = false;
    std::shared_ptr<Chained> from;
    void await() const;
  };

  /// `dtype`: of a cast. One of the inputs is a tensor, or is made of one. KernelFault for types that do not go
  /// together.
  Chained(const MathOp& op, std::vector<Input> in, std::optional<DType> dtype, SourceLine where);

  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  /// Submits it, with all that it is made of and that has not been submitted.
  const Tensor& made();

 private:
  struct Command;
  /// Itself or, where it is there, its tensor.
  static void settle(Input*);
  std::shared_ptr<detail::Core> core() const;
  void submit_alone();

  const MathOp* op_;
  std::vector<Input> in_;  ///< none any more when it has been submitted
  DType dtype_ = DType::f32;
  Dims shape_;
  SourceLine where_;
  size_t steps_ = 1;  ///< at most, with those that it takes along
  Tensor made_;
};

}  // namespace kernbench::tl
