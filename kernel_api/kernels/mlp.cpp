// SPDX-License-Identifier: Apache-2.0
// y = act(x · w1) · w2: two GEMMs, with the activation fused into the first. The hidden layer stays in TCM, one block
// of tokens at a time, rounded to the element type.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::mlp_kernel {
namespace {

constexpr int64_t kHiddenBytes = 256 * 1024;  // of the hidden layer in TCM at once
constexpr int64_t kTokens = 128;

void mlp(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"];
  const tl::Block y = args["y"];
  const tl::Block w1 = args["w1"];
  const tl::Block w2 = args["w2"];
  const int64_t tokens = x.shape()[0];
  const auto row_bytes = w1.shape()[1] * static_cast<int64_t>(size_of(x.dtype()));
  const int64_t step = std::clamp<int64_t>(kHiddenBytes / row_bytes, 1, kTokens);
  for (int64_t i = 0; i < tokens; i += step) {
    const int64_t count = std::min(step, tokens - i);
    const auto hidden =
        tl.composite(tl::gemm(x.rows(i, count), w1).then(args.choice("activation")).out_dtype(x.dtype()));
    tl.wait(hidden);
    tl.wait(tl.composite(tl::gemm(hidden, w2).out(y.rows(i, count))));
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t tokens = p.integer("tokens");
  const int64_t dim = p.integer("dim");
  const int64_t hidden = p.integer("hidden");
  Floats h = matmul(in.at("x").floats(), in.at("w1").floats(), tokens, hidden, dim);
  for (float& v : h) v = activate(p.choice("activation"), v);
  round_to(p.dtype(), h.data(), h.size());
  const Floats w2 = in.at("w2").floats();
  return {{"y",
           {HostTensor::from(p.dtype(), {tokens, dim}, matmul(h, w2, tokens, dim, hidden)),
            gemm_error_scale(h, w2, tokens, dim, hidden)}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "mlp";
  s.help = "y = activation(x w1) w2, the hidden layer in TCM";
  s.params = {ParamSpec::size_over_pes("tokens", 256, "rows of x and y, split over the PEs"),
              ParamSpec::size("dim", 128, "columns of x and y"), ParamSpec::size("hidden", 512, "columns of w1"),
              ParamSpec::choice("activation", {"gelu", "silu"}, "activation between the two GEMMs"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.params[2].max = 65536;  // a row of the hidden layer must fit TCM
  s.tensors = {input("x", {"tokens", "dim"}, Placement::rows),
               input("w1", {"dim", "hidden"}, Placement::replicate, Init::weights(value_of("dim"))),
               input("w2", {"hidden", "dim"}, Placement::replicate, Init::weights(value_of("hidden"))),
               output("y", {"tokens", "dim"}, Placement::rows)};
  s.products = [](const Params& p) {
    const int64_t tokens = p.integer("tokens"), dim = p.integer("dim"), hidden = p.integer("hidden");
    return std::vector<MatrixProduct>{{tokens, hidden, dim}, {tokens, dim, hidden}};
  };
  s.function = mlp;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::mlp_kernel
