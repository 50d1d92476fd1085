// The order of elements that references go by, numpy's: a NaN is greater than everything else.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kernbench::kernels::order {

template <class T>
bool is_nan(T v) {
  return v != v;
}

/// std::less, with NaNs behind all others: as sort has them, and from the end where it is descending.
template <class T>
bool comes_before(T a, T b) {
  return !is_nan(a) && (is_nan(b) || a < b);
}

/// numpy's maximum and minimum: NaN where one is.
template <class T>
T maximum(T a, T b) {
  return is_nan(a) ? a : is_nan(b) ? b : std::max(a, b);
}
template <class T>
T minimum(T a, T b) {
  return is_nan(a) ? a : is_nan(b) ? b : std::min(a, b);
}

/// Where the first NaN is, or else the first of the greatest.
template <class T>
int64_t argmax(const T* row, int64_t n) {
  return std::max_element(row, row + n, comes_before<T>) - row;
}

}  // namespace kernbench::kernels::order
