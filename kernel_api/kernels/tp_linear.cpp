// SPDX-License-Identifier: Apache-2.0
// y = act(x · w + bias) on a PE's parts: its rows of x and y, and its rank's part of w, from its own copy or through
// w's virtual range. In a program the ranks split either the columns of w and y, or the columns of x and the rows of w.
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::tp_linear_kernel {
namespace {

/// A rank without a part of k gives zeros, because every activation maps 0 to 0.
void clear(tl::Context& tl, const tl::Block& y) {
  const int64_t rows = y.shape()[0];
  for (int64_t i = 0; i < rows; ++i) tl.store_async(y.rows(i, 1), tl.zeros({1, y.shape()[1]}, y.dtype()));
}

void tp_linear(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block y = args["y"];
  const bool biased = args.has("bias");
  if (biased && args["x"].shape[1] != args["x"].whole[1])
    throw KernelFault("tp_linear: each rank has a part of k and would add the bias: add it behind their sum");
  if (args["x"].empty() || args["w"].empty()) return clear(tl, y);
  const tl::Block x = args["x"];
  const Dims wanted{x.shape()[1], y.shape()[1]};
  const tl::View w = args["w"].shape == wanted ? args["w"] : args.whole("w");
  if (w.shape != wanted || x.shape()[0] != y.shape()[0]) {
    throw KernelFault("tp_linear: parts of x " + x.shape().to_string() + ", w " + w.shape.to_string() + " and y " +
                      y.shape().to_string() + " do not fit");
  }
  auto product =
      tl::gemm(x, w.block()).tiles(args.integer("tile_m"), args.integer("tile_n"), args.integer("tile_k")).out(y);
  if (biased) product.then("add", {tl.load(args["bias"])});
  if (args.choice("activation") != "none") product.then(args.choice("activation"));
  tl.wait(tl.composite(product));
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k");
  const Floats x = in.at("x").floats(), w = in.at("w").floats();
  Floats y = matmul(x, w, m, n, k);
  const Floats bias = in.count("bias") > 0 ? in.at("bias").floats() : Floats(static_cast<size_t>(n), 0.0F);
  for (size_t i = 0; i < y.size(); ++i) y[i] = activate(p.choice("activation"), y[i] + bias[i % bias.size()]);
  return {{"y", {HostTensor::from(p.dtype(), {m, n}, y), gemm_error_scale(x, w, m, n, k)}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "tp_linear";
  s.help = "y = activation(x w + bias), each PE on its parts";
  s.params = {ParamSpec::size("m", 256, "rows of x and y, split over the PEs"),
              ParamSpec::size("n", 256, "columns of w and y"),
              ParamSpec::size("k", 256, "columns of x, rows of w"),
              ParamSpec::choice("activation", {"none", "relu", "gelu", "silu"}, "activation, fused after the product"),
              ParamSpec::size("tile_m", 32, "rows of a tile").tuning(),
              ParamSpec::size("tile_n", 32, "columns of a tile").tuning(),
              ParamSpec::size("tile_k", 64, "depth of a tile").tuning(),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("x", {"m", "k"}, Placement::rows),
               input("w", {"k", "n"}, Placement::replicate, Init::weights(value_of("k"))),
               input("bias", {"n"}, Placement::replicate), output("y", {"m", "n"}, Placement::rows)};
  s.tensors[2].optional = true;
  s.products = product_of_mnk;
  s.function = tp_linear;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::tp_linear_kernel
