// SPDX-License-Identifier: Apache-2.0
// A complete tensor on the host: an input or output of a run, and an operand of references.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernbench/phase2/op/op.h"

namespace kernbench {

struct HostTensor {
  DType dtype = DType::f32;
  Dims shape;
  Bytes bytes;  ///< contiguous, row-major

  HostTensor() = default;
  /// All zero.
  HostTensor(DType t, const Dims& s);
  /// Values converted to `t` (nearest even; to integers: toward zero, saturating).
  static HostTensor from(DType t, const Dims& s, const std::vector<float>& values);
  static HostTensor from(DType t, const Dims& s, const std::vector<int32_t>& values);  ///< to integers: wraps

  int64_t elements() const { return shape.elements(); }
  std::vector<float> floats() const;
  std::vector<int32_t> ints() const;
};

using TensorMap = std::map<std::string, HostTensor>;

/// Rounds each float as a store as `t` and a load would, for references that round where the kernel does.
void round_to(DType t, float* values, size_t n);

}  // namespace kernbench
