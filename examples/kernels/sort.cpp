// SPDX-License-Identifier: Apache-2.0
// y[r, :] = the elements of x[r, :] in order; a row must fit a PE's TCM.
#include <algorithm>
#include <numeric>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/order.h"

namespace kernbench::kernels::sort_kernel {
namespace {

constexpr int64_t kElements = 16384;  // of a block

void sort(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"];
  const tl::Block y = args["y"];
  const int64_t rows = x.shape()[0];
  const int64_t step = std::max<int64_t>(1, kElements / x.shape()[1]);
  for (int64_t i = 0; i < rows; i += step) {
    const int64_t count = std::min(step, rows - i);
    tl.store_async(y.rows(i, count), tl.sort(tl.load(x.rows(i, count)), 1, args.flag("descending")));
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t rows = p.integer("rows"), cols = p.integer("cols");
  const auto sorted = [&](auto x) {
    for (int64_t r = 0; r < rows; ++r) {
      std::stable_sort(x.begin() + r * cols, x.begin() + (r + 1) * cols, [&](auto a, auto b) {
        return p.flag("descending") ? order::comes_before(b, a) : order::comes_before(a, b);
      });
    }
    return HostTensor::from(p.dtype(), {rows, cols}, x);
  };
  return {{"y", {is_float(p.dtype()) ? sorted(in.at("x").floats()) : sorted(in.at("x").ints()), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "sort";
  s.help = "y = every row of x, sorted";
  s.params = {ParamSpec::size_over_pes("rows", 1024, "rows, split over the PEs"),
              ParamSpec::size("cols", 512, "columns"), ParamSpec::flag("descending", false, "largest first"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::u16, DType::i32})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), output("y", {"rows", "cols"}, Placement::rows)};
  s.function = sort;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::sort_kernel
