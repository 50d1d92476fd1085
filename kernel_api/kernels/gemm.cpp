// SPDX-License-Identifier: Apache-2.0
// C = A · B with one composite per PE. The scheduler tiles the PE's rows and overlaps DMA, GEMM and write-back.
#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::gemm_kernel {
namespace {

void gemm(tl::Context& tl, const tl::Args& args) {
  const tl::View& c = args["c"];
  if (c.empty()) return;
  const auto done = tl.composite(tl::gemm(args["a"].block(), args["b"].block())
                                     .tiles(args.integer("tile_m"), args.integer("tile_n"), args.integer("tile_k"))
                                     .out(c));
  tl.wait(done);
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "gemm";
  s.help = "C = A B, with one composite a PE over its rows of A";
  add_gemm_interface(&s);
  s.products = product_of_mnk;
  s.function = gemm;
  s.reference = [](const Params& p, const TensorMap& in) {
    return std::map<std::string, Expected>{{"c", gemm_reference(p, in)}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::gemm_kernel
