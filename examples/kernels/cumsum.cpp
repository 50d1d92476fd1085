// SPDX-License-Identifier: Apache-2.0
// y[r, :] = x[r, 0] + … along every row. Rows wider than a block carry their sum from block to block.
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::cumsum_kernel {
namespace {

constexpr int64_t kColumns = 4096;    // of a block
constexpr int64_t kElements = 16384;  // of a block

void cumsum(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"];
  const tl::Block y = args["y"];
  const int64_t rows = x.shape()[0];
  const int64_t cols = x.shape()[1];
  const int64_t step = std::max<int64_t>(1, kElements / std::min(cols, kColumns));
  const DType sums = accumulator_of(x.dtype());
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t count = std::min(step, rows - i);
    tl::Tensor carry;  // [count, 1]
    for (int64_t j = 0; j < cols; j += kColumns) {
      const int64_t width = std::min(kColumns, cols - j);
      const tl::Tensor part = tl.cumsum(tl.cast(tl.load(x.tile(i, j, count, width)), sums), 1);
      const tl::Tensor whole = j == 0 ? part : part + carry;
      carry = whole.slice(1, width - 1, 1);
      tl.store_async(y.tile(i, j, count, width), whole.dtype() == y.dtype() ? whole : tl.cast(whole, y.dtype()));
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t rows = p.integer("rows"), cols = p.integer("cols");
  const HostTensor& x = in.at("x");
  if (!is_float(p.dtype())) {
    std::vector<int32_t> y = x.ints();
    for (int64_t i = 0; i < rows * cols; ++i) {
      const auto at = static_cast<size_t>(i);
      if (i % cols) y[at] = static_cast<int32_t>(static_cast<uint32_t>(y[at]) + static_cast<uint32_t>(y[at - 1]));
    }
    return {{"y", {HostTensor::from(DType::i32, {rows, cols}, y), {}}}};
  }
  Floats y = x.floats(), scale(y.size());
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0, size = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const auto at = static_cast<size_t>(r * cols + c);
      sum += static_cast<double>(y[at]);
      size += std::abs(static_cast<double>(y[at]));
      y[at] = static_cast<float>(sum);
      scale[at] = static_cast<float>(size);  // of what is added up, as of a GEMM
    }
  }
  return {{"y", {HostTensor::from(p.dtype(), {rows, cols}, y), scale}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "cumsum";
  s.help = "y = running sums along each row (i32 for integers)";
  s.params = {ParamSpec::size_over_pes("rows", 1024, "rows, split over the PEs"),
              ParamSpec::size("cols", 512, "columns"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::i32})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows),
               output("y", {"rows", "cols"}, Placement::rows, gemm_out_dtype)};
  s.function = cumsum;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::cumsum_kernel
