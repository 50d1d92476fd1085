// SPDX-License-Identifier: Apache-2.0
// Weights in a type of their own: values and scales as a checkpoint has them.
#pragma once

#include "kernbench/kernel_api/host_tensor.h"

namespace kernbench::models {

/// Of a matrix [k, n] of weights in f8e4m3, i8 or i4: an element is its value times its column's scale, of which there
/// is one for each `group` rows; 0: one for all rows. The last group may have fewer.
struct Quantized {
  HostTensor values;  ///< [k, n]; of i4 [k, ⌈n/2⌉] bytes
  HostTensor scale;   ///< [groups, n]
};
/// The largest of f8e4m3 (448), and of i8 (127) and i4 (7) either sign.
float most_of(DType);
Dims shape_of_values(DType, int64_t k, int64_t n);
Dims shape_of_scale(int64_t group, int64_t k, int64_t n);

/// Of w [k, n]: the largest of a group is the largest value that the type has (448, 127, 7), where rounding the scale
/// to its type lets it be.
Quantized quantize(const HostTensor& w, DType type, int64_t group, DType scale);

}  // namespace kernbench::models
