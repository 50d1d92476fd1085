// SPDX-License-Identifier: Apache-2.0
// Activations by MATH commands: none, relu, gelu (exact, by erf), gelu_tanh, silu; of floats as common.h's activate().
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
/// Of x in f32.
tl::Tensor activated(tl::Context&, const std::string& activation, const tl::Tensor& x);

// swiglu_oai is gpt-oss' gate: x at most `limit`, y within ±limit, x σ(1.702 x) (y + 1).
constexpr const char* kSwigluOai = "swiglu_oai";
constexpr double kSigmoidOfSwigluOai = 1.702;
/// The activations, of which a gate is activation(x) · y, and swiglu_oai, which is a gate alone.
const std::vector<std::string>& gates();
/// Of x and y in f32.
tl::Tensor gated(tl::Context&, const Params&, const tl::Tensor& x, const tl::Tensor& y);
float gate(const Params&, float x, float y);
/// "activation", of gates(), and "limit", of swiglu_oai: what gated() and gate() read.
std::vector<ParamSpec> gate_params(const std::string& help);

// softcap, of scores and logits (Gemma Team, Gemma 2, 2024): x becomes cap · tanh(x / cap); 0: it stays.
ParamSpec softcap_param(const std::string& of);
/// Of x in f32.
tl::Tensor soft_capped(tl::Context&, const tl::Tensor& x, double cap);
double soft_capped(double x, double cap);

}  // namespace kernbench::kernels
