// SPDX-License-Identifier: Apache-2.0
// x = activation(x + b) in place, on a PE's part of x. b has one value per column. With an activation it is computed in
// f32 and rounded once.
#include <algorithm>

#include "kernbench/kernel_api/kernels/activations.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::add_bias_kernel {
namespace {

constexpr int64_t kElements = 1 << 16;         // elements per block
constexpr int64_t kActivated = kElements / 2;  // per block with an activation, in f32

void add_bias(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &b = args["b"];
  if (x.empty()) return;
  const int64_t rows = x.shape[0], cols = x.shape[1];
  if (b.offset[0] > x.offset[1] || b.offset[0] + b.shape[0] < x.offset[1] + cols)
    throw KernelFault("add_bias: the PE lacks columns of b");
  const tl::Tensor bias = tl.load(b.block().slice(x.offset[1] - b.offset[0], cols));
  const std::string& activation = args.choice("activation");
  const bool plain = activation == "none";
  const tl::Tensor wide = plain ? tl::Tensor() : tl.cast(bias, DType::f32);
  const int64_t step = std::max<int64_t>(1, (plain ? kElements : kActivated) / cols);
  for (int64_t i = 0; i < rows; i += step) {
    const tl::Block block = x.block().rows(i, std::min(step, rows - i));
    const tl::Tensor loaded = tl.load(block);
    tl.store_async(block, plain ? loaded + bias
                                : tl.cast(activated(tl, activation, tl.cast(loaded, DType::f32) + wide), x.dtype()));
  }
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "add_bias";
  s.help = "x = activation(x + b), b one value a column; in place";
  s.params = {ParamSpec::size("rows", 256, "rows of x, split over the PEs"),
              ParamSpec::size("cols", 256, "columns of x and b"),
              ParamSpec::choice("activation", activations(), "activation of the sum"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {output("x", {"rows", "cols"}, Placement::rows), input("b", {"cols"}, Placement::replicate)};
  s.tensors[0].role = TensorSpec::Role::in_out;
  s.function = add_bias;
  s.reference = [](const Params& p, const TensorMap& in) {
    Floats x = in.at("x").floats();
    const Floats b = in.at("b").floats();
    for (size_t i = 0; i < x.size(); ++i) x[i] = activate(p.choice("activation"), x[i] + b[i % b.size()]);
    return std::map<std::string, Expected>{{"x", {HostTensor::from(p.dtype(), in.at("x").shape, x), {}}}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::add_bias_kernel
