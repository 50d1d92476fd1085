// SPDX-License-Identifier: Apache-2.0
// C = act(A · B + bias): a GEMM with fused bias and activation, tile by tile.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::gemm_epilogue_kernel {
namespace {

// Columns per composite. The panel's part of the bias stays in TCM meanwhile.
constexpr int64_t kPanel = 16384;

void gemm_epilogue(tl::Context& tl, const tl::Args& args) {
  if (args["c"].empty()) return;
  const tl::Block a = args["a"];
  const tl::Block b = args["b"];
  const tl::Block c = args["c"];
  const std::string& activation = args.choice("activation");
  const int64_t n = c.shape()[1];
  for (int64_t j = 0; j < n; j += kPanel) {
    const int64_t cols = std::min(kPanel, n - j);
    const auto bias = tl.load(args["bias"].ptr + j, {cols});
    auto fused = tl::gemm(a, b.tile(0, j, b.shape()[0], cols))
                     .tiles(args.integer("tile_m"), args.integer("tile_n"), args.integer("tile_k"))
                     .then("add", {bias})
                     .out(c.tile(0, j, c.shape()[0], cols));
    if (activation != "none") fused.then(activation);
    tl.wait(tl.composite(fused));
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t m = p.integer("m");
  const int64_t n = p.integer("n");
  const int64_t k = p.integer("k");
  const Floats a = in.at("a").floats();
  const Floats b = in.at("b").floats();
  const Floats bias = in.at("bias").floats();
  Floats c = matmul(a, b, m, n, k);
  for (size_t i = 0; i < c.size(); ++i) {
    c[i] = activate(p.choice("activation"), c[i] + bias[i % static_cast<size_t>(n)]);
  }
  return {{"c", {HostTensor::from(p.dtype(), {m, n}, c), gemm_error_scale(a, b, m, n, k)}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "gemm_epilogue";
  s.help = "C = activation(A B + bias), fused into one composite on each PE";
  add_gemm_interface(&s);
  s.params.back() = ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16});
  s.params.insert(s.params.end() - 1,
                  ParamSpec::choice("activation", {"relu", "none", "gelu", "silu"}, "activation after the bias"));
  s.tensors.insert(s.tensors.begin() + 2, input("bias", {"n"}, Placement::replicate));
  s.products = product_of_mnk;
  s.function = gemm_epilogue;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::gemm_epilogue_kernel
