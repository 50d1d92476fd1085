// SPDX-License-Identifier: Apache-2.0
// Element types: names, sizes and the accumulator each one has.
#include "kernbench/phase2/op/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench {
namespace {

constexpr DType kAll[] = {DType::f32,    DType::f16,    DType::bf16, DType::i8,  DType::i16, DType::i32, DType::u8,
                          DType::f8e4m3, DType::f8e5m2, DType::u16,  DType::u32, DType::i64, DType::i4,  DType::e2m1};

TEST(DTypes, every_name_parses_back_to_its_type) {
  for (DType t : kAll) EXPECT_EQ(parse_dtype(name_of(t)), t) << name_of(t);
  EXPECT_EQ(parse_dtype("f64"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(DTypes, have_the_sizes_their_names_say) {
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::i32), 4u);
  EXPECT_EQ(size_of(DType::f16), 2u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::i16), 2u);
  EXPECT_EQ(size_of(DType::i8), 1u);
  EXPECT_EQ(size_of(DType::u8), 1u);
  EXPECT_EQ(size_of(DType::f8e4m3), 1u);
  EXPECT_EQ(size_of(DType::f8e5m2), 1u);
  EXPECT_EQ(size_of(DType::u16), 2u);
  EXPECT_EQ(size_of(DType::u32), 4u);
  EXPECT_EQ(size_of(DType::i64), 8u);
}

TEST(DTypes, packed_ones_hold_two_values_in_a_byte) {
  for (DType t : kAll) {
    const bool packed = t == DType::i4 || t == DType::e2m1;
    EXPECT_EQ(is_packed(t), packed) << name_of(t);
    EXPECT_EQ(values_in(t), packed ? 2 : 1) << name_of(t);
    EXPECT_EQ(unpacked(t) == t, !packed) << name_of(t);
  }
  EXPECT_EQ(size_of(DType::i4), 1u);
  EXPECT_EQ(unpacked(DType::i4), DType::i8);
  EXPECT_EQ(unpacked(DType::e2m1), DType::f32);
}

TEST(DTypes, know_their_largest_value) {
  for (const DType t :
       {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::i8, DType::u8, DType::i16, DType::u16}) {
    std::vector<uint8_t> bytes(size_of(t) << 8 * size_of(t));
    for (size_t i = 0; i < bytes.size(); ++i)  // each value once, low byte first
      bytes[i] = static_cast<uint8_t>(i / size_of(t) >> 8 * (i % size_of(t)));
    std::vector<float> values(bytes.size() / size_of(t));
    convert(bytes.data(), t, values.data(), DType::f32, values.size());
    double largest = 0;
    for (const float v : values) largest = std::isfinite(v) ? std::max<double>(largest, v) : largest;
    EXPECT_EQ(largest_of(t), largest) << name_of(t);
  }
}

TEST(DTypes, floats_accumulate_in_f32_and_integers_in_i32) {
  for (DType t : kAll) EXPECT_EQ(accumulator_of(t), is_float(t) ? DType::f32 : DType::i32) << name_of(t);
}

TEST(MathOps, promote_to_a_type_that_holds_both) {
  EXPECT_EQ(promote(DType::f16, DType::f16), DType::f16);
  EXPECT_EQ(promote(DType::f16, DType::bf16), DType::f32);
  EXPECT_EQ(promote(DType::f16, DType::i32), DType::f16);
  EXPECT_EQ(promote(DType::u8, DType::i8), DType::i16);
  EXPECT_EQ(promote(DType::i8, DType::i32), DType::i32);
  EXPECT_EQ(promote(DType::u16, DType::i16), DType::i32);
  EXPECT_EQ(promote(DType::u16, DType::i32), DType::i32);
  EXPECT_EQ(promote(DType::u8, DType::u32), DType::u32);
  EXPECT_EQ(promote(DType::u32, DType::i8), DType::i64);
  EXPECT_EQ(promote(DType::u32, DType::i64), DType::i64);
  for (DType a : kAll) {
    for (DType b : kAll) {
      if (is_packed(a) || is_packed(b)) continue;
      EXPECT_EQ(promote(a, b), promote(b, a)) << name_of(a) << " " << name_of(b);
    }
  }
}

TEST(MathOps, give_the_result_type_of_their_rule) {
  EXPECT_EQ(result_dtype(*find_math_op("add"), {DType::i8, DType::i32}), DType::i32);
  EXPECT_EQ(result_dtype(*find_math_op("exp"), {DType::i32}), DType::f32);
  EXPECT_EQ(result_dtype(*find_math_op("exp"), {DType::bf16}), DType::bf16);
  EXPECT_EQ(result_dtype(*find_math_op("lt"), {DType::f32, DType::f32}), DType::u8);
  EXPECT_EQ(result_dtype(*find_math_op("argmax"), {DType::f16}), DType::i32);
  EXPECT_EQ(result_dtype(*find_math_op("where"), {DType::u8, DType::f16, DType::f16}), DType::f16);
  EXPECT_EQ(result_dtype(*find_math_op("where"), {DType::u8}), DType::f32);
  EXPECT_EQ(result_dtype(*find_math_op("sum"), {DType::u16}), DType::i32);
  EXPECT_EQ(result_dtype(*find_math_op("cumsum"), {DType::u32}), DType::u32);
  EXPECT_EQ(result_dtype(*find_math_op("prod"), {DType::f16}), DType::f16);
  EXPECT_EQ(result_dtype(*find_math_op("xor_sum"), {DType::i8}), DType::i8);
  EXPECT_EQ(result_dtype(*find_math_op("randint"), {DType::i64}), DType::u32);
  EXPECT_EQ(find_math_op("no_such_op"), nullptr);
}

TEST(MathOps, pass_over_their_elements_as_often_as_their_networks_are_deep) {
  const MathOp &add = *find_math_op("add"), &scan = *find_math_op("cumsum"), &sort = *find_math_op("sort");
  for (int64_t n : {1, 2, 3, 1000}) EXPECT_EQ(steps_of(add, n), 1);
  for (const auto& [n, steps] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {1024, 10}, {1025, 11}}) {
    EXPECT_EQ(steps_of(scan, n), steps) << n;
    EXPECT_EQ(steps_of(sort, n), steps * (steps + 1) / 2) << n;
  }
}

}  // namespace
}  // namespace kernbench
