// SPDX-License-Identifier: Apache-2.0
// Values of single ops against naive loops in f64, edge cases against IEEE, and bits against other paths and parts.
#include "kernbench/phase2/eval/eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "eval_helpers.h"
#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> unary(const std::string& op, const std::vector<float>& in) {
  const Tensor t = f32s(in);
  return floats(run(math(op, 1, DType::f32, t.shape), {t.input()}));
}

std::vector<float> binary(const std::string& op, const std::vector<float>& a, const std::vector<float>& b,
                          DType out = DType::f32) {
  const Tensor ta = f32s(a), tb = f32s(b);
  return floats(run(math(op, 2, out, ta.shape), {ta.input(), tb.input()}));
}

/// Equal values, NaN equal to NaN, and equal signs of zero.
void expect_same(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << i << ": " << got[i];
    } else {
      EXPECT_EQ(got[i], want[i]) << i;
      EXPECT_EQ(std::signbit(got[i]), std::signbit(want[i])) << i;
    }
  }
}

TEST(Elementwise, unary_functions_are_within_two_units_in_the_last_place) {
  std::vector<float> in;
  for (double e = -42; e < 7; e += 0.01) {
    for (double s : {1.0, -1.0}) in.push_back(static_cast<float>(s * std::exp2(e)));
  }
  for (const MathOp& op : math_ops()) {
    if (!op.f64 || op.arity != 1) continue;
    const std::string name(op.name);
    const std::vector<float> got = unary(name, in);
    for (size_t i = 0; i < in.size(); ++i) {
      const double want = op.value({static_cast<double>(in[i])});
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got[i])) << name << " " << in[i];
        continue;
      }
      const auto rounded = static_cast<float>(want);
      const double unit = static_cast<double>(std::nextafterf(std::abs(rounded), kInf) - std::abs(rounded));
      // gelu and erf are accurate to 1e-9 of their magnitude.
      const double slack = 2 * unit + (name == "gelu" ? 2e-9 * std::abs(in[i]) : 0);
      if (std::isinf(rounded)) {
        EXPECT_EQ(got[i], rounded) << name << " " << in[i];
      } else {
        EXPECT_LE(std::abs(static_cast<double>(got[i]) - want), slack) << name << " " << in[i];
      }
    }
  }
}

TEST(Elementwise, edges_are_those_of_ieee) {
  const std::vector<float> in = {0.0f, -0.0f, kInf, -kInf, kNan, 1e-45f, -1e-45f, 88.8f, -104.0f, 3.4e38f};
  expect_same(unary("exp", {0.0f, -0.0f, kInf, -kInf, kNan, 88.8f, -104.0f}), {1, 1, kInf, 0, kNan, kInf, 0});
  expect_same(unary("log", {0.0f, -0.0f, kInf, -1.0f, kNan, 1.0f}), {-kInf, -kInf, kInf, kNan, kNan, 0});
  expect_same(unary("sqrt", {0.0f, -0.0f, kInf, -1.0f, kNan}), {0.0f, -0.0f, kInf, kNan, kNan});
  expect_same(unary("rsqrt", {0.0f, kInf, -1.0f, 4.0f}), {kInf, 0, kNan, 0.5f});
  expect_same(unary("tanh", {-0.0f, kInf, -kInf, kNan, 1e-45f}), {-0.0f, 1, -1, kNan, 1e-45f});
  expect_same(unary("sigmoid", {-kInf, kInf, 0.0f, kNan}), {0, 1, 0.5f, kNan});
  expect_same(unary("erf", {-0.0f, kInf, -kInf, kNan}), {-0.0f, 1, -1, kNan});
  expect_same(unary("gelu", {kInf, -kInf, kNan, 0.0f, -0.0f}), {kInf, -0.0f, kNan, 0.0f, -0.0f});
  expect_same(unary("silu", {kInf, -kInf, kNan, -0.0f}), {kInf, -0.0f, kNan, -0.0f});
  expect_same(unary("relu", {-0.0f, -kInf, kInf, kNan}), {0.0f, 0, kInf, kNan});
  expect_same(unary("abs", {-0.0f, -kInf, kNan}), {0.0f, kInf, kNan});
  expect_same(unary("neg", in), {-0.0f, 0.0f, -kInf, kInf, kNan, -1e-45f, 1e-45f, -88.8f, 104.0f, -3.4e38f});
  expect_same(binary("div", {1, -1, 0, kInf}, {0, 0, 0, kInf}), {kInf, -kInf, kNan, kNan});
  expect_same(binary("add", {1e-45f, kInf, -0.0f}, {1e-45f, -kInf, -0.0f}), {2.8e-45f, kNan, -0.0f});
}

TEST(Elementwise, maximum_minimum_and_clamp_pass_nan_on) {
  expect_same(binary("maximum", {1, kNan, 2, -kInf}, {2, 1, kNan, -1}), {2, kNan, kNan, -1});
  expect_same(binary("minimum", {1, kNan, 2, -kInf}, {2, 1, kNan, -1}), {1, kNan, kNan, -kInf});
  const Tensor x = f32s({-5, 0.5f, 7, kNan});
  const Tensor y =
      run(math("clamp", 3, DType::f32, x.shape), {x.input(), EvalInput::immediate(-1), EvalInput::immediate(1)});
  expect_same(floats(y), {-1, 0.5f, 1, kNan});
}

TEST(Elementwise, comparisons_give_bytes_and_are_false_for_nan) {
  expect_same(binary("lt", {1, 2, kNan}, {2, 2, 1}, DType::u8), {1, 0, 0});
  expect_same(binary("le", {1, 2, kNan}, {2, 2, 1}, DType::u8), {1, 1, 0});
  expect_same(binary("gt", {1, 3, kNan}, {2, 2, 1}, DType::u8), {0, 1, 0});
  expect_same(binary("ge", {1, 2, kNan}, {2, 2, 1}, DType::u8), {0, 1, 0});
  expect_same(binary("eq", {1, 2, kNan}, {2, 2, kNan}, DType::u8), {0, 1, 0});
  expect_same(binary("ne", {1, 2, kNan}, {2, 2, kNan}, DType::u8), {1, 0, 1});
}

TEST(Elementwise, fma_rounds_once) {
  const float a = 1 + 0x1p-12f;
  const Tensor x = f32s({a}), y = f32s({a}), z = f32s({-(1 + 0x1p-11f)});
  expect_same(floats(run(math("fma", 3, DType::f32, x.shape), {x.input(), y.input(), z.input()})), {0x1p-24f});
}

TEST(Elementwise, integers_wrap_in_their_own_width) {
  const Tensor a = of<int8_t>(DType::i8, {127, -128, 100, -7}), b = of<int8_t>(DType::i8, {1, -1, 100, 2});
  const auto go = [&](const char* op) { return floats(run(math(op, 2, DType::i8, a.shape), {a.input(), b.input()})); };
  expect_same(go("add"), {-128, 127, -56, -5});
  expect_same(go("sub"), {126, -127, 0, -9});
  expect_same(go("mul"), {127, -128, 16, -14});
  expect_same(go("div"), {127, -128, 1, -3});
  const Tensor big = i32s({INT32_MAX, INT32_MIN, INT32_MIN, 5}), other = i32s({1, -1, 1, 0});
  const auto wide = [&](const char* op) {
    const Tensor t = run(math(op, 2, DType::i32, big.shape), {big.input(), other.input()});
    std::vector<int32_t> v(4);
    std::memcpy(v.data(), t.bytes.data(), 16);
    return v;
  };
  EXPECT_EQ(wide("add"), (std::vector<int32_t>{INT32_MIN, INT32_MAX, INT32_MIN + 1, 5}));
  EXPECT_EQ(wide("div"), (std::vector<int32_t>{INT32_MAX, INT32_MIN, INT32_MIN, 0}));
  EXPECT_EQ(wide("mul"), (std::vector<int32_t>{INT32_MAX, INT32_MIN, INT32_MIN, 0}));
}

TEST(Elementwise, half_precision_computes_in_f32_and_rounds_once) {
  for (DType t : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2}) {
    const Tensor a = random(t, {1000}, 1), b = random(t, {1000}, 2);
    for (const char* op : {"add", "sub", "mul", "div"}) {
      const Tensor got = run(math(op, 2, t, a.shape), {a.input(), b.input()});
      for (size_t i = 0; i < 1000; ++i) {
        const auto x = static_cast<float>(a.at(i)), y = static_cast<float>(b.at(i));
        const float f = op[0] == 'a' ? x + y : op[0] == 's' ? x - y : op[0] == 'm' ? x * y : x / y;
        uint8_t want[4];
        convert(&f, DType::f32, want, t, 1);
        ASSERT_EQ(0, std::memcmp(want, &got.bytes[i * size_of(t)], size_of(t))) << name_of(t) << " " << op << " " << i;
      }
    }
  }
}

TEST(Elementwise, operands_broadcast_as_in_numpy_and_may_be_views) {
  const Tensor a = random(DType::f32, {3, 1, 5}, 1), b = random(DType::f16, {4, 1}, 2);
  const Tensor got = run(math("add", 2, DType::f32, {3, 4, 5}), {a.input(), b.input()});
  for (size_t i = 0, n = 0; i < 3; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      for (size_t k = 0; k < 5; ++k, ++n) {
        EXPECT_EQ(got.at(n), static_cast<double>(static_cast<float>(a.at(i * 5 + k)) + static_cast<float>(b.at(j))));
      }
    }
  }
  EvalInput transposed = EvalInput::tensor(a.bytes.data(), DType::f32, {5, 3});
  transposed.strides = {1, 5};
  const Tensor t = run(math("copy", 1, DType::f32, {5, 3}), {transposed});
  for (size_t k = 0; k < 5; ++k) {
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(t.at(k * 3 + i), a.at(i * 5 + k));
  }
  EXPECT_THROW(run(math("add", 2, DType::f32, {3, 4, 5}), {a.input(), t.input()}), EvalError);
}

TEST(Elementwise, where_takes_any_type_as_condition) {
  const Tensor cond = f32s({0.5f, -0.0f, kNan, 0.0f});
  const Tensor a = i32s({1, 2, 3, INT32_MAX});
  const Tensor got = run(math("where", 3, DType::i32, a.shape), {cond.input(), a.input(), EvalInput::immediate(-9)});
  EXPECT_EQ(got.at(0), 1);
  EXPECT_EQ(got.at(1), -9);
  EXPECT_EQ(got.at(2), 3);
  EXPECT_EQ(got.at(3), -9);
}

TEST(Elementwise, cast_rounds_an_integer_once) {
  const Tensor v = i32s({(1 << 24) + (1 << 16) + 1, INT32_MAX, -3});
  const Tensor got = run(math("cast", 1, DType::bf16, v.shape), {v.input()});
  EXPECT_EQ(got.at(0), (1 << 24) + (1 << 17));
  EXPECT_EQ(got.at(1), 2147483648.0);
  EXPECT_EQ(got.at(2), -3);
}

TEST(Create, full_and_arange_fill_in_order) {
  const auto imm = EvalInput::immediate;
  expect_same(floats(run(math("full", 1, DType::f16, {2, 2}), {imm(1.0 / 3)})), std::vector<float>(4, 0.33325195f));
  expect_same(floats(run(math("arange", 2, DType::i32, {4}), {imm(5), imm(-2)})), {5, 3, 1, -1});
  expect_same(floats(run(math("arange", 2, DType::f32, {3}), {imm(0.1), imm(0.1)})), {0.1f, 0.2f, 0.3f});
}

struct ReduceCase {
  Dims shape;
  int axis;
};

TEST(Reductions, agree_with_loops_along_every_axis) {
  for (const ReduceCase& c : {ReduceCase{{5000}, 0}, ReduceCase{{7, 33}, 1}, ReduceCase{{700, 5}, 0},
                              ReduceCase{{3, 17, 4}, 1}, ReduceCase{{3, 17, 4}, -1}, ReduceCase{{1, 1}, 0}}) {
    const int axis = c.axis < 0 ? c.axis + c.shape.rank() : c.axis;
    int64_t outer = 1, inner = 1;
    Dims out;
    for (int i = 0; i < c.shape.rank(); ++i) {
      if (i < axis) outer *= c.shape[i];
      if (i > axis) inner *= c.shape[i];
      if (i != axis) out.push_back(c.shape[i]);
    }
    const int64_t n = c.shape[axis];
    for (DType t : {DType::f32, DType::bf16, DType::i32, DType::i8}) {
      const Tensor x = random(t, c.shape, 3);
      for (const char* op : {"sum", "max", "min", "argmax"}) {
        const bool index = std::string(op) == "argmax";
        OpDesc d = math(op, 1, index ? DType::i32 : t, out);
        d.reduction = true;
        d.axis = c.axis;
        const Tensor got = run(d, {x.input()});
        ReferenceValues want;
        for (int64_t o = 0; o < outer; ++o) {
          for (int64_t i = 0; i < inner; ++i) {
            const auto at = [&](int64_t k) { return x.at(static_cast<size_t>((o * n + k) * inner + i)); };
            double sum = 0;
            int64_t best = 0;
            double low = at(0), high = at(0);
            for (int64_t k = 0; k < n; ++k) {
              sum += at(k);
              low = std::min(low, at(k));
              if (at(k) > high) best = k;
              high = std::max(high, at(k));
            }
            if (t == DType::i8) sum = static_cast<int8_t>(static_cast<int>(sum));
            want.values.push_back(index ? static_cast<double>(best) : op[1] == 'u' ? sum : op[1] == 'a' ? high : low);
          }
        }
        const TensorReport r = verify(op, got.dtype, got.shape, got.bytes.data(), want);
        EXPECT_TRUE(r.passed) << name_of(t) << " " << c.shape.to_string() << " axis " << c.axis << ": " << r.reason;
      }
    }
  }
}

TEST(Reductions, pass_nan_on_and_name_the_first) {
  const Tensor x = f32s({1, kNan, 5, kNan});
  for (const char* op : {"max", "min", "sum"}) {
    OpDesc d = math(op, 1, DType::f32, {});
    EXPECT_TRUE(std::isnan(floats(run(d, {x.input()}))[0])) << op;
  }
  EXPECT_EQ(floats(run(math("argmax", 1, DType::i32, {}), {x.input()}))[0], 1);
  const Tensor even = f32s({2, 7, 7});
  EXPECT_EQ(floats(run(math("argmax", 1, DType::i32, {}), {even.input()}))[0], 1);
}

TEST(Reductions, long_sums_in_f32_stay_accurate) {
  const Tensor x = random(DType::f32, {1 << 20}, 5);
  double want = 0, magnitude = 0;
  for (size_t i = 0; i < (1u << 20); ++i) {
    want += x.at(i);
    magnitude += std::abs(x.at(i));
  }
  const double got = floats(run(math("sum", 1, DType::f32, {}), {x.input()}))[0];
  EXPECT_LE(std::abs(got - want), 1e-7 * magnitude);
}

TEST(Softmax, rows_sum_to_one_and_agree_with_the_definition) {
  for (int axis : {0, 1}) {
    const Tensor x = random(DType::f16, {9, 130}, 4, 8.0);
    OpDesc d = math("softmax", 1, DType::f32, {9, 130});
    d.axis = axis;
    const Tensor got = run(d, {x.input()});
    const size_t lines = axis ? 9 : 130, n = axis ? 130 : 9, step = axis ? 1 : 130, next = axis ? 130 : 1;
    for (size_t l = 0; l < lines; ++l) {
      double sum = 0;
      for (size_t i = 0; i < n; ++i) sum += std::exp(x.at(l * next + i * step));
      for (size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(got.at(l * next + i * step), std::exp(x.at(l * next + i * step)) / sum, 1e-6);
      }
    }
  }
}

TEST(Elementwise, every_path_gives_the_same_bits) {
  const Tensor x = random(DType::f32, {3, 1001}, 1, 20.0), y = random(DType::f32, {3, 1001}, 2, 20.0);
  for (const MathOp& op : math_ops()) {
    // The others: ops_agree_with_numpy_test.py.
    if (op.integer_only || op.name == "reduce" ||
        !(op.is_elementwise() || op.is_reduction() || op.kind == MathKind::softmax))
      continue;
    OpDesc d = math(std::string(op.name), static_cast<size_t>(op.arity), DType::f32,
                    op.is_reduction() ? Dims{3} : Dims{3, 1001});
    d.axis = 1;
    const std::vector<EvalInput> all = {x.input(), y.input(), EvalInput::immediate(0.25)};
    const std::vector<EvalInput> in(all.begin(), all.begin() + op.arity);
    const Bytes want = evaluate(d, in, Isa::portable);
    for (Isa isa : available_isas()) EXPECT_EQ(evaluate(d, in, isa), want) << op.name << " " << name_of(isa);
  }
}

float bits(uint32_t u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}

TEST(Elementwise, bits_do_not_depend_on_an_elements_place) {
  std::mt19937 rng(3);
  std::vector<float> a(3000), b(3000);
  for (std::vector<float>* v : {&a, &b}) {
    for (float& x : *v) x = bits(rng() % 4 ? rng() : 0x7f800000u | rng() << 31 | rng() % 3 << 22);  // many NaNs
  }
  const Tensor x = f32s(a), y = f32s(b);
  for (const MathOp& op : math_ops()) {
    if (!op.is_elementwise() || op.integer_only) continue;
    for (Isa isa : available_isas()) {
      const std::vector<EvalInput> all = {x.input(), y.input(), x.input()};
      const auto operands = static_cast<size_t>(op.arity);
      const OpDesc d = math(std::string(op.name), operands, DType::f32, x.shape);
      const Bytes whole = evaluate(d, {all.begin(), all.begin() + op.arity}, isa);
      for (size_t first : {0, 1, 7, 16, 1023, 2999}) {
        for (size_t n : {1, 5, 16, 17, 513, 1500}) {
          if (first + n > a.size()) continue;
          std::vector<EvalInput> in(all.begin(), all.begin() + op.arity);
          for (EvalInput& part : in) {
            part.data += 4 * first;
            part.shape = {static_cast<int64_t>(n)};
          }
          Bytes out(4 * n + 1);  // not aligned for f32
          make_evaluation(math(std::string(op.name), operands, DType::f32, in[0].shape), in, out.data() + 1, isa)
              ->run(0);
          ASSERT_EQ(0, std::memcmp(out.data() + 1, whole.data() + 4 * first, 4 * n))
              << op.name << " " << name_of(isa) << " from " << first << ", " << n;
        }
      }
    }
  }
}

TEST(Elementwise, of_several_nans_the_first_is_passed_on) {
  const float one = bits(0x7fc00001), two = bits(0xffc00002), three = bits(0x7fc00003);
  const Tensor x = f32s({one, one, 5, 5, one, 5}), y = f32s({two, 7, two, 7, two, two}),
               z = f32s({three, 1, 1, three, 1, three});
  const auto first_word = [](const Tensor& t, size_t i) {
    uint32_t u;
    std::memcpy(&u, &t.bytes[4 * i], 4);
    return u;
  };
  for (Isa isa : available_isas()) {
    for (const char* op : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
      const Tensor got = run(math(op, 2, DType::f32, x.shape), {x.input(), y.input()}, isa);
      EXPECT_EQ(first_word(got, 0), 0x7fc00001u) << op << " " << name_of(isa);
      EXPECT_EQ(first_word(got, 1), 0x7fc00001u) << op << " " << name_of(isa);
      EXPECT_EQ(first_word(got, 2), 0xffc00002u) << op << " " << name_of(isa);
    }
    const Tensor fused = run(math("fma", 3, DType::f32, x.shape), {x.input(), y.input(), z.input()}, isa);
    const uint32_t want[] = {0x7fc00001, 0x7fc00001, 0xffc00002, 0x7fc00003, 0x7fc00001, 0xffc00002};
    for (size_t i = 0; i < 6; ++i) EXPECT_EQ(first_word(fused, i), want[i]) << i << " " << name_of(isa);
    for (const std::vector<float>& row : {std::vector<float>{1, two, one}, {-kInf, 4, kInf, two, one}}) {
      const Tensor t = f32s(row);
      EXPECT_EQ(first_word(run(math("sum", 1, DType::f32, {}), {t.input()}, isa), 0), 0xffc00002u) << name_of(isa);
    }
  }
}

TEST(Evaluation, names_what_does_not_fit) {
  const Tensor x = f32s({1, 2});
  const auto error = [](const OpDesc& d, const std::vector<EvalInput>& in) -> std::string {
    try {
      evaluate(d, in);
    } catch (const EvalError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error(math("frobnicate", 1, DType::f32, {2}), {x.input()}).find("frobnicate"), std::string::npos);
  EXPECT_NE(error(math("add", 1, DType::f32, {2}), {x.input()}).find("takes 2 operands, got 1"), std::string::npos);
  EXPECT_NE(error(math("sum", 1, DType::f32, {}), {EvalInput::immediate(1)}).find("no axis"), std::string::npos);
}

TEST(Evaluation, of_empty_tensors_makes_nothing) {
  const Tensor x{DType::f32, {0, 4}, {}};
  EXPECT_TRUE(evaluate(math("exp", 1, DType::f32, {0, 4}), {x.input()}).empty());
  OpDesc d = math("sum", 1, DType::f32, {4});
  EXPECT_EQ(evaluate(d, {x.input()}), Bytes(16));
}

}  // namespace
}  // namespace kernbench
