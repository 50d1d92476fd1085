// The window that convolutions and pools slide over an image of any number of dimensions.
#pragma once

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

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
  Shape corner(int64_t p, int64_t t) const;
};

}  // namespace kernbench::onnx
