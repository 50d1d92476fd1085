// SPDX-License-Identifier: Apache-2.0
// Values of an input without a file, element by element.
#pragma once

#include <cstdint>
#include <optional>

#include "kernbench/kernel_api/registry.h"

namespace kernbench {

struct SeededElements {
  DType dtype = DType::f32;
  uint64_t stream = 0;  ///< seed of the stream (random.h)
  double scale = 1;
  /// Writes `count` elements from `first` on, in row-major order.
  void write(int64_t first, int64_t count, uint8_t* out) const;
};

/// The elements of make_input() one by one; empty if only make_input() can produce them.
std::optional<SeededElements> seeded_elements(const TensorSpec&, const Params&, uint64_t seed);

}  // namespace kernbench
