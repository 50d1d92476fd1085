// SPDX-License-Identifier: Apache-2.0
// y = sqrt(|x|) by Newton's method, block by block. The number of steps depends on the block's values: the kernel
// branches on a reduction that it computed (tl.materialize).
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::newton_sqrt_kernel {
namespace {

void newton_sqrt(tl::Context& tl, const tl::Args& args) {
  const tl::View& x = args["x"];
  const tl::View& y = args["y"];
  if (y.empty()) return;
  const int64_t n = y.shape[0];
  const int64_t block = args.integer("block");
  const int64_t most_steps = args.integer("steps");
  const double tolerance = args.number("tolerance");
  for (int64_t i = 0; i < n; i += block) {
    const int64_t count = std::min(block, n - i);
    const auto a = tl.abs(tl.load(x.ptr + i, {count}));
    auto root = tl.full({count}, 1, DType::f32);
    for (int64_t step = 0; step < most_steps; ++step) {
      const auto next = 0.5 * (root + a / root);
      const auto change = tl.max(tl.abs(next - root));
      root = next;
      if (tl.materialize(change).item<float>() < tolerance) break;
    }
    tl.store(y.ptr + i, root);
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  Floats root = in.at("x").floats();
  for (float& v : root) v = std::sqrt(std::fabs(v));
  return {{"y", {HostTensor::from(p.dtype(), in.at("x").shape, root), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "newton_sqrt";
  s.help = "y = sqrt(|x|) by Newton's method; each block stops when it has converged";
  s.params = {
      ParamSpec::size("n", 8192, "elements, split over the PEs"),
      ParamSpec::size("block", 1024, "elements of a block").tuning(),
      ParamSpec::size("steps", 64, "maximum steps of a block"),
      ParamSpec::number("tolerance", 1e-6, 0, 1, "convergence: a block is done when no element changes by more"),
      ParamSpec::dtypes({DType::f32})};
  s.tensors = {input("x", {"n"}, Placement::rows), output("y", {"n"}, Placement::rows)};
  s.function = newton_sqrt;
  s.reference = reference;
  s.materializes = true;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::newton_sqrt_kernel
