// SPDX-License-Identifier: Apache-2.0
// Repeats the same all_reduce over the ranks, to measure its cost in isolation. The first rank gives x, the others
// zeros, so that the sum is x for any number of ranks.
#include "kernbench/platform/programs/common.h"

namespace kernbench::programs::all_reduce_loop_program {
namespace {

void all_reduce_loop(host::Context& h) {
  const host::Tensor x = h.input("x"), y = h.output("y");
  const HostTensor value = h.read(x);
  const HostTensor zeros(x.dtype(), x.shape());
  const host::Tensor given = h.partial_like(x, "given");
  for (uint32_t r = 0; r < h.num_ranks(); ++r) h.upload(h.rank(r), given, r == 0 ? value : zeros);
  for (int64_t i = 0; i < h.integer("times"); ++i) host::reduce_region(h, given, y, h.params().choice("algorithm"));
}

ProgramSpec spec() {
  ProgramSpec s;
  s.name = "all_reduce_loop";
  s.help = "repeated all_reduce over the ranks";
  s.params = {ParamSpec::size("n", 4096, "elements of a rank, split over its PEs"),
              ParamSpec::size("times", 4, "number of all_reduces"), algorithm_of("all_reduce"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {with_layout(kernels::input("x", {"n"}, Placement::rows), host::rows_of_pes()),
               with_layout(kernels::output("y", {"n"}, Placement::rows), host::rows_of_pes())};
  s.function = all_reduce_loop;
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  return s;
}

const RegisterProgram registered{spec()};

}  // namespace
}  // namespace kernbench::programs::all_reduce_loop_program
