// SPDX-License-Identifier: Apache-2.0
// Are sizes beyond 64 bits, negative sizes and invalid times errors, instead of being taken for other numbers?
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernbench/phase2/op/femtoseconds.h"
#include "kernbench/phase2/op/op.h"

namespace kernbench {
namespace {

TensorRef tensor(const Dims& shape, const Dims& strides) {
  TensorRef t;
  t.shape = shape;
  t.strides = strides;
  return t;
}

constexpr int64_t k2to31 = int64_t{1} << 31;

TEST(Sizes, that_are_no_64_bit_number_are_errors) {
  EXPECT_EQ((Dims{k2to31, k2to31 / 4}).elements(), int64_t{1} << 60);
  EXPECT_THROW((void)(Dims{k2to31, k2to31}).elements(), std::overflow_error) << "of four bytes each";
  EXPECT_THROW((void)(Dims{k2to31, k2to31, 4}).elements(), std::overflow_error);
  EXPECT_THROW((void)(Dims{-k2to31}).elements(), std::overflow_error);
  EXPECT_THROW((void)(Dims{-1, -1}).elements(), std::overflow_error);
  EXPECT_THROW((void)TensorRef::row_major({2, k2to31, k2to31, 2}), std::overflow_error);
  EXPECT_EQ(tensor({3, 2}, {10, 1}).span_bytes(), 88u);
  EXPECT_EQ(tensor({0, 2}, {10, 1}).span_bytes(), 0u);
  EXPECT_THROW((void)tensor({3, 2}, {int64_t{1} << 62, 1}).span_bytes(), std::overflow_error);
  EXPECT_THROW((void)tensor({3, 2}, {-10, 1}).span_bytes(), std::overflow_error);
}

TEST(Times, beyond_64_bits_of_fs_are_errors) {
  EXPECT_EQ(femtoseconds(0), 0u);
  EXPECT_EQ(femtoseconds(1.5), 1'500'000u);
  EXPECT_EQ(femtoseconds(18'000'000'000'000.0), 18'000'000'000'000'000'000u);
  const double inf = std::numeric_limits<double>::infinity();
  for (const double ns : {18'446'744'073'709.6, 1e300, inf, -inf, -1.0, std::nan("")}) {
    EXPECT_FALSE(is_time(ns)) << ns;
    EXPECT_THROW((void)femtoseconds(ns), TimeBeyondRange) << ns;
  }
}

}  // namespace
}  // namespace kernbench
