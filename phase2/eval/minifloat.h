// SPDX-License-Identifier: Apache-2.0
// Conversions of single elements that Eigen lacks: 8-bit floats, saturating floats to integers, and integers to short
// floats with one rounding.
//
// Everything is `static`: this header is compiled once per instruction set, and no copy may be shared between them. The
// code has no branches, so that loops over it become vector code.
#pragma once

#include <cstdint>
#include <cstring>

namespace kernbench::minifloat {

static inline uint32_t bits_of(float x) {
  uint32_t u;
  std::memcpy(&u, &x, 4);
  return u;
}

static inline float from_bits(uint32_t u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}

/// Converts f32 to a float of E exponent and M mantissa bits, with the sign on top. Rounds to nearest even and keeps
/// subnormals. If kInf is false (OCP e4m3), the top exponent holds numbers, except that a mantissa of all ones is NaN.
/// Overflow and infinity then become NaN.
template <int E, int M, bool kInf>
static inline uint32_t encode(float x) {
  constexpr uint32_t kBias = (1u << (E - 1)) - 1;
  constexpr uint32_t kTop = ((1u << E) - 1) << M;                   // exponent all ones
  constexpr uint32_t kOver = kInf ? kTop : kTop | ((1u << M) - 1);  // the result of an overflow
  constexpr uint32_t kNan = kInf ? kTop | 1u << (M - 1) : kOver;
  constexpr uint32_t kLeast = (128 - kBias) << 23;  // the smallest normal number, as an f32
  constexpr uint32_t kMuch = (129 + kBias) << 23;   // values from here on overflow
  const uint32_t magnitude = bits_of(x) & 0x7fffffffu;
  const uint32_t clamped = magnitude < kMuch ? magnitude : kMuch;
  const uint32_t exponent = (clamped & 0x7f800000u) > kLeast ? clamped & 0x7f800000u : kLeast;
  // A power of two whose last bit has the weight of the result's last bit. Adding it rounds the number to that bit.
  const uint32_t power = exponent + ((23u - M) << 23);
  const uint32_t significand = bits_of(from_bits(clamped) + from_bits(power)) - power;
  const uint32_t rounded = ((exponent - kLeast) >> (23 - M)) + significand;
  const uint32_t finite = rounded < kOver ? rounded : kOver;
  return bits_of(x) >> 31 << (E + M) | (magnitude > 0x7f800000u ? kNan : finite);
}

/// The exact f32 of a short float. A NaN becomes quiet.
template <int E, int M, bool kInf>
static inline float decode(uint32_t v) {
  constexpr uint32_t kBias = (1u << (E - 1)) - 1;
  constexpr uint32_t kTop = ((1u << E) - 1) << M;
  constexpr uint32_t kLeast = (128 - kBias) << 23;  // the smallest normal number, as an f32
  const uint32_t magnitude = v & ((1u << (E + M)) - 1);
  const uint32_t rebased = (magnitude << (23 - M)) + ((127 - kBias) << 23);
  const float subnormal = from_bits(rebased + (1u << 23)) - from_bits(kLeast);
  const uint32_t finite = magnitude < 1u << M ? bits_of(subnormal) : rebased;
  const uint32_t infinite = magnitude == kTop ? 0x7f800000u : 0x7fc00000u;
  const bool special = kInf ? magnitude >= kTop : magnitude == (kTop | ((1u << M) - 1));
  return from_bits(v >> (E + M) << 31 | (special ? kInf ? infinite : 0x7fc00000u : finite));
}

/// Rounds toward zero and saturates at the target's limits; NaN becomes 0.
template <class T>
static inline T to_int(float x) {
  constexpr bool kSigned = T(-1) < T(0);
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8 - kSigned;
  constexpr uint64_t kHigh = ~uint64_t{0} >> (64 - kBits);
  constexpr int64_t kLow = kSigned ? -static_cast<int64_t>(kHigh) - 1 : 0;
  // The limits as floats are exact or the next float above, so this comparison prevents an undefined cast.
  if (!(x == x)) return 0;
  if (x <= static_cast<float>(kLow)) return static_cast<T>(kLow);
  if (x >= static_cast<float>(kHigh)) return static_cast<T>(kHigh);
  return static_cast<T>(x);
}

/// An i32 as an f32 whose last bit is sticky. Rounding it again to fewer bits then rounds the integer once.
static inline float odd_f32(int32_t v) {
  const double exact = v;
  const float near = static_cast<float>(exact);
  if (static_cast<double>(near) == exact) return near;
  uint32_t u = bits_of(near);
  const bool away = exact < 0 ? static_cast<double>(near) < exact : static_cast<double>(near) > exact;
  if (away) --u;
  return from_bits(u | 1u);
}

/// The same for an i64.
static inline float odd_f32(int64_t v) {
  uint64_t magnitude = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v), lost = 0;
  float scale = 1;
  for (; magnitude >> 30 != 0; magnitude >>= 1, scale *= 2) lost |= magnitude & 1;
  const auto kept = static_cast<int32_t>(magnitude | lost);
  return odd_f32(v < 0 ? -kept : kept) * scale;
}

/// The value of an e2m1 (OCP MX): 0, 0.5, 1, 1.5, 2, 3, 4, 6 and a sign.
static inline float from_e2m1(uint32_t nibble) {
  const uint32_t m = nibble & 7;
  const float size = m < 2 ? 0.5f * static_cast<float>(m)
                           : static_cast<float>(2 + (m & 1)) * static_cast<float>(1u << (m >> 1)) * 0.25f;
  return nibble & 8 ? -size : size;
}

/// Rounds to nearest, ties to even, and saturates at 6; NaN becomes 0.
static inline uint32_t to_e2m1(float x) {
  if (!(x == x)) return 0;
  const float size = x < 0 ? -x : x;
  uint32_t m = 0;
  // Half way between the codes m and m + 1, the even one is taken.
  while (m < 7) {
    const float middle = 0.5f * (from_e2m1(m) + from_e2m1(m + 1));
    if (size < middle || (size == middle && m % 2 == 0)) break;
    ++m;
  }
  return m | bits_of(x) >> 31 << 3;
}

/// The value of an i4, -8 to 7.
static inline int from_i4(uint32_t nibble) {
  return static_cast<int>((nibble & 15) ^ 8) - 8;
}

}  // namespace kernbench::minifloat
