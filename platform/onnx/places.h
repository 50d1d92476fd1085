// SPDX-License-Identifier: Apache-2.0
// Helpers of ops that pick output elements from inputs by position.
#pragma once

#include <vector>

#include "kernbench/platform/onnx/pe.h"

namespace kernbench::onnx {

using Places = std::vector<int64_t>;

inline size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

/// Output 0 takes input 0's elements at these positions; −1: `fill`.
template <class F>
void move(Pe& pe, const F& place_of, double fill = 0) {
  pe.for_pieces([&](int64_t first, int64_t count) {
    Places places(at(count));
    for (int64_t i = 0; i < count; ++i) places[at(i)] = place_of(first + i);
    pe.put(0, first, pe.pick(0, places, fill));
  });
}

inline void move(Pe& pe, const Strides& view) {
  pe.for_pieces([&](int64_t first, int64_t count) { pe.put(0, first, pe.pick(0, view, first, count)); });
}

/// Writes these integers to output 0.
inline void put_ints(Pe& pe, const Places& values) {
  pe.for_pieces([&](int64_t first, int64_t count) {
    pe.put(0, first,
           pe.tl.tensor(Places(values.begin() + first, values.begin() + first + count), {count}, pe.out_type()));
  });
}

}  // namespace kernbench::onnx
