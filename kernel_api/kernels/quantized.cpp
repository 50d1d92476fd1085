// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/quantized.h"

#include <algorithm>

#include "kernbench/kernel_api/pe_backend.h"
#include "kernbench/phase2/eval/convert.h"

namespace kernbench::kernels {
namespace {

int64_t groups_of(const Params& p) {
  return tl::Context::cdiv(p.integer("k"), rows_of_group(p));
}

}  // namespace

void add_weights_params(KernelSpec* s) {
  std::vector<ParamSpec> own = {
      ParamSpec::choice("weights", {kOwnType, "f8e4m3", "i8", "i4"},
                        "element type of the weights; dtype: as the others"),
      ParamSpec::size("group", 0, "group size: rows (k) of weights that share a scale; 0: all")};
  own[1].min = 0;
  s->params.insert(s->params.end() - 1, own.begin(), own.end());
}

DType weights_dtype(const Params& p) {
  return type_or_own(p, "weights");
}

void check_weights(const Params& p) {
  if (p.choice("weights") != kOwnType && !is_float(p.dtype()))
    throw BadParam("weights: found '" + p.choice("weights") + "', expected " + kOwnType + " beside integers");
}

TensorSpec weights_spec(const std::string& name, const Init& init) {
  TensorSpec t = input(name, {}, Placement::replicate, init);
  t.shape = [](const Params& p) {
    return Dims{p.integer("k"), tl::Context::cdiv(p.integer("n"), values_in(weights_dtype(p)))};
  };
  t.dtype = weights_dtype;
  return t;
}

TensorSpec scale_spec(const std::string& name) {
  TensorSpec t = input(name, {}, Placement::replicate);
  t.shape = [](const Params& p) { return Dims{groups_of(p), p.integer("n")}; };
  t.optional = true;
  return t;
}

int64_t rows_of_group(const Params& p) {
  const int64_t group = p.integer("group"), k = p.integer("k");
  return group == 0 ? k : std::min(group, k);
}

Floats weights_of(const Params& p, const HostTensor& weights, const HostTensor* scale) {
  const auto k = static_cast<size_t>(p.integer("k")), n = static_cast<size_t>(p.integer("n"));
  Floats w;
  if (is_packed(weights.dtype)) {
    const size_t width = weights.bytes.size() / k;  // bytes of a row
    std::vector<int8_t> row(2 * width);
    for (size_t i = 0; i < k; ++i) {
      unpack(weights.bytes.data() + i * width, weights.dtype, row.data(), width);
      w.insert(w.end(), row.begin(), row.begin() + static_cast<std::ptrdiff_t>(n));
    }
  } else {
    w = weights.floats();
  }
  if (scale == nullptr) return w;
  const Floats by = scale->floats();
  const auto group = static_cast<size_t>(rows_of_group(p));
  for (size_t i = 0; i < w.size(); ++i) w[i] *= by[i / n / group * n + i % n];
  return w;
}

Range weight_columns(const tl::View& weights, int64_t n) {
  const int64_t values = values_in(weights.dtype()), first = std::min(n, weights.offset[1] * values);
  return {first, std::min(weights.shape[1] * values, n - first)};
}

Scales::Scales(tl::Context& tl, const tl::Args& args, const std::string& kernel, const std::string& tensor)
    : Scales(tl, args, kernel, tensor, rows_of_group(args.params())) {}
Scales::Scales(tl::Context& tl, const tl::Args& args, const std::string& kernel, const std::string& tensor,
               int64_t group)
    : tl_(tl), shards_(tl, args, kernel, tensor), group_(group) {}

tl::Tensor Scales::load(const Range& k, const Range& columns) const {
  std::vector<tl::Tensor> rows;
  for (int64_t row = k.first / group_, end = (k.end() - 1) / group_ + 1; row < end;) {
    const int64_t count = std::min(end - row, shards_.rows_at(row, columns.first, columns.count));
    rows.push_back(shards_.load(row, columns.first, count, columns.count));
    row += count;
  }
  return rows.size() == 1 ? rows.front() : tl_.cat(rows, 0);
}

}  // namespace kernbench::kernels
