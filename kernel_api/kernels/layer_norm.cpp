// SPDX-License-Identifier: Apache-2.0
// y = (x − mean) / sqrt(variance + eps) · w + b, row by row, with the biased variance. Computed in f32 and rounded once
// at the end. Rows wider than a block are read twice.
#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/kernels/moments.h"

namespace kernbench::kernels::layer_norm_kernel {
namespace {

constexpr int64_t kColumns = 4096;    // per block
constexpr int64_t kElements = 16384;  // per block: 64 KiB of f32 for each live value

/// Some columns of w and b in f32.
class Affine {
 public:
  Affine(tl::Context& tl, const tl::Args& args) : tl_(tl), args_(args), biased_(args.flag("bias")) {}
  void load(int64_t first, int64_t count) {
    w_ = columns("w", first, count);
    if (biased_) b_ = columns("b", first, count);
  }
  tl::Tensor of(const tl::Tensor& x) const { return biased_ ? tl_.fma(x, w_, b_) : x * w_; }

 private:
  tl::Tensor columns(const char* name, int64_t first, int64_t count) const {
    return tl_.cast(tl_.load(args_[name].ptr + first, {count}), DType::f32);
  }
  tl::Context& tl_;
  const tl::Args& args_;
  const bool biased_;
  tl::Tensor w_, b_;
};

void layer_norm(tl::Context& tl, const tl::Args& args) {
  if (args["y"].empty()) return;
  const tl::Block x = args["x"];
  const tl::Block y = args["y"];
  const int64_t rows = x.shape()[0], cols = x.shape()[1];
  const int64_t width = std::min(cols, kColumns), step = std::max<int64_t>(1, kElements / width);
  const bool narrow = cols <= kColumns;
  Affine affine(tl, args);
  if (narrow) affine.load(0, cols);

  for (int64_t i = 0; i < rows; i += step) {
    const int64_t count = std::min(step, rows - i);
    const auto load = [&](int64_t j) {
      return tl.cast(tl.load(x.tile(i, j, count, std::min(width, cols - j))), DType::f32);
    };
    Moments last;
    std::vector<tl::Tensor> parts;
    std::vector<int64_t> columns;
    for (int64_t j = 0; j < cols; j += width) {
      last = moments_of(tl, load(j));
      parts.push_back(last.of_rows);
      columns.push_back(std::min(width, cols - j));
    }
    const tl::Tensor moments = joined_moments(tl, parts, columns);
    const tl::Tensor scale = inverse_deviation(tl, moments, cols, args.number("eps"));
    if (!narrow) last.centred = {};
    for (int64_t j = 0; j < cols; j += width) {
      const int64_t n = std::min(width, cols - j);
      if (!narrow) affine.load(j, n);
      const tl::Tensor from_mean = narrow ? last.centred : centred(load(j), moments);
      tl.store(y.tile(i, j, count, n), tl.cast(affine.of(from_mean * scale), y.dtype()));
    }
  }
}

std::map<std::string, Expected> reference(const Params& p, const TensorMap& in) {
  const auto cols = static_cast<size_t>(p.integer("cols"));
  const Floats x = in.at("x").floats(), w = in.at("w").floats();
  const Floats b = p.flag("bias") ? in.at("b").floats() : Floats(cols);
  Floats y(x.size()), size(x.size());
  for (size_t at = 0; at < x.size(); at += cols) {
    const RowNorm row = norm_of_row(&x[at], p.integer("cols"), true, p.number("eps"));
    for (size_t c = 0; c < cols; ++c) {
      const double scaled = (x[at + c] - row.mean) * row.scale * w[c];
      y[at + c] = static_cast<float>(scaled + b[c]);
      size[at + c] = static_cast<float>(std::abs(scaled) + std::abs(b[c]));
    }
  }
  return {{"y", {HostTensor::from(p.dtype(), in.at("x").shape, y), size}}};
}

KernelSpec spec() {
  KernelSpec s;
  s.name = "layer_norm";
  s.help = "y = (x - mean(x)) / sqrt(var(x) + eps) * w + b along every row";
  s.params = {ParamSpec::size_over_pes("rows", 1024, "rows, split over the PEs"),
              ParamSpec::size("cols", 512, "columns"),
              ParamSpec::number("eps", 1e-5, 0, 1e6, "epsilon, added to the variance"),
              ParamSpec::flag("bias", true, "add b; false: b is not read"),
              ParamSpec::dtypes({DType::f32, DType::f16, DType::bf16})};
  s.tensors = {input("x", {"rows", "cols"}, Placement::rows), input("w", {"cols"}, Placement::replicate),
               input("b", {"cols"}, Placement::replicate), output("y", {"rows", "cols"}, Placement::rows)};
  s.function = layer_norm;
  s.reference = reference;
  return s;
}

const RegisterKernel registered{spec()};

}  // namespace
}  // namespace kernbench::kernels::layer_norm_kernel
