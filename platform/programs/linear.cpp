// SPDX-License-Identifier: Apache-2.0
// y = act(x · w) by gemm_2d, as a program: w by columns over the ranks, x equal on all of them, each stored once per
// rank.
#include "kernbench/platform/programs/common.h"

namespace kernbench::programs::linear_program {
namespace {

void linear(host::Context& h) {
  host::linear_2d(h, h.input("x"), h.input("w"), h.output("y"), h.params().choice("activation"));
}

const KernelSpec& gemm() {
  return KernelRegistry::instance().at("gemm_2d");
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  Params of_gemm =
      kernel_params(gemm(), {{"activation", p.choice("activation")}, {"dtype", std::string(name_of(p.dtype()))}});
  for (const char* size : {"m", "n", "k"}) of_gemm.set(size, p.integer(size));
  return {{"y", gemm().reference(of_gemm, {{"a", in.at("x")}, {"b", in.at("w")}}).at("c")}};
}

ProgramSpec spec() {
  ProgramSpec s;
  s.name = "linear";
  s.help = "y = activation(x w) by gemm_2d; the columns of w and y are split over the ranks";
  s.params = {ParamSpec::size("m", 256, "rows of x and y"), ParamSpec::size("n", 256, "columns of w and y"),
              ParamSpec::size("k", 256, "columns of x, rows of w"),
              ParamSpec::choice("activation", {"none", "relu", "gelu", "silu"}, "activation, fused after the product"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {with_layout(kernels::input("x", {"m", "k"}, Placement::rows), host::grid_of_rows()),
               with_layout(kernels::input("w", {"k", "n"}, Placement::rows, Init::weights(kernels::value_of("k"))),
                           host::grid_of_columns(host::shard(1))),
               with_layout(kernels::output("y", {"m", "n"}, Placement::rows), host::grid_of_rows(host::shard(1)))};
  s.function = linear;
  s.reference = reference;
  return s;
}

const RegisterProgram registered{spec()};

}  // namespace
}  // namespace kernbench::programs::linear_program
