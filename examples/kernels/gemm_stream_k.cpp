// SPDX-License-Identifier: Apache-2.0
// C += A · B, where the steps of all tiles along k stand in one row that the PEs share out evenly: a PE may end one
// tile and begin another, and adds what it has of each by an atomic.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels::gemm_stream_k_kernel {
namespace {

void gemm_stream_k(tl::Context& tl, const tl::Args& args) {
  const tl::Block a = args["a"];
  const tl::Block b = args["b"];
  const tl::Block c = args["c"];
  const int64_t m = c.shape()[0];
  const int64_t n = c.shape()[1];
  const int64_t k = a.shape()[1];
  const int64_t tm = args.integer("tile_m");
  const int64_t tn = args.integer("tile_n");
  const int64_t tk = args.integer("tile_k");
  const int64_t columns = tl.cdiv(n, tn);
  const int64_t depth = tl.cdiv(k, tk);
  const int64_t steps = tl.cdiv(m, tm) * columns * depth;
  const int64_t end = (tl.index() + 1) * steps / tl.size();
  auto async = tl.async();
  for (int64_t step = tl.index() * steps / tl.size(); step < end;) {
    const int64_t tile = step / depth;
    const int64_t i = tile / columns * tm;
    const int64_t j = tile % columns * tn;
    const int64_t rows = std::min(tm, m - i);
    const int64_t cols = std::min(tn, n - j);
    tl::Tensor sum;
    for (; step < end && step / depth == tile; ++step) {
      const int64_t first = step % depth * tk;
      const int64_t width = std::min(tk, k - first);
      const auto x = tl.load_async(a.tile(i, first, rows, width));
      const auto y = tl.load_async(b.tile(first, j, width, cols));
      sum = sum.valid() ? async.dot(x, y, sum) : async.dot(x, y, DType::f32);
    }
    tl.wait(sum);
    async.red_add(c.tile(i, j, rows, cols), sum, {}, tl::Sem::relaxed);
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  Params f32 = p;
  f32.set("dtype", DType::f32);
  Expected e = gemm_reference(f32, in);
  Floats c = e.value.floats();
  const Floats before = in.at("c").floats();
  for (size_t i = 0; i < c.size(); ++i) c[i] += before[i];
  e.value = HostTensor::from(DType::f32, e.value.shape, c);
  return {{"c", e}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "gemm_stream_k";
  s.help = "C += A B, the steps of all tiles along k split evenly over the PEs, by atomic adds";
  s.params = {ParamSpec::size("m", 128, "rows of a and c"),
              ParamSpec::size("n", 96, "columns of b and c"),
              ParamSpec::size("k", 256, "columns of a, rows of b"),
              ParamSpec::size("tile_m", 32, "rows of a tile").tuning(),
              ParamSpec::size("tile_n", 32, "columns of a tile").tuning(),
              ParamSpec::size("tile_k", 64, "depth of a step").tuning(),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16}, "element type of a and b; c is f32")};
  s.tensors = {input("a", {"m", "k"}, Placement::single),
               input("b", {"k", "n"}, Placement::single, Init::weights(value_of("k"))),
               zeroed("c", dims({"m", "n"}), DType::f32)};
  s.function = gemm_stream_k;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::gemm_stream_k_kernel
