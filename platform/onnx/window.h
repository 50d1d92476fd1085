// SPDX-License-Identifier: Apache-2.0
// The window that convolutions and pools slide over an image of any rank.
#pragma once

#include <string>

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

/// NOTSET, SAME_UPPER, SAME_LOWER or VALID. Refusal.
std::string auto_pad_of(const Op&);

struct Window {
  Shape in, out, kernel, strides, dilations;
  Shape before, after;  ///< pads
  /// Reads a node's attributes. Throws Refusal.
  static Window of(const Op&, Shape in, Shape kernel);
  /// The element that tap t of output pixel p reads; −1: outside the image.
  int64_t place(int64_t p, int64_t t) const;
  /// Whether it is inside the image or its pads.
  bool padded(int64_t p, int64_t t) const;

 private:
  /// Along axis d, from the parts of p and t that the later axes leave.
  int64_t index(size_t d, int64_t p, int64_t t) const {
    return p % out[d] * strides[d] - before[d] + t % kernel[d] * dilations[d];
  }
};

}  // namespace kernbench::onnx
