// SPDX-License-Identifier: Apache-2.0
// y[i] = x[idx[i]]. Loads indices and branches on them; index -1 gives a row of zeros.
#include <algorithm>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::kernels::gather_kernel {
namespace {

constexpr int64_t kIndices = 1024;  // loaded at once
constexpr int64_t kColumns = 8192;  // of a row, moved at once

void gather(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"];
  const tl::Block y = args["y"];
  const tl::View& idx = args["idx"];
  const int64_t n = y.shape()[0];
  const int64_t cols = y.shape()[1];
  for (int64_t first = 0; first < n; first += kIndices) {
    const int64_t count = std::min(kIndices, n - first);
    const auto index = tl.load(idx.ptr + first, {count});
    for (int64_t i = 0; i < count; ++i) {
      const auto row = static_cast<int64_t>(index(i));
      if (row < -1 || row >= x.shape()[0]) {
        throw KernelFault("gather: index " + std::to_string(row) + " at position " +
                          std::to_string(idx.offset[0] + first + i) + " is outside -1 … " +
                          std::to_string(x.shape()[0] - 1));
      }
      for (int64_t j = 0; j < cols; j += kColumns) {
        const int64_t width = std::min(kColumns, cols - j);
        const tl::Block to = y.tile(first + i, j, 1, width);
        if (row < 0) {
          tl.store_async(to, tl.zeros({1, width}, y.dtype()));
        } else {
          tl.store_async(to, tl.load(x.tile(row, j, 1, width)));
        }
      }
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  return {{"y", {rows_by_index(in.at("x"), in.at("idx"), {p.integer("n"), p.integer("cols")}), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "gather";
  s.help = "y[i] = x[idx[i]], zeros where idx[i] is -1; branches on loaded indices";
  s.params = {ParamSpec::size("n", 256, "rows of y, split over the PEs"), ParamSpec::size("rows", 64, "rows of x"),
              ParamSpec::size("cols", 256, "columns of x and y"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::u8})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::single),
               {"idx", TensorSpec::Role::in, dims({"n"}), [](const Params&) { return DType::i32; }, Placement::rows,
                Init::index(value_of("rows"))},
               output("y", {"n", "cols"}, Placement::rows)};
  s.function = gather;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::gather_kernel
