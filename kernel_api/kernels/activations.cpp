#include "kernbench/kernel_api/kernels/activations.h"

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

}  // namespace kernbench::kernels
