// SPDX-License-Identifier: Apache-2.0
// What an input holds for which no file is given, element by element.
#pragma once

#include <cstdint>
#include <optional>

#include "kernbench/kernel_api/registry.h"

namespace kernbench {

struct SeededElements {
  DType dtype = DType::f32;
  uint64_t stream = 0;  ///< of random.h
  double scale = 1;
  /// So many elements from `first` on, in row-major order.
  void write(int64_t first, int64_t count, uint8_t* out) const;
};

/// The elements of what make_input() gives; none where it alone makes them.
std::optional<SeededElements> seeded_elements(const TensorSpec&, const Params&, uint64_t seed);

}  // namespace kernbench
