// SPDX-License-Identifier: Apache-2.0
// y[i] = where the greatest element of row i of x is, the first of equals; a row must fit a PE's TCM.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/order.h"

namespace kernbench::kernels::argmax_kernel {
namespace {

void argmax(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"], y = args["y"];
  for (int64_t i = 0; i < x.shape()[0]; ++i) tl.store_async(y.slice(i, 1), tl.argmax(tl.load(x.rows(i, 1)), 1));
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "argmax";
  s.help = "index of the maximum of each row, the first of equal ones";
  s.params = {ParamSpec::size("rows", 256, "rows of x, split over the PEs"),
              ParamSpec::size("cols", 1024, "columns of x"), ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows),
               output("y", {"rows"}, Placement::rows, [](const Params&) { return DType::i32; })};
  s.function = argmax;
  s.reference = [](const Params& p, const TensorMap& in) {
    const Floats x = in.at("x").floats();
    const int64_t rows = p.integer("rows"), cols = p.integer("cols");
    std::vector<int32_t> y;
    for (int64_t r = 0; r < rows; ++r) y.push_back(static_cast<int32_t>(order::argmax(x.data() + r * cols, cols)));
    return std::map<std::string, Expected>{{"y", {HostTensor::from(DType::i32, {rows}, y), {}}}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::argmax_kernel
