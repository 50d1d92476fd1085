// SPDX-License-Identifier: Apache-2.0
// Conversions: every value of the short types, against definitions in f64, on every instruction-set path.
#include "kernbench/phase2/eval/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "float_formats.h"
#include "kernbench/phase2/eval/arithmetic.h"

namespace kernbench {
namespace {

std::vector<uint8_t> all_patterns(const FloatFormat& f) {
  const size_t n = size_t{1} << (8 * size_of(f.dtype));
  std::vector<uint8_t> bytes(n * size_of(f.dtype));
  for (size_t i = 0; i < n; ++i) std::memcpy(&bytes[i * size_of(f.dtype)], &i, size_of(f.dtype));
  return bytes;
}

uint32_t pattern(const std::vector<uint8_t>& bytes, size_t i, size_t item) {
  uint32_t v = 0;
  std::memcpy(&v, &bytes[i * item], item);
  return v;
}

TEST(Conversions, every_short_pattern_widens_to_its_exact_value) {
  for (const FloatFormat& f : kShortFloats) {
    const std::vector<uint8_t> in = all_patterns(f);
    const size_t n = in.size() / size_of(f.dtype);
    std::vector<float> out(n);
    convert(in.data(), f.dtype, out.data(), DType::f32, n);
    for (size_t i = 0; i < n; ++i) {
      const double want = f.value_of(static_cast<uint32_t>(i));
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(out[i])) << name_of(f.dtype) << " " << i;
      } else {
        ASSERT_EQ(static_cast<double>(out[i]), want) << name_of(f.dtype) << " " << i;
        ASSERT_EQ(std::signbit(out[i]), std::signbit(want)) << name_of(f.dtype) << " " << i;
      }
    }
  }
}

TEST(Conversions, every_short_value_survives_the_way_to_f32_and_back) {
  for (const FloatFormat& f : kShortFloats) {
    const std::vector<uint8_t> in = all_patterns(f);
    const size_t n = in.size() / size_of(f.dtype);
    std::vector<float> wide(n);
    std::vector<uint8_t> back(in.size());
    convert(in.data(), f.dtype, wide.data(), DType::f32, n);
    convert(wide.data(), DType::f32, back.data(), f.dtype, n);
    for (size_t i = 0; i < n; ++i) {
      if (std::isnan(wide[i])) {
        ASSERT_TRUE(std::isnan(f.value_of(pattern(back, i, size_of(f.dtype))))) << name_of(f.dtype) << " " << i;
      } else {
        ASSERT_EQ(pattern(back, i, size_of(f.dtype)), i) << name_of(f.dtype);
      }
    }
  }
}

/// Between each pair of neighbours: below the middle, at the middle (to even), above it.
TEST(Conversions, round_to_nearest_even_around_every_midpoint) {
  for (const FloatFormat& f : kShortFloats) {
    const uint32_t positives = 1u << (f.exponent_bits + f.mantissa_bits);
    for (uint32_t v = 0; v + 1 < positives; ++v) {
      const double low = f.value_of(v), high = f.value_of(v + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const auto middle = static_cast<float>((low + high) / 2);
      if (static_cast<double>(middle) != (low + high) / 2) continue;  // below f32's subnormals
      const float cases[] = {std::nextafterf(middle, -1.0f), middle, std::nextafterf(middle, INFINITY)};
      const uint32_t want[] = {v, v % 2 ? v + 1 : v, v + 1};
      for (int c = 0; c < 3; ++c) {
        if (static_cast<double>(cases[c]) <= low || static_cast<double>(cases[c]) >= high) continue;
        for (float sign : {1.0f, -1.0f}) {
          const float x = sign * cases[c];
          uint32_t got = 0;
          convert(&x, DType::f32, &got, f.dtype, 1);
          ASSERT_EQ(got, want[c] + (sign < 0 ? positives : 0)) << name_of(f.dtype) << " " << x;
        }
      }
    }
  }
}

TEST(Conversions, overflow_gives_infinity_and_nan_where_there_is_none) {
  const auto to = [](float x, DType t) {
    uint32_t v = 0;
    convert(&x, DType::f32, &v, t, 1);
    return v;
  };
  EXPECT_EQ(to(65519.996f, DType::f16), 0x7bffu);
  EXPECT_EQ(to(65520.0f, DType::f16), 0x7c00u);
  EXPECT_EQ(to(-1e9f, DType::f16), 0xfc00u);
  EXPECT_EQ(to(std::numeric_limits<float>::max(), DType::bf16), 0x7f80u);
  EXPECT_EQ(to(463.9f, DType::f8e4m3), 0x7eu);
  EXPECT_EQ(to(464.0f, DType::f8e4m3), 0x7eu);  // the middle between 448 and 480: to even, which is 448
  EXPECT_EQ(to(464.1f, DType::f8e4m3), 0x7fu);
  EXPECT_EQ(to(-INFINITY, DType::f8e4m3), 0xffu);
  EXPECT_EQ(to(61439.0f, DType::f8e5m2), 0x7bu);
  EXPECT_EQ(to(61440.0f, DType::f8e5m2), 0x7cu);
  EXPECT_EQ(to(-0.0f, DType::f16), 0x8000u);
  EXPECT_EQ(to(1e-30f, DType::f16), 0u);
}

TEST(Conversions, floats_to_integers_go_toward_zero_and_saturate) {
  const auto to = [](float x, DType t) {
    int32_t wide = 0;
    uint8_t narrow[4];
    convert(&x, DType::f32, narrow, t, 1);
    convert(narrow, t, &wide, DType::i32, 1);
    return wide;
  };
  EXPECT_EQ(to(2.9f, DType::i8), 2);
  EXPECT_EQ(to(-2.9f, DType::i8), -2);
  EXPECT_EQ(to(1000.0f, DType::i8), 127);
  EXPECT_EQ(to(-1000.0f, DType::i8), -128);
  EXPECT_EQ(to(300.0f, DType::u8), 255);
  EXPECT_EQ(to(-1.0f, DType::u8), 0);
  EXPECT_EQ(to(40000.0f, DType::i16), 32767);
  EXPECT_EQ(to(3e9f, DType::i32), 2147483647);
  EXPECT_EQ(to(-3e9f, DType::i32), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(to(2147483520.0f, DType::i32), 2147483520);
  EXPECT_EQ(to(NAN, DType::i32), 0);
}

TEST(Conversions, integers_wrap_in_the_narrower_type) {
  for (int32_t v : {-70000, -129, -128, -1, 0, 127, 128, 255, 256, 32768, 70000}) {
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    convert(&v, DType::i32, &i8, DType::i8, 1);
    convert(&v, DType::i32, &u8, DType::u8, 1);
    convert(&v, DType::i32, &i16, DType::i16, 1);
    EXPECT_EQ(i8, ((v + 128) % 256 + 256) % 256 - 128) << v;
    EXPECT_EQ(u8, (v % 256 + 256) % 256) << v;
    EXPECT_EQ(i16, ((v + 32768) % 65536 + 65536) % 65536 - 32768) << v;
  }
}

TEST(Conversions, integers_to_floats_round_once) {
  // 2^24 + 2^16 + 1: a conversion via f32 would lose the last 1, and the tie would round down instead of up.
  const int32_t v = (1 << 24) + (1 << 16) + 1;
  uint16_t got;
  convert(&v, DType::i32, &got, DType::bf16, 1);
  EXPECT_EQ(static_cast<double>(bf16_to_f32(got)), (1 << 24) + (1 << 17));
  const int32_t negative = -v;
  convert(&negative, DType::i32, &got, DType::bf16, 1);
  EXPECT_EQ(static_cast<double>(bf16_to_f32(got)), -((1 << 24) + (1 << 17)));
}

TEST(Conversions, every_path_gives_the_bits_of_the_scalar_one) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  std::vector<float> in(100003);
  for (float& x : in) {
    const uint32_t bits = rng();
    std::memcpy(&x, &bits, 4);
  }
  for (Isa isa : available_isas()) {
    for (const FloatFormat& f : kShortFloats) {
      const size_t item = size_of(f.dtype);
      std::vector<uint8_t> bulk(in.size() * item), one(in.size() * item);
      arithmetic_of(isa).from_f32(in.data(), f.dtype, bulk.data(), in.size());
      for (size_t i = 0; i < in.size(); ++i) arithmetic_of(Isa::portable).from_f32(&in[i], f.dtype, &one[i * item], 1);
      EXPECT_EQ(bulk, one) << name_of(isa) << " " << name_of(f.dtype);
      std::vector<float> wide(in.size()), wide_one(in.size());
      arithmetic_of(isa).to_f32(bulk.data(), f.dtype, wide.data(), in.size());
      for (size_t i = 0; i < in.size(); ++i)
        arithmetic_of(Isa::portable).to_f32(&bulk[i * item], f.dtype, &wide_one[i], 1);
      EXPECT_EQ(0, std::memcmp(wide.data(), wide_one.data(), wide.size() * 4))
          << name_of(isa) << " " << name_of(f.dtype);
    }
    for (DType t : {DType::i8, DType::u8, DType::i16, DType::i32}) {
      std::vector<uint8_t> bulk(in.size() * 4), one(in.size() * 4);
      arithmetic_of(isa).from_f32(in.data(), t, bulk.data(), in.size());
      for (size_t i = 0; i < in.size(); ++i) {
        arithmetic_of(Isa::portable).from_f32(&in[i], t, &one[i * size_of(t)], 1);
      }
      EXPECT_EQ(bulk, one) << name_of(isa) << " " << name_of(t);
    }
  }
}

TEST(Conversions, only_zeros_of_either_sign_are_not_nonzero) {
  const float f[] = {0.0f, -0.0f, 1e-45f, NAN, 1.0f};
  uint8_t on[5];
  nonzero(f, DType::f32, on, 5);
  EXPECT_EQ(std::vector<int>(on, on + 5), (std::vector<int>{0, 0, 1, 1, 1}));
  const int16_t i[] = {0, -1, -32768, 256};
  nonzero(i, DType::i16, on, 4);
  EXPECT_EQ(std::vector<int>(on, on + 4), (std::vector<int>{0, 1, 1, 1}));
}

TEST(Conversions, immediates_wrap_into_integers) {
  EXPECT_EQ(wrap_i32(4294967295.0), -1);
  EXPECT_EQ(wrap_i32(-2147483649.0), 2147483647);
  EXPECT_EQ(wrap_i32(2.9), 2);
  EXPECT_EQ(wrap_i32(NAN), 0);
}

}  // namespace
}  // namespace kernbench
