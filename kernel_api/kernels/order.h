// SPDX-License-Identifier: Apache-2.0
// The order of elements in references, as in numpy: a NaN is greater than all other values.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kernbench::kernels::order {

template <class T>
bool is_nan(T v) {
  return v != v;
}

/// std::less with NaNs last, as in sort (first, if descending).
template <class T>
bool comes_before(T a, T b) {
  return !is_nan(a) && (is_nan(b) || a < b);
}

/// numpy's maximum and minimum: NaN if either operand is NaN.
template <class T>
T maximum(T a, T b) {
  return is_nan(a) ? a : is_nan(b) ? b : std::max(a, b);
}
template <class T>
T minimum(T a, T b) {
  return is_nan(a) ? a : is_nan(b) ? b : std::min(a, b);
}

/// Index of the first NaN, else of the first maximum.
template <class T>
int64_t argmax(const T* row, int64_t n) {
  return std::max_element(row, row + n, comes_before<T>) - row;
}

}  // namespace kernbench::kernels::order
