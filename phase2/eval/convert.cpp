// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/eval/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernbench/phase2/eval/arithmetic.h"
#include "kernbench/phase2/eval/minifloat.h"

namespace kernbench::phase2 {
namespace {

template <class T>
float widened(T v, DType t) {
  float x;
  convert(&v, t, &x, DType::f32, 1);
  return x;
}
template <class T>
T narrowed(float v, DType t) {
  T x;
  convert(&v, DType::f32, &x, t, 1);
  return x;
}

}  // namespace

float f16_to_f32(uint16_t v) {
  return widened(v, DType::f16);
}
uint16_t f32_to_f16(float v) {
  return narrowed<uint16_t>(v, DType::f16);
}
float bf16_to_f32(uint16_t v) {
  return widened(v, DType::bf16);
}
uint16_t f32_to_bf16(float v) {
  return narrowed<uint16_t>(v, DType::bf16);
}
float f8e4m3_to_f32(uint8_t v) {
  return widened(v, DType::f8e4m3);
}
uint8_t f32_to_f8e4m3(float v) {
  return narrowed<uint8_t>(v, DType::f8e4m3);
}
float f8e5m2_to_f32(uint8_t v) {
  return widened(v, DType::f8e5m2);
}
uint8_t f32_to_f8e5m2(float v) {
  return narrowed<uint8_t>(v, DType::f8e5m2);
}

void convert(const void* in, DType from, void* out, DType to, size_t n) {
  if (from == to) {
    if (n) std::memcpy(out, in, n * size_of(from));
    return;
  }
  const Arithmetic& arithmetic = arithmetic_of(best_isa());
  if (to == DType::f32 && is_float(from)) return arithmetic.to_f32(in, from, static_cast<float*>(out), n);
  if (from == DType::f32) return arithmetic.from_f32(static_cast<const float*>(in), to, out, n);
  constexpr size_t kBlock = 1024;
  const auto* p = static_cast<const uint8_t*>(in);
  auto* q = static_cast<uint8_t*>(out);
  for (size_t at = 0; at < n; at += kBlock) {
    const size_t len = std::min(kBlock, n - at);
    if (is_float(from)) {
      float block[kBlock];
      arithmetic.to_f32(p + at * size_of(from), from, block, len);
      arithmetic.from_f32(block, to, q + at * size_of(to), len);
    } else if (is_wide_integer(from) || is_wide_integer(to)) {
      int64_t block[kBlock];
      arithmetic.to_i64(p + at * size_of(from), from, block, len);
      arithmetic.from_i64(block, to, q + at * size_of(to), len);
    } else {
      int32_t block[kBlock];
      arithmetic.to_i32(p + at * size_of(from), from, block, len);
      arithmetic.from_i32(block, to, q + at * size_of(to), len);
    }
  }
}

double load_scalar(const void* element, DType t) {
  if (is_float(t)) {
    float v;
    convert(element, t, &v, DType::f32, 1);
    return v;
  }
  return static_cast<double>(load_integer(element, t));
}

int64_t load_integer(const void* element, DType t) {
  int64_t v;
  convert(element, t, &v, DType::i64, 1);
  return v;
}

int64_t wrap_i64(double value) {
  if (!std::isfinite(value)) return 0;
  const double whole = std::fmod(std::trunc(value), 0x1p64);
  return whole < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(-whole))
                   : static_cast<int64_t>(static_cast<uint64_t>(whole));
}

void unpack(const void* in, DType t, void* out, size_t n) {
  const auto* from = static_cast<const uint8_t*>(in);
  for (size_t i = 0; i < 2 * n; ++i) {
    const uint32_t nibble = from[i / 2] >> (i % 2 * 4) & 15u;
    if (t == DType::i4) {
      static_cast<int8_t*>(out)[i] = static_cast<int8_t>(minifloat::from_i4(nibble));
    } else {
      static_cast<float*>(out)[i] = minifloat::from_e2m1(nibble);
    }
  }
}

void pack(const void* in, DType t, void* out, size_t n) {
  auto* to = static_cast<uint8_t*>(out);
  for (size_t i = 0; i < 2 * n; ++i) {
    const uint32_t nibble = t == DType::i4
                                ? static_cast<uint32_t>(std::clamp<int>(static_cast<const int8_t*>(in)[i], -8, 7)) & 15u
                                : minifloat::to_e2m1(static_cast<const float*>(in)[i]);
    to[i / 2] = static_cast<uint8_t>(i % 2 ? to[i / 2] | nibble << 4 : nibble);
  }
}

int32_t wrap_i32(double value) {
  if (!std::isfinite(value)) return 0;
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(std::fmod(std::trunc(value), 4294967296.0))));
}

void store_scalar(double value, DType t, void* element) {
  if (is_float(t)) {
    const float v = static_cast<float>(value);
    convert(&v, DType::f32, element, t, 1);
  } else {
    const int64_t v = wrap_i64(value);
    convert(&v, DType::i64, element, t, 1);
  }
}

void nonzero(const void* in, DType t, uint8_t* out, size_t n) {
  const auto* p = static_cast<const uint8_t*>(in);
  const size_t item = size_of(t);
  // The sign bit of a float does not make it nonzero.
  const uint8_t top = is_float(t) ? 0x7f : 0xff;
  for (size_t i = 0; i < n; ++i, p += item) {
    uint8_t any = p[item - 1] & top;
    for (size_t b = 0; b + 1 < item; ++b) any |= p[b];
    out[i] = any != 0;
  }
}

}  // namespace kernbench::phase2
