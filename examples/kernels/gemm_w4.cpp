// SPDX-License-Identifier: Apache-2.0
// C = A · W of weights that are 4-bit integers: W is stored as [n, k], two weights a byte, with one scale for each
// `group` of them along k. Tiles of it are made floats by pe_math, then multiplied.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/phase2/eval/convert.h"

namespace kernbench::kernels::gemm_w4_kernel {
namespace {

void gemm_w4(tl::Context& tl, const tl::Args& args) {
  if (args["c"].empty()) return;
  const tl::Block a = args["a"];
  const tl::Block w = args["w"];
  const tl::Block scale = args["scale"];
  const tl::Block c = args["c"];
  const int64_t m = a.shape()[0], k = a.shape()[1], n = w.shape()[0];
  const int64_t group = args.integer("group");
  const int64_t tm = std::min(m, args.integer("tile_m")), tn = std::min(n, args.integer("tile_n"));
  const int64_t tk = std::min(k, std::max<int64_t>(1, args.integer("tile_k") / group) * group);
  for (int64_t j = 0; j < n; j += tn) {
    const int64_t cols = std::min(tn, n - j);
    for (int64_t i = 0; i < m; i += tm) {
      const int64_t rows = std::min(tm, m - i);
      tl::Tensor acc = tl.zeros({rows, cols}, DType::f32);
      for (int64_t l = 0; l < k; l += tk) {
        const int64_t depth = std::min(tk, k - l);
        const auto x = tl.load_async(a.tile(i, l, rows, depth));
        const auto packed = tl.load_async(w.tile(j, l / 2, cols, depth / 2));
        const auto by = tl.load_async(scale.tile(j, l / group, cols, depth / group));
        acc = tl.dot(x, tl.dequantize(packed, by, a.dtype()).transpose(), acc);
      }
      tl.store_async(c.tile(i, j, rows, cols), tl.cast(acc, c.dtype()));
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k"), group = p.integer("group");
  const HostTensor& packed = in.at("w");
  std::vector<int8_t> w(static_cast<size_t>(n * k));
  unpack(packed.bytes.data(), DType::i4, w.data(), packed.bytes.size());
  const Floats scale = in.at("scale").floats(), a = in.at("a").floats();
  Floats b(static_cast<size_t>(k * n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t l = 0; l < k; ++l) {
      const auto at = static_cast<size_t>(j * k + l);
      b[static_cast<size_t>(l * n + j)] = static_cast<float>(w[at]) * scale[at / static_cast<size_t>(group)];
    }
  }
  round_to(p.dtype(), b.data(), b.size());
  return {{"c", {HostTensor::from(p.dtype(), {m, n}, matmul(a, b, m, n, k)), gemm_error_scale(a, b, m, n, k)}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "gemm_w4";
  s.help = "C = A W with 4-bit integer weights and a scale for each group of them";
  s.params = {ParamSpec::size_over_pes("m", 1024, "rows of a and c, split over the PEs"),
              ParamSpec::size("n", 256, "columns of c, rows of w"),
              ParamSpec::size("k", 256, "columns of a, weights in a row of w: a multiple of group"),
              ParamSpec::size("group", 32, "weights along k that share a scale: even"),
              ParamSpec::size("tile_m", 64, "rows of a tile").tuning(),
              ParamSpec::size("tile_n", 64, "columns of a tile").tuning(),
              ParamSpec::size("tile_k", 128, "depth of a tile").tuning(),
              ParamSpec::dtypes({DType::f16, DType::bf16}, "element type of a, scale and c")};
  s.tensors = {input("a", {"m", "k"}, Placement::rows),
               {"w", TensorSpec::Role::in,
                [](const Params& p) {
                  return Dims{p.integer("n"), std::max<int64_t>(1, p.integer("k") / 2)};
                },
                [](const Params&) { return DType::i4; }, Placement::replicate, Init::uniform()},
               {"scale", TensorSpec::Role::in,
                [](const Params& p) {
                  return Dims{p.integer("n"), std::max<int64_t>(1, p.integer("k") / p.integer("group"))};
                },
                own_dtype, Placement::replicate, Init::weights(value_of("k"))},
               output("c", {"m", "n"}, Placement::rows)};
  s.function = gemm_w4;
  s.prepare = [](Params* p, const LaunchCosts&, LaunchNotes*) {
    const int64_t group = p->integer("group"), k = p->integer("k");
    if (group % 2 != 0 || k % group != 0)
      throw BadParam("kernel gemm_w4: group=" + std::to_string(group) +
                     " is odd or does not divide k=" + std::to_string(k));
  };
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::gemm_w4_kernel
