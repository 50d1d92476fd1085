// What the shipped programs' registrations share.
#pragma once

#include "kernbench/kernel_api/kernels/common.h"
#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/platform/host/tensor_parallel.h"

namespace kernbench::programs {

/// A tensor of a program as a kernel's, by its layout over the ranks.
inline ProgramTensor with_layout(TensorSpec t, const host::Layout& layout) {
  ProgramTensor tensor;
  static_cast<TensorSpec&>(tensor) = std::move(t);
  tensor.layout = layout;
  return tensor;
}

}  // namespace kernbench::programs
