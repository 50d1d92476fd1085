// SPDX-License-Identifier: Apache-2.0
// z = activation(x) · y, or another gate of activations.h, elementwise, on a PE's parts of both. Computed in f32 and
// rounded once.
#include <algorithm>

#include "kernbench/kernel_api/kernels/activations.h"
#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::glu_kernel {
namespace {

constexpr int64_t kGated = 32768;  // elements per block

void glu(tl::Context& tl, const tl::Args& args) {
  const tl::View &x = args["x"], &y = args["y"], &z = args["z"];
  if (z.empty()) return;
  if (x.shape != z.shape || y.shape != z.shape || x.offset != z.offset || y.offset != z.offset)
    throw KernelFault("glu: the PE's parts of x, y and z are not alike");
  const int64_t rows = z.shape[0], cols = z.shape[1], width = std::min(cols, kGated);
  const int64_t step = std::max<int64_t>(1, kGated / width);
  for (int64_t i = 0; i < rows; i += step) {
    for (int64_t j = 0; j < cols; j += width) {
      const int64_t h = std::min(step, rows - i), w = std::min(width, cols - j);
      const auto load = [&](const tl::View& v) { return tl.cast(tl.load(v.block().tile(i, j, h, w)), DType::f32); };
      const tl::Tensor a = load(x), b = load(y);
      tl.store_async(z.block().tile(i, j, h, w), tl.cast(gated(tl, args.params(), a, b), z.dtype()));
    }
  }
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "glu";
  s.help = "z = activation(x) y elementwise, each PE on its parts";
  s.params = {ParamSpec::size("rows", 256, "rows of x, y and z, split over the PEs"),
              ParamSpec::size("cols", 256, "columns of x, y and z")};
  for (const ParamSpec& p : gate_params("activation of x")) s.params.push_back(p);
  s.params.push_back(ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16}));
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), input("y", {"rows", "cols"}, Placement::rows),
               output("z", {"rows", "cols"}, Placement::rows)};
  s.function = glu;
  s.reference = [](const Params& p, const TensorMap& in) {
    Floats z = in.at("x").floats();
    const Floats y = in.at("y").floats();
    for (size_t i = 0; i < z.size(); ++i) z[i] = gate(p, z[i], y[i]);
    return std::map<std::string, Expected>{{"z", {HostTensor::from(p.dtype(), in.at("x").shape, z), {}}}};
  };
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::glu_kernel
