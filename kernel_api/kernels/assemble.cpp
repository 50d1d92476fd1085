// SPDX-License-Identifier: Apache-2.0
// y = x by one PE. x is distributed over the memories of all PEs. The first PE reads it block by block through the
// tensor's virtual range, independent of shard boundaries.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::assemble_kernel {
namespace {

constexpr int64_t kBlock = 262144;

void assemble(tl::Context& tl, const tl::Args& args) {
  if (tl.index() != 0) return;
  const tl::Ptr x = args.whole("x").ptr;
  const tl::View& y = args["y"];
  const int64_t n = y.shape[0];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    tl.store(y.ptr + i, tl.load(x + i, {count}));
  }
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "assemble";
  s.help = "y = x: the first PE reads a tensor, sharded over all PEs, through its virtual range";
  s.params = {ParamSpec::size("n", 65536, "elements, sharded over the PEs"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::u8})};
  s.tensors = {input("x", {"n"}, Placement::rows), output("y", {"n"}, Placement::single)};
  s.function = assemble;
  s.reference = [](const Params&, const TensorMap& in) {
    return std::map<std::string, Expected>{{"y", {in.at("x"), {}}}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::assemble_kernel
