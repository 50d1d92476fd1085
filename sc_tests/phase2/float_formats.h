// SPDX-License-Identifier: Apache-2.0
// The short float types by their definition, in f64. Tests compare the project's conversions with them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernbench/phase2/op/dtype.h"

namespace kernbench {

/// A sign bit, then exponent, then mantissa. Without infinities (OCP e4m3), the top exponent holds numbers, except that
/// a mantissa of ones is NaN.
struct FloatFormat {
  DType dtype;
  int exponent_bits, mantissa_bits;
  bool has_inf;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  double highest() const {
    return value_of((1u << (exponent_bits + mantissa_bits)) - (has_inf ? (1u << mantissa_bits) + 1 : 2u));
  }

  double value_of(uint32_t bits) const {
    const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    const uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
    const double sign = bits >> (exponent_bits + mantissa_bits) ? -1 : 1;
    const bool top = exponent == (1u << exponent_bits) - 1;
    if (has_inf && top) return mantissa ? NAN : sign * INFINITY;
    if (!has_inf && top && mantissa == (1u << mantissa_bits) - 1) return NAN;
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias());
    return sign * std::ldexp(1 + fraction, static_cast<int>(exponent) - bias());
  }

  /// The nearest value of this type, ties to even. Beyond the highest value: infinity, or NaN if the type has no
  /// infinity.
  double nearest(double v) const {
    if (std::isnan(v) || v == 0) return v;
    if (std::isinf(v)) return has_inf ? v : NAN;
    const int exponent = std::max(std::ilogb(v), 1 - bias());
    const double unit = std::ldexp(1, exponent - mantissa_bits);
    const double r = std::nearbyint(v / unit) * unit;
    if (std::abs(r) > highest()) return has_inf ? std::copysign(INFINITY, v) : NAN;
    return r;
  }

  /// The bits of a value of this type, except NaN.
  uint32_t bits_of(double v) const {
    const uint32_t sign = std::signbit(v) ? 1u << (exponent_bits + mantissa_bits) : 0;
    v = std::abs(v);
    if (std::isinf(v)) return sign | ((1u << exponent_bits) - 1) << mantissa_bits;
    const double smallest_normal = std::ldexp(1, 1 - bias());
    if (v < smallest_normal) return sign | static_cast<uint32_t>(std::ldexp(v, mantissa_bits - 1 + bias()));
    const int exponent = std::ilogb(v);
    const auto mantissa = static_cast<uint32_t>(std::ldexp(v, mantissa_bits - exponent)) - (1u << mantissa_bits);
    return sign | static_cast<uint32_t>(exponent + bias()) << mantissa_bits | mantissa;
  }
};

constexpr FloatFormat kShortFloats[] = {
    {DType::f16, 5, 10, true}, {DType::bf16, 8, 7, true}, {DType::f8e4m3, 4, 3, false}, {DType::f8e5m2, 5, 2, true}};

/// Null for f32 and integers.
inline const FloatFormat* short_float(DType t) {
  for (const FloatFormat& f : kShortFloats) {
    if (f.dtype == t) return &f;
  }
  return nullptr;
}

}  // namespace kernbench
