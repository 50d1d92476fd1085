// SPDX-License-Identifier: Apache-2.0
// Runs products with a weight matrix on the kernels of models (decode_linear, gemm_2d). These need their operands in
// layouts of their own: weights are placed so from the start, rows are laid out at run time (placed.h).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/fusion.h"

namespace kernbench::onnx {

/// Cubes of a rank and PEs of each cube; none if cubes differ.
struct MachineShape {
  int64_t cubes = 0, pes = 0;
};

/// y [m, n] = residual + activation(norm(x [m, k]) · w + bias) [· (norm(x) · up + up_bias)]. Values are viewed as such
/// matrices whatever their shape.
struct Linear {
  const Value *x = nullptr, *w = nullptr, *bias = nullptr, *residual = nullptr, *y = nullptr;
  const Value *up = nullptr, *up_bias = nullptr;
  const Op* norm = nullptr;                        ///< RMSNormalization or LayerNormalization of the rows; null: none
  bool transposed = false, up_transposed = false;  ///< w and up are [n, k]
  int64_t m = 0, k = 0, n = 0;
  std::string activation = "none";
  bool few_rows = false;  ///< true: decode_linear; false: gemm_2d

  const Value* norm_weights() const { return norm ? &norm->in(1) : nullptr; }
  const Value* norm_bias() const { return norm && norm->has(2) ? &norm->in(2) : nullptr; }
  bool norm_of_layer() const;
  std::vector<Launch::Operand> inputs() const;
};

/// Recognizes MatMul or Gemm with a matrix, without followers. For other ops y is null.
Linear product_of(const Op&);

struct LinearRequest {
  MachineShape machine;
  std::function<bool(const Value&)> given;  ///< whether the value lies in HBM from the start
  std::set<const Value*> kept;              ///< values that must be stored
};

/// Returns the launches, with such products replaced, including the followers that their kernel can compute. Other
/// followers become launches of their own. Norms that only such products read are moved into them; `normed` holds these
/// ops. Two products of the same rows that are multiplied together become one launch.
std::vector<Launch> with_linears(const std::vector<Launch>&, const LinearRequest&, std::vector<const Op*>* normed);

}  // namespace kernbench::onnx
