// SPDX-License-Identifier: Apache-2.0
// The window that convolutions and pools slide over an image of any number of dimensions.
#pragma once

#include <string>

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

/// NOTSET, SAME_UPPER, SAME_LOWER or VALID. Refusal.
std::string auto_pad_of(const Op&);

struct Window {
  Shape in, out, kernel, strides, dilations;
  Shape before, after;  ///< pads
  /// From a node's attributes. Refusal.
  static Window of(const Op&, Shape in, Shape kernel);
  /// Where tap t of output pixel p stands in the image; −1: outside of it.
  int64_t place(int64_t p, int64_t t) const;
  /// Whether it is inside of the image and its pads.
  bool padded(int64_t p, int64_t t) const;

 private:
  /// Along axis d, of what is left of p and t behind the axes after it.
  int64_t index(size_t d, int64_t p, int64_t t) const {
    return p % out[d] * strides[d] - before[d] + t % kernel[d] * dilations[d];
  }
};

}  // namespace kernbench::onnx
