// SPDX-License-Identifier: Apache-2.0
// GEMM and fused composites against naive loops in f64; their bits against other layouts and parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "eval_helpers.h"

namespace kernbench {
namespace {

TEST(Gemm, agrees_with_loops_for_every_type_shape_and_transposition) {
  const std::vector<std::array<int64_t, 3>> shapes = {{1, 1, 1},    {100, 75, 33}, {6, 16, 300},  {13, 33, 257},
                                                      {1, 70, 600}, {70, 1, 40},   {300, 530, 5}, {3, 4, 0}};
  for (DType t : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::i8, DType::u8, DType::i16, DType::i32}) {
    for (const auto& [m, n, k] : shapes) {
      for (int transposed = 0; transposed < 4; ++transposed) {
        const bool ta = transposed & 1, tb = transposed & 2;
        const Tensor a = random(t, ta ? Dims{k, m} : Dims{m, k}, 1), b = random(t, tb ? Dims{n, k} : Dims{k, n}, 2);
        OpDesc d = gemm(m, n, k, is_float(t) ? t : DType::i32);
        d.transpose_a = ta;
        d.transpose_b = tb;
        const std::vector<float> fa = floats(a), fb = floats(b);
        const auto rows = m, cols = n, depth = k;
        const ReferenceValues want = gemm_reference(
            m, n, k,
            [&](int64_t i, int64_t p) {
              return static_cast<double>(fa[static_cast<size_t>(ta ? p * rows + i : i * depth + p)]);
            },
            [&](int64_t p, int64_t j) {
              return static_cast<double>(fb[static_cast<size_t>(tb ? j * depth + p : p * cols + j)]);
            });
        for (Isa isa : available_isas()) {
          const Tensor got = run(d, {a.input(), b.input()}, isa);
          const TensorReport r = verify("c", got.dtype, got.shape, got.bytes.data(), want);
          ASSERT_TRUE(r.passed) << name_of(isa) << " " << name_of(t) << " " << m << "x" << n << "x" << k << ": "
                                << r.reason;
        }
      }
    }
  }
}

TEST(Gemm, integers_are_exact_modulo_two_to_the_32) {
  const Tensor a = i32s({INT32_MAX, 3}), b = i32s({5, INT32_MIN});
  OpDesc d = gemm(1, 1, 2, DType::i32);
  const Tensor got = run(d, {EvalInput::tensor(a.bytes.data(), DType::i32, {1, 2}),
                             EvalInput::tensor(b.bytes.data(), DType::i32, {2, 1})});
  const auto want = static_cast<int32_t>(static_cast<uint32_t>(int64_t{INT32_MAX} * 5 + 3 * int64_t{INT32_MIN}));
  EXPECT_EQ(got.at(0), want);
}

TEST(Gemm, an_operand_may_be_a_slice_of_a_larger_matrix) {
  const Tensor whole = random(DType::f16, {40, 50}, 1), b = random(DType::f16, {20, 30}, 2);
  EvalInput a = EvalInput::tensor(whole.bytes.data() + (3 * 50 + 7) * 2, DType::f16, {11, 20});
  a.strides = {50, 1};
  const Tensor got = run(gemm(11, 30, 20, DType::f16), {a, b.input()});
  const ReferenceValues want = gemm_reference(
      11, 30, 20, [&](int64_t i, int64_t p) { return whole.at(static_cast<size_t>((3 + i) * 50 + 7 + p)); },
      [&](int64_t p, int64_t j) { return b.at(static_cast<size_t>(p * 30 + j)); });
  EXPECT_TRUE(verify("c", DType::f16, got.shape, got.bytes.data(), want).passed);
  EXPECT_THROW(run(gemm(11, 30, 21, DType::f16), {a, b.input()}), EvalError);
}

/// The same values with rows `stride` elements apart (or columns, `by_columns`), from byte `offset` of a buffer on.
struct Placed {
  Placed(const Tensor& t, size_t offset, int64_t stride, bool by_columns) {
    const size_t item = size_of(t.dtype);
    const int64_t rows = t.shape[0], cols = t.shape[1];
    const Dims strides = by_columns ? Dims{1, stride} : Dims{stride, 1};
    bytes.assign(static_cast<size_t>((by_columns ? cols : rows) * stride) * item + 128 + offset, 0xee);
    uint8_t* start = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) + offset;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) {
        std::memcpy(start + static_cast<size_t>(i * strides[0] + j * strides[1]) * item,
                    &t.bytes[static_cast<size_t>(i * cols + j) * item], item);
      }
    }
    input = EvalInput::tensor(start, t.dtype, t.shape);
    input.strides = strides;
  }
  std::vector<uint8_t> bytes;
  EvalInput input;
};

TEST(Gemm, bits_do_not_depend_on_alignment_strides_or_layout) {
  const std::vector<std::array<int64_t, 3>> shapes = {{1, 1, 7},    {1, 90, 300},   {90, 1, 300},   {2, 3, 4},
                                                      {5, 6, 7},    {47, 50, 257},  {257, 1, 33},   {1, 513, 65},
                                                      {64, 64, 64}, {300, 530, 40}, {257, 513, 258}};
  for (const auto& [m, n, k] : shapes) {
    for (DType t : {DType::f32, DType::f16}) {
      const Tensor a = random(t, {m, k}, 1), b = random(t, {k, n}, 2);
      const OpDesc d = gemm(m, n, k, DType::f32);
      for (Isa isa : available_isas()) {
        const Bytes want = evaluate(d, {a.input(), b.input()}, isa);
        // Offsets of fractions of an element too, because memory consists of bytes.
        for (size_t offset : {0, 1, 4, 8, 12, 16, 28, 32, 36, 60}) {
          for (int layout = 0; layout < 4; ++layout) {
            const bool a_by_columns = layout & 1, b_by_columns = layout & 2;
            const auto extra = static_cast<int64_t>(offset % 7);
            const Placed pa(a, offset, (a_by_columns ? m : k) + extra, a_by_columns);
            const Placed pb(b, 60 - offset, (b_by_columns ? k : n) + 2 * extra, b_by_columns);
            std::vector<uint8_t> out(want.size() + 128);
            uint8_t* to = out.data() + (64 - reinterpret_cast<uintptr_t>(out.data()) % 64) + offset;
            const auto e = make_evaluation(d, {pa.input, pb.input}, to, isa);
            for (int p = 0; p < e->parts(); ++p) e->run(p);
            ASSERT_EQ(Bytes(to, to + want.size()), want) << name_of(isa) << " " << name_of(t) << " " << m << "x" << n
                                                         << "x" << k << " offset " << offset << " layout " << layout;
          }
        }
      }
    }
  }
}

TEST(Gemm, differs_between_instruction_sets_by_rounding_alone) {
  for (DType t : {DType::f32, DType::bf16}) {
    const Tensor a = random(t, {70, 600}, 1), b = random(t, {600, 90}, 2);
    const OpDesc d = gemm(70, 90, 600, DType::f32);
    const std::vector<float> first = floats(run(d, {a.input(), b.input()}, Isa::portable));
    for (Isa isa : available_isas()) {
      const std::vector<float> other = floats(run(d, {a.input(), b.input()}, isa));
      for (size_t i = 0; i < first.size(); ++i) ASSERT_NEAR(other[i], first[i], 600 * 0x1p-24) << name_of(isa);
    }
  }
}

TEST(Gemm, what_is_written_is_the_product_and_nothing_beside_it) {
  const Tensor a = random(DType::f32, {37, 300}, 1), b = random(DType::f32, {300, 41}, 2);
  const OpDesc d = gemm(37, 41, 300, DType::f32);
  for (Isa isa : available_isas()) {
    const Bytes want = evaluate(d, {a.input(), b.input()}, isa);
    std::vector<uint8_t> out(want.size() + 64, 0xa5);
    const auto e = make_evaluation(d, {a.input(), b.input()}, out.data() + 32, isa);
    for (int p = 0; p < e->parts(); ++p) e->run(p);
    EXPECT_EQ(Bytes(out.begin() + 32, out.end() - 32), want) << name_of(isa);
    EXPECT_EQ(std::count(out.begin(), out.begin() + 32, 0xa5), 32) << name_of(isa);
    EXPECT_EQ(std::count(out.end() - 32, out.end(), 0xa5), 32) << name_of(isa);
  }
}

TEST(Gemm, infinities_and_nans_reach_the_elements_that_they_touch_and_no_others) {
  constexpr int64_t m = 50, n = 70, k = 300;
  for (Isa isa : available_isas()) {
    Tensor a = random(DType::f32, {m, k}, 1), b = random(DType::f32, {k, n}, 2);
    const float inf = INFINITY, nan = NAN;
    std::memcpy(&a.bytes[(7 * k + 299) * 4], &inf, 4);  // row 7
    std::memcpy(&b.bytes[(0 * n + 69) * 4], &nan, 4);   // column 69
    const std::vector<float> got = floats(run(gemm(m, n, k, DType::f32), {a.input(), b.input()}, isa));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const float v = got[static_cast<size_t>(i * n + j)];
        ASSERT_EQ(std::isnan(v), j == 69) << name_of(isa) << " " << i << ", " << j;
        ASSERT_EQ(std::isinf(v), i == 7 && j != 69) << name_of(isa) << " " << i << ", " << j;
      }
    }
  }
}

TEST(Evaluation, parts_may_run_in_any_order) {
  const Tensor a = random(DType::f32, {600, 300}, 1), b = random(DType::f32, {300, 1100}, 2);
  const std::vector<EvalInput> in = {a.input(), b.input()};
  const OpDesc d = gemm(600, 1100, 300, DType::f32);
  const Bytes want = evaluate(d, in);
  Bytes out(want.size());
  const auto e = make_evaluation(d, in, out.data(), best_isa());
  ASSERT_GT(e->parts(), 1);
  for (int p = e->parts() - 1; p >= 0; --p) e->run(p);
  EXPECT_EQ(out, want);
}

TEST(Composite, epilogues_act_in_their_scope) {
  constexpr int64_t m = 45, n = 50, k = 70, tm = 16, tn = 32, tk = 32;
  const Tensor a = random(DType::f16, {m, k}, 1), b = random(DType::f16, {k, n}, 2, 0.1);
  const Tensor bias = random(DType::f32, {n}, 3), residual = random(DType::f16, {m, n}, 4);
  OpDesc d = gemm(m, n, k, DType::f32);
  d.type = CommandType::composite;
  d.name = "composite_gemm";
  d.tile_m = tm;
  d.tile_n = tn;
  d.tile_k = tk;
  Operand tensor, scalar;
  scalar.is_scalar = true;
  // Unsorted on purpose: scopes determine the order, not positions.
  d.epilogue = {{"add", Scope::per_output_tile, {tensor}},
                {"mul", Scope::once, {scalar}},
                {"mul", Scope::per_k_tile, {scalar}},
                {"relu", Scope::per_output_tile, {}},
                {"sub", Scope::per_output_tile, {tensor}}};
  const std::vector<EvalInput> in = {
      a.input(), b.input(), bias.input(), EvalInput::immediate(-3), EvalInput::immediate(0.5), residual.input()};
  const Tensor got = run(d, in);
  ReferenceValues want;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double acc = 0, scale = 0;
      for (int64_t k0 = 0; k0 < k; k0 += tk) {
        for (int64_t p = k0; p < std::min(k, k0 + tk); ++p) {
          const double product = a.at(static_cast<size_t>(i * k + p)) * b.at(static_cast<size_t>(p * n + j));
          acc += product;
          scale += std::abs(product);
        }
        acc *= 0.5;
      }
      acc = std::max(0.0, acc + bias.at(static_cast<size_t>(j))) - residual.at(static_cast<size_t>(i * n + j));
      if (i / tm == (m - 1) / tm && j / tn == (n - 1) / tn) acc *= -3;
      want.values.push_back(acc);
      want.scale.push_back(scale / std::sqrt(static_cast<double>(k)));
    }
  }
  const TensorReport r = verify("c", DType::f32, got.shape, got.bytes.data(), want);
  EXPECT_TRUE(r.passed) << r.reason;
}

TEST(Composite, an_integer_head_turns_to_f32_where_the_epilogue_needs_it) {
  const Tensor a = random(DType::i8, {20, 40}, 1), b = random(DType::i8, {40, 30}, 2),
               bias = random(DType::i32, {30}, 3);
  OpDesc d = gemm(20, 30, 40, DType::f16);
  d.type = CommandType::composite;
  d.tile_k = 16;
  Operand tensor, scalar;
  scalar.is_scalar = true;
  d.epilogue = {{"add", Scope::per_output_tile, {tensor}}, {"mul", Scope::per_output_tile, {scalar}}};
  const Tensor got = run(d, {a.input(), b.input(), bias.input(), EvalInput::immediate(0.125)});
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 0; j < 30; ++j) {
      double sum = bias.at(static_cast<size_t>(j));
      for (int64_t p = 0; p < 40; ++p) {
        sum += a.at(static_cast<size_t>(i * 40 + p)) * b.at(static_cast<size_t>(p * 30 + j));
      }
      const float want = f16_to_f32(f32_to_f16(static_cast<float>(sum * 0.125)));
      ASSERT_EQ(got.at(static_cast<size_t>(i * 30 + j)), static_cast<double>(want));
    }
  }
}

TEST(Composite, an_elementwise_head_treats_every_tile_as_an_output_tile) {
  const Tensor x = random(DType::f16, {1000}, 1), y = random(DType::f16, {1000}, 2);
  OpDesc d = math("add", 2, DType::f16, {1000});
  d.type = CommandType::composite;
  d.tile_m = 1;
  d.tile_n = 300;
  Operand scalar;
  scalar.is_scalar = true;
  d.epilogue = {{"exp", Scope::per_output_tile, {}}, {"add", Scope::once, {scalar}}};
  const Tensor got = run(d, {x.input(), y.input(), EvalInput::immediate(100)});
  for (size_t i = 0; i < 1000; ++i) {
    const double want = std::exp(x.at(i) + y.at(i)) + (i >= 900 ? 100 : 0);
    EXPECT_NEAR(got.at(i), want, 1e-3 * want) << i;
  }
}

TEST(Composite, the_tile_over_k_sets_the_order_of_additions_only) {
  const Tensor a = random(DType::f32, {33, 512}, 1), b = random(DType::f32, {512, 40}, 2);
  OpDesc d = gemm(33, 40, 512, DType::f32);
  d.type = CommandType::composite;
  d.tile_k = 64;
  const Tensor tiled = run(d, {a.input(), b.input()});
  // By hand: eight products of depth 64, added in order.
  Bytes sum(tiled.bytes.size());
  for (int64_t k0 = 0; k0 < 512; k0 += 64) {
    EvalInput pa = EvalInput::tensor(a.bytes.data() + k0 * 4, DType::f32, {33, 64});
    pa.strides = {512, 1};
    const EvalInput pb = EvalInput::tensor(b.bytes.data() + k0 * 40 * 4, DType::f32, {64, 40});
    const Bytes part = evaluate(gemm(33, 40, 64, DType::f32), {pa, pb});
    for (size_t i = 0; i < sum.size(); i += 4) {
      float s, p;
      std::memcpy(&s, &sum[i], 4);
      std::memcpy(&p, &part[i], 4);
      s = k0 ? s + p : p;
      std::memcpy(&sum[i], &s, 4);
    }
  }
  EXPECT_EQ(tiled.bytes, sum);
}

}  // namespace
}  // namespace kernbench
