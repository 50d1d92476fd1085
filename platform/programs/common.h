// SPDX-License-Identifier: Apache-2.0
// Shared by the registrations of the shipped programs.
#pragma once

#include <stdexcept>

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/platform/host/tensor_parallel.h"

namespace kernbench::programs {

/// A program's tensor as a kernel's, by its layout over the ranks.
inline ProgramTensor with_layout(TensorSpec t, const host::Layout& layout) {
  ProgramTensor tensor;
  static_cast<TensorSpec&>(tensor) = std::move(t);
  tensor.layout = layout;
  return tensor;
}

/// The parameter with that name of a collective's kernel, for a program with such a parameter.
inline ParamSpec algorithm_of(const std::string& kernel) {
  for (const ParamSpec& s : KernelRegistry::instance().at(kernel).params) {
    if (s.name == "algorithm") return s;
  }
  throw std::logic_error("kernel " + kernel + " has no algorithm");
}

}  // namespace kernbench::programs
