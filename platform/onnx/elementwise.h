// SPDX-License-Identifier: Apache-2.0
// What ops that work position by position share.
#pragma once

#include <functional>
#include <vector>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {

/// output 0 = f(the inputs' elements), each input seen through a view of the output's shape. Inputs that are left out
/// are empty tensors.
void for_elements(Pe&, const std::vector<Strides>& views, const std::function<tl::Tensor(const Operands&)>& f);
/// A row of an op that works position by position.
OpRow by_position(const char* name, int since, void (*shape)(Op&), tl::Tensor (*each)(Pe&, const Operands&),
                  const char* how, const std::string& form, std::vector<Strides> (*views)(const Op&),
                  const char* domain = "");
/// Views of an op's inputs: broadcast, or only the first one.
std::vector<Strides> broadcast_views(const Op&);
std::vector<Strides> view_of_first(const Op&);
/// Of a vector that stands along an axis of a shape (or of one element).
Strides along_axis(const Shape& vector, const Shape& shape, int64_t axis);

// Functions that pe_math has no op for, of f32, as chains of those it has.
tl::Tensor arctangent(Pe&, const tl::Tensor& x);
tl::Tensor softplus(Pe&, const tl::Tensor& x);
/// Activations by the names that ONNX has for them (Relu, Tanh, Sigmoid, …, as recurrent ops name them). Refusal.
std::vector<std::string> activation_names();
tl::Tensor activation(Pe&, const std::string& name, const tl::Tensor& x, float alpha, float beta);

}  // namespace kernbench::onnx
