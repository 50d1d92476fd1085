// SPDX-License-Identifier: Apache-2.0
// Verification passes results within the contract's tolerance and fails all others, with their positions.
#include "kernbench/phase2/check/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace kernbench {
namespace {

TensorReport check(const std::vector<float>& values, const std::vector<double>& want,
                   const std::vector<double>& scale = {}) {
  return verify("y", DType::f32, {static_cast<int64_t>(values.size())}, values.data(), {want, scale});
}

TEST(Verify, accepts_errors_up_to_atol_plus_rtol_and_no_further) {
  EXPECT_TRUE(check({100.0009f}, {100.0}).passed);
  EXPECT_FALSE(check({100.0012f}, {100.0}).passed);
  EXPECT_TRUE(check({0.000009f}, {0.0}).passed);
  EXPECT_FALSE(check({0.000011f}, {0.0}).passed);
}

TEST(Verify, a_gemms_scale_widens_the_bound) {
  EXPECT_FALSE(check({0.0005f}, {0.0}).passed);
  EXPECT_TRUE(check({0.0005f}, {0.0}, {50.0}).passed);
  EXPECT_FALSE(check({0.0006f}, {0.0}, {50.0}).passed);
}

TEST(Verify, reports_the_largest_errors_and_the_first_places) {
  std::vector<float> values(60, 1.0f);
  std::vector<double> want(60, 1.0);
  for (size_t i = 7; i < 60; i += 7) values[i] = 1.5f;
  values[14] = 3.0f;
  const TensorReport r = verify("y", DType::f32, {3, 20}, values.data(), {want, {}});
  EXPECT_FALSE(r.passed);
  EXPECT_EQ(r.mismatches, 8u);
  EXPECT_EQ(r.max_abs_err, 2.0);
  EXPECT_EQ(r.max_rel_err, 2.0);
  ASSERT_EQ(r.first.size(), 5u);
  EXPECT_EQ(r.first[0].index, (Dims{0, 7}));
  EXPECT_EQ(r.first[2].index, (Dims{1, 1}));
  EXPECT_EQ(r.first[1].value, 3.0);
  EXPECT_EQ(r.first[1].reference, 1.0);
  EXPECT_NE(r.reason.find("8 of 60"), std::string::npos) << r.reason;
}

TEST(Verify, integers_that_are_rounded_floats_may_be_steps_away) {
  const int8_t v[] = {3, -128, 7};
  EXPECT_FALSE(verify("y", DType::i8, {3}, v, {{4, -128, 7}, {}}).passed);
  EXPECT_TRUE(verify("y", DType::i8, {3}, v, {{4, -127, 7}, {}, {1, 1, 0}}).passed);
  EXPECT_FALSE(verify("y", DType::i8, {3}, v, {{5, -127, 7}, {}, {1, 1, 0}}).passed);
  EXPECT_FALSE(verify("y", DType::i8, {3}, v, {{4, -127, 8}, {}, {1, 1, 0}}).passed);
}

/// Also sums, whose scale gives the magnitude of their terms.
TEST(Verify, integers_are_exact) {
  const int32_t v[] = {1000000, 5};
  EXPECT_TRUE(verify("y", DType::i32, {2}, v, {{1000000, 5}, {}}).passed);
  EXPECT_FALSE(verify("y", DType::i32, {2}, v, {{1000001, 5}, {}}).passed);
  EXPECT_FALSE(verify("y", DType::i32, {2}, v, {{1000001, 5}, {1000001, 5}}).passed);
}

TEST(Verify, counts_nan_and_inf_and_matches_them_only_with_their_like) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const TensorReport same = check({nan, inf, -inf}, {std::nan(""), INFINITY, -INFINITY});
  EXPECT_TRUE(same.passed);
  EXPECT_EQ(same.nan_values, 1u);
  EXPECT_EQ(same.inf_values, 2u);
  EXPECT_FALSE(check({nan}, {1.0}).passed);
  EXPECT_FALSE(check({1.0f}, {std::nan("")}).passed);
  EXPECT_FALSE(check({inf}, {-INFINITY}).passed);
  EXPECT_FALSE(check({inf}, {1e30}).passed);
  EXPECT_FALSE(check({1e30f}, {INFINITY}).passed);
}

TEST(Verify, a_reference_beyond_the_range_agrees_with_infinity) {
  EXPECT_TRUE(check({std::numeric_limits<float>::infinity()}, {1e39}).passed);
  EXPECT_FALSE(check({-std::numeric_limits<float>::infinity()}, {1e39}).passed);
}

TEST(Verify, what_was_never_written_or_is_still_pending_fails) {
  MemoryImage memory;
  TensorRef t;
  t.addr = 0x40;
  t.shape = {4};
  t.strides = {1};
  const ReferenceValues zeros{{0, 0, 0, 0}, {}};
  TensorReport r = verify("y", memory, t, zeros);
  EXPECT_FALSE(r.passed);
  EXPECT_NE(r.reason.find("0x40 was never written"), std::string::npos) << r.reason;
  const float some[3] = {};
  memory.write({Space::hbm, kNoPe}, 0x40, some, 12);
  r = verify("y", memory, t, zeros);
  EXPECT_FALSE(r.passed);
  EXPECT_NE(r.reason.find("0x4c was never written"), std::string::npos) << r.reason;
  auto op = std::make_shared<OpDesc>();
  op->name = "exp";
  memory.bind_pending({Space::hbm, kNoPe}, 0x4c, 4, {op, 0});
  r = verify("y", memory, t, zeros);
  EXPECT_FALSE(r.passed);
  EXPECT_NE(r.reason.find("0x4c is still pending (exp)"), std::string::npos) << r.reason;
  memory.write({Space::hbm, kNoPe}, 0x4c, some, 4);
  EXPECT_TRUE(verify("y", memory, t, zeros).passed);
}

TEST(Verify, a_reference_of_another_size_fails) {
  EXPECT_FALSE(check({1.0f}, {1.0, 1.0}).passed);
}

TEST(Verify, the_table_has_a_line_for_each_tensor) {
  const std::string text = to_text({check({1.0f}, {1.0}), check({2.0f}, {1.0})});
  EXPECT_NE(text.find("pass  y"), std::string::npos) << text;
  EXPECT_NE(text.find("FAIL  y"), std::string::npos) << text;
  EXPECT_NE(text.find("expected 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace kernbench
