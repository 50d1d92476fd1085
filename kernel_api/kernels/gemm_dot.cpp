// SPDX-License-Identifier: Apache-2.0
// C = A · B in Triton's style: loops over tiles with tl.load, tl.dot and tl.store.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::gemm_dot_kernel {
namespace {

void gemm_dot(tl::Context& tl, const tl::Args& args) {
  if (args["c"].empty()) return;
  const tl::Block a = args["a"];
  const tl::Block b = args["b"];
  const tl::Block c = args["c"];
  const int64_t m = a.shape()[0];
  const int64_t n = b.shape()[1];
  const int64_t k = a.shape()[1];
  const int64_t tm = std::min(m, args.integer("tile_m"));
  const int64_t tn = std::min(n, args.integer("tile_n"));
  const int64_t tk = std::min(k, args.integer("tile_k"));
  for (int64_t i = 0; i < m; i += tm) {
    const int64_t rows = std::min(tm, m - i);
    for (int64_t j = 0; j < n; j += tn) {
      const int64_t cols = std::min(tn, n - j);
      tl::Tensor acc;  // f32, or i32 for integers
      for (int64_t l = 0; l < k; l += tk) {
        const int64_t depth = std::min(tk, k - l);
        const auto x = tl.load_async(a.tile(i, l, rows, depth));
        const auto y = tl.load_async(b.tile(l, j, depth, cols));
        const tl::Tensor part = tl.dot(x, y);
        acc = l == 0 ? part : acc + part;
      }
      tl.store(c.tile(i, j, rows, cols), acc.dtype() == c.dtype() ? acc : tl.cast(acc, c.dtype()));
    }
  }
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "gemm_dot";
  s.help = "C = A B, by loops of load, dot and store";
  add_gemm_interface(&s);
  s.products = product_of_mnk;
  s.function = gemm_dot;
  s.reference = [](const Params& p, const TensorMap& in) {
    return std::map<std::string, Expected>{{"c", gemm_reference(p, in)}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::gemm_dot_kernel
