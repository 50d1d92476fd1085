// SPDX-License-Identifier: Apache-2.0
// y = act(x · w1) · w2 over ranks: w1 is split by columns and w2 by rows. So the hidden layer stays on its rank, and
// one all_reduce sums the ranks' results.
#include "kernbench/platform/programs/common.h"

namespace kernbench::programs::tp_mlp_program {
namespace {

void tp_mlp(host::Context& h) {
  const host::Tensor x = h.input("x");
  const host::Tensor u = h.tensor(x.dtype(), {h.integer("tokens"), h.integer("hidden")}, host::columns_of_ranks(), "u");
  host::column_parallel_linear(h, x, h.input("w1"), u, h.params().choice("activation"));
  host::row_parallel_linear(h, u, h.input("w2"), h.output("y"), h.params().choice("algorithm"));
}

ProgramSpec spec() {
  const KernelSpec& mlp = KernelRegistry::instance().at("mlp");
  ProgramSpec s;
  s.name = "tp_mlp";
  s.help = "y = activation(x w1) w2, tensor-parallel over the ranks";
  s.params = {ParamSpec::size("tokens", 64, "rows of x and y, split over the PEs of each rank"),
              ParamSpec::size("dim", 128, "columns of x and y"),
              ParamSpec::size("hidden", 256, "columns of w1, split over the ranks"),
              ParamSpec::choice("activation", {"gelu", "silu"}, "activation between the two GEMMs"),
              algorithm_of("all_reduce"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {with_layout(*mlp.tensor("x"), host::rows_of_pes()), with_layout(*mlp.tensor("w1"), host::rank_shard(1)),
               with_layout(*mlp.tensor("w2"), host::rank_shard(0)), with_layout(*mlp.tensor("y"), host::rows_of_pes())};
  s.function = tp_mlp;
  s.reference = mlp.reference;
  return s;
}

const RegisterProgram registered{spec()};

}  // namespace
}  // namespace kernbench::programs::tp_mlp_program
