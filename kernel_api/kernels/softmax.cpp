// SPDX-License-Identifier: Apache-2.0
// Row-wise softmax. A row that fits a block takes one tl.softmax. Wider rows take two passes with a running maximum and
// sum.
#include <algorithm>
#include <limits>

#include <Eigen/Core>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::softmax_kernel {
namespace {

constexpr int64_t kColumns = 4096;    // per block
constexpr int64_t kElements = 16384;  // per block: 64 KiB of f32 for each live value
constexpr double kLowest = std::numeric_limits<float>::lowest();

/// y = softmax(x) for rows wider than a block.
void wide_rows(tl::Context& tl, const tl::Block& x, const tl::Block& y) {
  const int64_t rows = x.shape()[0];
  const int64_t cols = x.shape()[1];
  tl::Tensor top;  // running maximum, [rows, 1]
  tl::Tensor sum;  // of exp(x - top), [rows, 1]
  for (int64_t j = 0; j < cols; j += kColumns) {
    const auto part = tl.cast(tl.load(x.tile(0, j, rows, std::min(kColumns, cols - j))), DType::f32);
    const tl::Tensor part_top = tl.max(part, 1, true);
    // Finite, so that elements of -inf contribute nothing even if a complete block has no others.
    const tl::Tensor new_top = j == 0 ? tl.maximum(part_top, kLowest) : tl.maximum(top, part_top);
    const tl::Tensor part_sum = tl.sum(tl.exp(part - new_top), 1, true);
    sum = j == 0 ? part_sum : tl.fma(sum, tl.exp(top - new_top), part_sum);
    top = new_top;
  }
  for (int64_t j = 0; j < cols; j += kColumns) {
    const int64_t width = std::min(kColumns, cols - j);
    const auto part = tl.cast(tl.load(x.tile(0, j, rows, width)), DType::f32);
    tl.store(y.tile(0, j, rows, width), tl.cast(tl.exp(part - top) / sum, y.dtype()));
  }
}

void softmax(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"];
  const tl::Block y = args["y"];
  const int64_t rows = x.shape()[0];
  const int64_t cols = x.shape()[1];
  const int64_t step = std::max<int64_t>(1, kElements / std::min(cols, kColumns));
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t count = std::min(step, rows - i);
    if (cols <= kColumns) {
      tl.store(y.rows(i, count), tl.softmax(tl.load(x.rows(i, count))));
    } else {
      wide_rows(tl, x.rows(i, count), y.rows(i, count));
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  using Rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int64_t rows = p.integer("rows");
  const int64_t cols = p.integer("cols");
  const Floats x = in.at("x").floats();
  Floats y(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    const Eigen::ArrayXd row = Eigen::Map<const Rows>(x.data(), rows, cols).row(r).cast<double>();
    const Eigen::ArrayXd e = (row - row.maxCoeff()).exp();
    Eigen::Map<Rows>(y.data(), rows, cols).row(r) = (e / e.sum()).cast<float>();
  }
  return {{"y", {HostTensor::from(p.dtype(), {rows, cols}, y), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "softmax";
  s.help = "y = softmax(x) along every row";
  s.params = {ParamSpec::size_over_pes("rows", 1024, "rows, split over the PEs"),
              ParamSpec::size("cols", 512, "columns"), ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), output("y", {"rows", "cols"}, Placement::rows)};
  s.function = softmax;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::softmax_kernel
