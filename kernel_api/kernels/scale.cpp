// SPDX-License-Identifier: Apache-2.0
// x = factor · x in place, on a PE's part.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::scale_kernel {
namespace {

constexpr int64_t kElements = 1 << 16;  // per block

void scale(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  if (x.empty()) return;
  const int64_t rows = x.shape[0], step = std::max<int64_t>(1, kElements / x.shape[1]);
  for (int64_t i = 0; i < rows; i += step) {
    const tl::Block block = x.block().rows(i, std::min(step, rows - i));
    tl.store_async(block, tl.load(block) * args.number("factor"));
  }
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "scale";
  s.help = "x = factor x; in place";
  s.params = {ParamSpec::size("rows", 256, "rows of x, split over the PEs"),
              ParamSpec::size("cols", 256, "columns of x"),
              ParamSpec::number("factor", 2, -1e30, 1e30, "factor of each element"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {output("x", {"rows", "cols"}, Placement::rows)};
  s.tensors[0].role = TensorSpec::Role::in_out;
  s.function = scale;
  s.reference = [](const Params& p, const TensorMap& in) {
    Floats x = in.at("x").floats();
    for (float& v : x) v *= static_cast<float>(p.number("factor"));
    return std::map<std::string, Expected>{{"x", {HostTensor::from(p.dtype(), in.at("x").shape, x), {}}}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::scale_kernel
