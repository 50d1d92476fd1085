// Activations by MATH commands: none, relu, gelu (exact, by erf), gelu_tanh, silu; of floats as common.h's activate().
#pragma once

#include <string>
#include <vector>

#include "kernbench/kernel_api/tl.h"

namespace kernbench::kernels {

// gelu_tanh is the approximation of Hendrycks and Gimpel, Gaussian Error Linear Units:
// 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))).
constexpr double kGeluSlope = 0.79788456080286535588, kGeluCubic = 0.044715;

const std::vector<std::string>& activations();
/// Of x in f32.
tl::Tensor activated(tl::Context&, const std::string& activation, const tl::Tensor& x);

}  // namespace kernbench::kernels
