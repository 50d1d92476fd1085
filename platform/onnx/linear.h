// Products of rows with a matrix of weights, by the kernels of models (decode_linear, gemm_2d), which want their
// operands in layouts of their own: weights lie so from the start, rows are laid out (placed.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/fusion.h"

namespace kernbench::onnx {

/// Cubes of a rank, and PEs of each; none where cubes are unlike.
struct MachineShape {
  int64_t cubes = 0, pes = 0;
};

/// y [m, n] = residual + activation(x [m, k] · w + bias). Values are seen as such matrices, whatever their shape.
struct Linear {
  const Value *x = nullptr, *w = nullptr, *bias = nullptr, *residual = nullptr, *y = nullptr;
  bool transposed = false;  ///< w is [n, k]
  int64_t m = 0, k = 0, n = 0;
  std::string activation = "none";
  bool few_rows = false;  ///< decode_linear; else gemm_2d
};

/// MatMul or Gemm with a matrix, as the product alone; y is null of all else.
Linear product_of(const Op&);

/// The launches, those that are such products as these, with the followers that their kernel has for them; what else
/// follows is a launch of its own. `given`: values that lie in HBM from the start.
std::vector<Launch> with_linears(const std::vector<Launch>&, const MachineShape&,
                                 const std::function<bool(const Value&)>& given);

}  // namespace kernbench::onnx
