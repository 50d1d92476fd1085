// SPDX-License-Identifier: Apache-2.0
// y = round(x / step) as i8, row by row, with step = greatest absolute value of the row / 127. Rows wider than a block
// are read twice.
#include <algorithm>

#include "kernbench/kernel_api/kernels/row_steps.h"

namespace kernbench::kernels::quantize_rows_kernel {
namespace {

constexpr int64_t kColumns = 4096;    // per block
constexpr int64_t kElements = 16384;  // per block: 64 KiB of f32 for each live value

void quantize_rows(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"], y = args["y"], step = args["step"];
  const int64_t rows = x.shape()[0], cols = x.shape()[1];
  const int64_t width = std::min(cols, kColumns), at_once = std::max<int64_t>(1, kElements / width);
  for (int64_t i = 0; i < rows; i += at_once) {
    const int64_t count = std::min(at_once, rows - i);
    const auto load = [&](int64_t j) {
      return tl.cast(tl.load(x.tile(i, j, count, std::min(width, cols - j))), DType::f32);
    };
    tl::Tensor part;
    std::vector<tl::Tensor> greatest;
    for (int64_t j = 0; j < cols; j += width) {
      part = load(j);
      greatest.push_back(greatest_of_rows(tl, part));
    }
    const RowSteps steps = steps_of(tl, joined_greatest(tl, greatest));
    tl.store_async(step.rows(i, count), steps.step);
    for (int64_t j = 0; j < cols; j += width) {
      if (cols > width) part = load(j);
      tl.store_async(y.tile(i, j, count, part.dim(1)), in_steps(tl, part, steps));
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const int64_t rows = p.integer("rows"), cols = p.integer("cols");
  const SteppedRows found = stepped_rows(in.at("x").floats(), cols);
  return {{"y", {HostTensor::from(DType::i8, {rows, cols}, found.values), {}}},
          {"step", {HostTensor::from(DType::f32, {rows, 1}, found.step), {}}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "quantize_rows";
  s.help = "y = round(x / step) in i8; step is the maximum absolute value of each row / 127";
  s.params = {ParamSpec::size_over_pes("rows", 1024, "rows, split over the PEs"),
              ParamSpec::size("cols", 512, "columns"), ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  TensorSpec step = output("step", {}, Placement::rows, [](const Params&) { return DType::f32; });
  step.shape = [](const Params& p) { return Dims{p.integer("rows"), 1}; };
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows),
               output("y", {"rows", "cols"}, Placement::rows, [](const Params&) { return DType::i8; }), step};
  s.function = quantize_rows;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::quantize_rows_kernel
