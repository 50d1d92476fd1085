// SPDX-License-Identifier: Apache-2.0
// Divides each head of q and k (in x, laid out as in Heads) by its root mean square and multiplies it by q_norm or
// k_norm. In place, in f32, rounded once.
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/heads.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::head_norm_kernel {
namespace {

constexpr int64_t kElements = 1 << 17;  // per block

void head_norm(tl::Context& tl, const tl::Args& args) {
  const Heads h(args.params());
  const tl::View& x = args["x"];
  if (x.empty()) return;
  const int64_t heads = h.heads_at(x, "head_norm"), begin = x.offset[1] % h.part_width() / h.dim;
  if (heads == 0) return;
  const int64_t of_q = std::clamp<int64_t>(h.heads_of_part - begin, 0, heads);
  const tl::Tensor weights[] = {tl.cast(tl.load(args["q_norm"]), DType::f32),
                                tl.cast(tl.load(args["k_norm"]), DType::f32)};
  const int64_t rows = x.shape[0], step = std::max<int64_t>(1, kElements / (heads * h.dim));
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t count = std::min(step, rows - i);
    const tl::Block block = x.block().tile(i, 0, count, heads * h.dim);
    const tl::Tensor all = tl.cast(tl.load(block), DType::f32).reshape({count, heads, h.dim});
    const tl::Tensor squares = tl.sum(all * all, 2, true);
    const tl::Tensor scaled = all * tl.rsqrt(tl.fma(squares, 1.0 / static_cast<double>(h.dim), args.number("eps")));
    for (const bool is_q : {true, false}) {
      const int64_t first = is_q ? 0 : of_q, n = is_q ? of_q : heads - of_q;
      if (n == 0) continue;
      const tl::Tensor y = tl.cast(scaled.slice(1, first, n) * weights[is_q ? 0 : 1], x.dtype());
      tl.store_async(block.tile(0, first * h.dim, count, n * h.dim), y.reshape({count, n * h.dim}));
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const Heads h(p);
  Floats x = in.at("x").floats();
  const Floats q_norm = in.at("q_norm").floats(), k_norm = in.at("k_norm").floats();
  for (int64_t row = 0; row < h.seq; ++row) {
    for (int64_t head = 0; head < h.heads + h.kv; ++head) {
      const int64_t col = head < h.heads ? h.q_col_of(head) : h.k_col(head - h.heads);
      float* at = x.data() + row * h.width() + col;
      double squares = 0;
      for (int64_t d = 0; d < h.dim; ++d) squares += double{at[d]} * at[d];
      const double scale = 1 / std::sqrt(squares / static_cast<double>(h.dim) + p.number("eps"));
      const Floats& w = head < h.heads ? q_norm : k_norm;
      for (int64_t d = 0; d < h.dim; ++d) at[d] = static_cast<float>(at[d] * scale * w[static_cast<size_t>(d)]);
    }
  }
  return {{"x", {HostTensor::from(p.dtype(), in.at("x").shape, x), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "head_norm";
  s.help = "x = RMS norm of each head of q and k, times q_norm or k_norm; in place";
  s.params = head_params();
  s.params.push_back(ParamSpec::size("seq", 128, "rows"));
  s.params.push_back(ParamSpec::number("eps", 1e-6, 0, 1e6, "epsilon, added to the mean square"));
  s.params.push_back(ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16}));
  TensorSpec x = output("x", {}, Placement::rows);
  x.role = TensorSpec::Role::in_out;
  x.shape = [](const Params& p) { return Dims{p.integer("seq"), Heads(p).width()}; };
  s.tensors = {x, input("q_norm", {"dim"}, Placement::replicate), input("k_norm", {"dim"}, Placement::replicate)};
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) { check_heads(*p); };
  s.function = head_norm;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::head_norm_kernel
