// SPDX-License-Identifier: Apache-2.0
// Products of rows with a matrix of weights, by the kernels of models (decode_linear, gemm_2d), which want their
// operands in layouts of their own: weights lie so from the start, rows are laid out (placed.h).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/fusion.h"

namespace kernbench::onnx {

/// Cubes of a rank, and PEs of each; none where cubes are unlike.
struct MachineShape {
  int64_t cubes = 0, pes = 0;
};

/// y [m, n] = residual + activation(norm(x [m, k]) · w + bias) [· (norm(x) · up + up_bias)]. Values are seen as such
/// matrices, whatever their shape.
struct Linear {
  const Value *x = nullptr, *w = nullptr, *bias = nullptr, *residual = nullptr, *y = nullptr;
  const Value *up = nullptr, *up_bias = nullptr;
  const Op* norm = nullptr;                        ///< RMSNormalization or LayerNormalization of rows; null: none
  bool transposed = false, up_transposed = false;  ///< w, up are [n, k]
  int64_t m = 0, k = 0, n = 0;
  std::string activation = "none";
  bool few_rows = false;  ///< decode_linear; else gemm_2d

  const Value* norm_weights() const { return norm ? &norm->in(1) : nullptr; }
  const Value* norm_bias() const { return norm && norm->has(2) ? &norm->in(2) : nullptr; }
  bool norm_of_layer() const;
  std::vector<Launch::Operand> inputs() const;
};

/// MatMul or Gemm with a matrix, as the product alone; y is null of all else.
Linear product_of(const Op&);

struct LinearRequest {
  MachineShape machine;
  std::function<bool(const Value&)> given;  ///< lies in HBM from the start
  std::set<const Value*> kept;              ///< values that must be stored
};

/// The launches, those that are such products as these, with the followers that their kernel has for them; what else
/// follows is a launch of its own. Norms that only such products read go into these: `normed` are their ops. Two of the
/// same rows that are multiplied with each other are one.
std::vector<Launch> with_linears(const std::vector<Launch>&, const LinearRequest&, std::vector<const Op*>* normed);

}  // namespace kernbench::onnx
