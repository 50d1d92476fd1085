// SPDX-License-Identifier: Apache-2.0
// Rows of floats as 8-bit integers with one step per row. A value is its integer times the step, which is the greatest
// absolute value of the row / 127 ("per token": Dettmers et al., LLM.int8(), 2022; Xiao et al., SmoothQuant, 2023).
// Rows with an infinity or NaN become NaN.
#pragma once

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels {

/// For x [rows, cols] in f32: [rows, 1].
tl::Tensor greatest_of_rows(tl::Context&, const tl::Tensor& x);
tl::Tensor joined_greatest(tl::Context&, const std::vector<tl::Tensor>& parts);

struct RowSteps {
  tl::Tensor step;     ///< [rows, 1] in f32
  tl::Tensor inverse;  ///< 1 / step
};
RowSteps steps_of(tl::Context&, const tl::Tensor& greatest);
/// Integers of x, which is in f32.
tl::Tensor in_steps(tl::Context&, const tl::Tensor& x, const RowSteps&);

/// For references, with the same f32 operations.
struct SteppedRows {
  std::vector<int32_t> values;
  Floats step;  ///< one per row
  /// value · step.
  Floats floats() const;
};
SteppedRows stepped_rows(const Floats& x, int64_t cols);
/// x in f32; each row is multiplied by its step, if there are steps.
Floats rows_of_steps(const HostTensor& x, const HostTensor* step);

/// The optional tensor [m, 1] in f32.
TensorSpec row_steps_spec(const std::string& name);

/// The parameter activations: dtype, or i8, which requires i8 weights with one scale per column.
ParamSpec activations_spec(const std::string& help);
bool activations_are_integers(const Params&);
/// BadParam for other weights.
void check_activations(const Params&);

}  // namespace kernbench::kernels
