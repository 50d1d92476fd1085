// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/row_steps.h"

#include <algorithm>
#include <cmath>

namespace kernbench::kernels {
namespace {

constexpr float kGreatestInteger = 127;
constexpr float kLeast = 1e-36F;  // lower bound of a row's greatest value, so that 127 / it fits f32

/// One step per row.
Floats times_steps(Floats x, const Floats& step) {
  const size_t cols = x.size() / std::max<size_t>(1, step.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] *= step[i / cols];
  return x;
}

}  // namespace

tl::Tensor greatest_of_rows(tl::Context& tl, const tl::Tensor& x) {
  return tl.max(tl.abs(x), 1, true);
}

tl::Tensor joined_greatest(tl::Context& tl, const std::vector<tl::Tensor>& parts) {
  return parts.size() == 1 ? parts.front() : tl.max(tl.cat(parts, 1), 1, true);
}

RowSteps steps_of(tl::Context& tl, const tl::Tensor& greatest) {
  const tl::Tensor most = tl.maximum(greatest, double{kLeast});
  return {most / double{kGreatestInteger}, tl.div(double{kGreatestInteger}, most)};
}

tl::Tensor in_steps(tl::Context& tl, const tl::Tensor& x, const RowSteps& steps) {
  return tl.cast(tl.round(x * steps.inverse), DType::i8);
}

Floats SteppedRows::floats() const {
  return times_steps({values.begin(), values.end()}, step);
}

Floats rows_of_steps(const HostTensor& x, const HostTensor* step) {
  return step == nullptr ? x.floats() : times_steps(x.floats(), step->floats());
}

SteppedRows stepped_rows(const Floats& x, int64_t cols) {
  SteppedRows rows;
  for (auto row = x.begin(); row != x.end(); row += cols) {
    float most = kLeast;
    for (auto v = row; v != row + cols; ++v) most = std::isnan(*v) || std::abs(*v) > most ? std::abs(*v) : most;
    const float inverse = kGreatestInteger / most;
    rows.step.push_back(most / kGreatestInteger);
    for (auto v = row; v != row + cols; ++v) {
      const float integer = std::nearbyint(*v * inverse);
      rows.values.push_back(std::isnan(integer) ? 0 : static_cast<int32_t>(integer));
    }
  }
  return rows;
}

TensorSpec row_steps_spec(const std::string& name) {
  TensorSpec t = input(name, {}, Placement::replicate);
  t.shape = [](const Params& p) { return Dims{p.integer("m"), 1}; };
  t.dtype = [](const Params&) { return DType::f32; };
  t.optional = true;
  return t;
}

ParamSpec activations_spec(const std::string& help) {
  return ParamSpec::choice("activations", {kOwnType, "i8"}, help);
}

bool activations_are_integers(const Params& p) {
  return p.choice("activations") == "i8";
}

void check_activations(const Params& p) {
  if (!activations_are_integers(p)) return;
  if (p.choice("weights") != "i8")
    throw BadParam("activations: found 'i8' beside weights=" + p.choice("weights") + ", expected weights=i8");
  if (p.integer("group") != 0)
    throw BadParam("activations: found 'i8' beside group=" + std::to_string(p.integer("group")) +
                   ", expected group=0: one scale a column");
}

}  // namespace kernbench::kernels
