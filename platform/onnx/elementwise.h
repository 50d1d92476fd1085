// SPDX-License-Identifier: Apache-2.0
// Helpers shared by elementwise ops.
#pragma once

#include <functional>
#include <vector>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {

/// output 0 = f(the inputs' elements). Each input is read through a view of the output's shape. Omitted inputs are
/// empty tensors.
void for_elements(Pe&, const std::vector<Strides>& views, const std::function<tl::Tensor(const Operands&)>& f);
/// Makes the table row of an elementwise op.
OpRow by_position(const char* name, int since, void (*shape)(Op&), tl::Tensor (*each)(Pe&, const Operands&),
                  const char* how, const std::string& form, std::vector<Strides> (*views)(const Op&),
                  const char* domain = "");
/// Views of an op's inputs: all broadcast, or only the first one.
std::vector<Strides> broadcast_views(const Op&);
std::vector<Strides> view_of_first(const Op&);
/// View of a vector along one axis of a shape, or of a single element.
Strides along_axis(const Shape& vector, const Shape& shape, int64_t axis);

// f32 functions that pe_math lacks, as chains of ops that it has.
tl::Tensor arctangent(Pe&, const tl::Tensor& x);
tl::Tensor softplus(Pe&, const tl::Tensor& x);
/// Activations by ONNX's names (Relu, Tanh, Sigmoid, …, as recurrent ops name them). Throws Refusal.
std::vector<std::string> activation_names();
tl::Tensor activation(Pe&, const std::string& name, const tl::Tensor& x, float alpha, float beta);

}  // namespace kernbench::onnx
