// What ops that work position by position share.
#pragma once

#include <functional>
#include <vector>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {

using Operands = std::vector<tl::Tensor>;

/// output 0 = f(the inputs' elements), each input seen through a view of the output's shape. Inputs that are left out
/// are empty tensors.
void for_elements(Pe&, const std::vector<Strides>& views, const std::function<tl::Tensor(const Operands&)>& f);
/// The inputs broadcast.
void for_elements(Pe&, const std::function<tl::Tensor(const Operands&)>& f);
/// Of a vector that stands along an axis of a shape (or of one element).
Strides along_axis(const Shape& vector, const Shape& shape, int64_t axis);

// Functions that pe_math has no op for, of f32, as chains of those it has.
tl::Tensor arctangent(Pe&, const tl::Tensor& x);
tl::Tensor softplus(Pe&, const tl::Tensor& x);
/// Activations by the names that ONNX has for them (Relu, Tanh, Sigmoid, …, as recurrent ops name them). Refusal.
std::vector<std::string> activation_names();
tl::Tensor activation(Pe&, const std::string& name, const tl::Tensor& x, float alpha, float beta);

}  // namespace kernbench::onnx
