// SPDX-License-Identifier: Apache-2.0
// Activations by MATH commands: none, relu, gelu (exact, by erf), gelu_tanh, silu. For references on floats see
// activate() in common.h.
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/params.h"
#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

// gelu_tanh is the approximation of Hendrycks and Gimpel, Gaussian Error Linear Units:
// 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))).
constexpr double kGeluSlope = 0.79788456080286535588, kGeluCubic = 0.044715;

const std::vector<std::string>& activations();
/// For x in f32.
tl::Tensor activated(tl::Context&, const std::string& activation, const tl::Tensor& x);

// swiglu_oai is the gate of gpt-oss. It limits x to at most `limit` and y to ±limit, and gives x σ(1.702 x) (y + 1).
constexpr const char* kSwigluOai = "swiglu_oai";
constexpr double kSigmoidOfSwigluOai = 1.702;
/// The names of gates: every activation, as activation(x) · y, and swiglu_oai.
const std::vector<std::string>& gates();
/// For x and y in f32.
tl::Tensor gated(tl::Context&, const Params&, const tl::Tensor& x, const tl::Tensor& y);
float gate(const Params&, float x, float y);
/// Parameters of gated() and gate(): "activation", one of gates(), and "limit" for swiglu_oai.
std::vector<ParamSpec> gate_params(const std::string& help);

// softcap of scores and logits (Gemma Team, Gemma 2, 2024): x becomes cap · tanh(x / cap). 0 leaves x unchanged.
ParamSpec softcap_param(const std::string& of);
/// For x in f32.
tl::Tensor soft_capped(tl::Context&, const tl::Tensor& x, double cap);
double soft_capped(double x, double cap);

}  // namespace kernbench::kernels
