// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/kernels/activations.h"

#include <algorithm>
#include <cmath>

#include "kernbench/kernel_api/kernels/common.h"

namespace kernbench::kernels {

const std::vector<std::string>& activations() {
  static const std::vector<std::string> all = {"none", "relu", "gelu", "gelu_tanh", "silu"};
  return all;
}

tl::Tensor activated(tl::Context& tl, const std::string& activation, const tl::Tensor& x) {
  if (activation == "none") return x;
  if (activation != "gelu_tanh") return tl.op(activation.c_str(), {x});
  const tl::Tensor inner = x * tl.fma(x * x, kGeluSlope * kGeluCubic, kGeluSlope);
  return x * tl.fma(tl.tanh(inner), 0.5, 0.5);
}

const std::vector<std::string>& gates() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names = activations();
    names.emplace_back(kSwigluOai);
    return names;
  }();
  return all;
}

tl::Tensor gated(tl::Context& tl, const Params& p, const tl::Tensor& x, const tl::Tensor& y) {
  if (p.choice("activation") != kSwigluOai) return activated(tl, p.choice("activation"), x) * y;
  const double limit = p.number("limit");
  const tl::Tensor held = tl.minimum(x, limit);
  return held * tl.sigmoid(held * kSigmoidOfSwigluOai) * (tl.clamp(y, -limit, limit) + 1);
}

float gate(const Params& p, float x, float y) {
  if (p.choice("activation") != kSwigluOai) return activate(p.choice("activation"), x) * y;
  const double limit = p.number("limit"), held = std::min<double>(x, limit);
  return static_cast<float>(held / (1 + std::exp(-kSigmoidOfSwigluOai * held)) *
                            (std::clamp<double>(y, -limit, limit) + 1));
}

std::vector<ParamSpec> gate_params(const std::string& help) {
  return {ParamSpec::choice("activation", gates(), help),
          ParamSpec::number("limit", 7, 0, 1e6, "limit of both factors of swiglu_oai")};
}

ParamSpec softcap_param(const std::string& of) {
  return ParamSpec::number("softcap", 0, 0, 1e6,
                           "soft cap of " + of + ": x becomes softcap tanh(x / softcap); 0: none");
}

tl::Tensor soft_capped(tl::Context& tl, const tl::Tensor& x, double cap) {
  return cap > 0 ? tl.tanh(x * (1 / cap)) * cap : x;
}

double soft_capped(double x, double cap) {
  return cap > 0 ? cap * std::tanh(x / cap) : x;
}

}  // namespace kernbench::kernels
