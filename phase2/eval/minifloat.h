// One element's conversion between f32 and the short float types: round to nearest even, IEEE subnormals.
//
// Everything is `static`: this header is compiled once per instruction set, and no copy may be shared between them.
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

/// f32 to a float of E exponent and M mantissa bits, sign on top. With kInf false (OCP e4m3) the top exponent holds
/// numbers but for mantissa all ones, which is NaN; overflow and infinity then become NaN.
template <int E, int M, bool kInf>
static inline uint32_t encode(float x) {
  constexpr int kBias = (1 << (E - 1)) - 1;
  constexpr uint32_t kTop = ((1u << E) - 1) << M;                   // exponent all ones
  constexpr uint32_t kOver = kInf ? kTop : kTop | ((1u << M) - 1);  // what overflow becomes
  constexpr int kShift = 23 - M;
  const uint32_t u = bits_of(x);
  const uint32_t sign = (u >> 31) << (E + M);
  const uint32_t mag = u & 0x7fffffffu;
  if (mag > 0x7f800000u) {
    if (!kInf) return sign | kOver;
    return sign | kTop | (1u << (M - 1)) | ((mag & 0x7fffffu) >> kShift);  // quiet, payload's top bits kept
  }
  if (mag == 0x7f800000u) return sign | kOver;
  const int exponent = static_cast<int>(mag >> 23) - 127 + kBias;
  uint32_t r;
  if (exponent > 0) {
    // Rounding may carry into the exponent, which is right.
    const uint32_t rebased = mag - (static_cast<uint32_t>(127 - kBias) << 23);
    r = (rebased + ((1u << (kShift - 1)) - 1) + ((rebased >> kShift) & 1)) >> kShift;
  } else {
    const int down = 1 - exponent + kShift;  // bits of the 24-bit significand that fall off
    if (down > 25) return sign;
    const uint32_t significand = (mag & 0x7fffffu) | (mag >= 0x00800000u ? 0x00800000u : 0u);
    const uint64_t wide = significand;
    r = static_cast<uint32_t>((wide + ((uint64_t{1} << (down - 1)) - 1) + ((wide >> down) & 1)) >> down);
  }
  return sign | (r >= kOver ? kOver : r);
}

/// The exact f32 of a short float. Signalling NaNs become quiet.
template <int E, int M, bool kInf>
static inline float decode(uint32_t v) {
  constexpr int kBias = (1 << (E - 1)) - 1;
  constexpr uint32_t kExponents = (1u << E) - 1;
  const uint32_t sign = (v >> (E + M)) << 31;
  const uint32_t exponent = (v >> M) & kExponents;
  const uint32_t mantissa = v & ((1u << M) - 1);
  if (kInf && exponent == kExponents) {
    return from_bits(sign | 0x7f800000u | (mantissa ? 0x400000u : 0u) | (mantissa << (23 - M)));
  }
  if (!kInf && exponent == kExponents && mantissa == (1u << M) - 1) return from_bits(sign | 0x7fc00000u);
  if (exponent == 0) {
    // Exact: a short mantissa times a power of two that f32 has as a normal number.
    const float unit = from_bits(static_cast<uint32_t>(127 + 1 - kBias - M) << 23);
    const float magnitude = static_cast<float>(mantissa) * unit;
    return from_bits(sign | bits_of(magnitude));
  }
  return from_bits(sign | ((exponent - kBias + 127) << 23) | (mantissa << (23 - M)));
}

static inline uint16_t to_f16(float x) {
  return static_cast<uint16_t>(encode<5, 10, true>(x));
}
static inline float from_f16(uint16_t v) {
  return decode<5, 10, true>(v);
}
static inline uint8_t to_f8e4m3(float x) {
  return static_cast<uint8_t>(encode<4, 3, false>(x));
}
static inline float from_f8e4m3(uint8_t v) {
  return decode<4, 3, false>(v);
}
static inline uint8_t to_f8e5m2(float x) {
  return static_cast<uint8_t>(encode<5, 2, true>(x));
}
static inline float from_f8e5m2(uint8_t v) {
  return decode<5, 2, true>(v);
}

static inline uint16_t to_bf16(float x) {
  const uint32_t u = bits_of(x);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
  const uint32_t nan = (u >> 16) | 0x40u;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}
static inline float from_bf16(uint16_t v) {
  const uint32_t u = static_cast<uint32_t>(v) << 16;
  return from_bits((u & 0x7fffffffu) > 0x7f800000u ? u | 0x400000u : u);
}

/// Toward zero, saturating at the target's ends; NaN is 0.
template <class T>
static inline T to_int(float x) {
  constexpr bool kSigned = T(-1) < T(0);
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
  constexpr int64_t kLow = kSigned ? -(int64_t{1} << (kBits - 1)) : 0;
  constexpr int64_t kHigh = kSigned ? (int64_t{1} << (kBits - 1)) - 1 : (int64_t{1} << kBits) - 1;
  // The float ends are exact or the next above, so the comparison decides before any undefined cast.
  if (!(x == x)) return 0;
  if (x <= static_cast<float>(kLow)) return static_cast<T>(kLow);
  if (x >= static_cast<float>(kHigh)) return static_cast<T>(kHigh);
  return static_cast<T>(x);
}

/// An i32 as the f32 that keeps a sticky last bit: rounding it again to fewer bits rounds the integer once.
static inline float odd_f32(int32_t v) {
  const double exact = v;
  const float near = static_cast<float>(exact);
  if (static_cast<double>(near) == exact) return near;
  uint32_t u = bits_of(near);
  const bool away = exact < 0 ? static_cast<double>(near) < exact : static_cast<double>(near) > exact;
  if (away) --u;
  return from_bits(u | 1u);
}

}  // namespace kernbench::minifloat
