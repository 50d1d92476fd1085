// SPDX-License-Identifier: Apache-2.0
// Quantized weights: values and scales, as a checkpoint has them.
#pragma once

#include "kernbench/kernel_api/host_tensor.h"

namespace kernbench::models {

/// A weight matrix [k, n] in f8e4m3, i8 or i4. An element is its value times its column's scale. There is one scale per
/// `group` rows (0: one for all rows); the last group may be smaller.
struct Quantized {
  HostTensor values;  ///< [k, n]; i4: [k, ⌈n/2⌉] bytes
  HostTensor scale;   ///< [groups, n]
};
Dims shape_of_values(DType, int64_t k, int64_t n);
Dims shape_of_scale(int64_t group, int64_t k, int64_t n);

/// Quantizes w [k, n]. A group's largest element maps to the type's largest value, as far as rounding the scale allows.
Quantized quantize(const HostTensor& w, DType type, int64_t group, DType scale);

}  // namespace kernbench::models
