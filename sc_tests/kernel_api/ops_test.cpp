// SPDX-License-Identifier: Apache-2.0
// Calls of tl besides the elementwise ones: scans, sorts, rearrangement, random numbers, short types, the kernel's own
// values, prints. Checks their results in Phase 2, and the messages for wrong uses, with the kernel's line.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/philox.h"
#include "tl_fixture.h"

namespace kernbench::testing {
namespace {

class OpsTest : public TlTest {
 protected:
  tl::Tensor ints(const Dims& shape, const std::vector<float>& v, DType t = DType::i32) { return loaded(shape, v, t); }
  /// The fault of a call, which must have this file's name and a line.
  template <class F>
  void refused(F&& f, const std::string& what) {
    const std::string fault = fault_of(f);
    EXPECT_NE(fault.find("ops_test.cpp:"), std::string::npos) << fault;
    EXPECT_NE(fault.find(what), std::string::npos) << fault;
    EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
  }
};

TEST_F(OpsTest, operators_of_integers) {
  const auto a = ints({4}, {12, -7, 5, 6}), b = ints({4}, {10, 2, 3, 0});
  EXPECT_EQ(values(a & b), (Floats{8, 0, 1, 0}));
  EXPECT_EQ(values(a | b), (Floats{14, -5, 7, 6}));
  EXPECT_EQ(values(a ^ b), (Floats{6, -5, 6, 6}));
  EXPECT_EQ(values(~a), (Floats{-13, 6, -6, -7}));
  EXPECT_EQ(values(a << 2), (Floats{48, -28, 20, 24}));
  EXPECT_EQ(values(a >> 1), (Floats{6, -4, 2, 3}));
  EXPECT_EQ(values(a % b), (Floats{2, -1, 2, 6}));
  EXPECT_EQ(values(a / b), (Floats{1, -3, 1, 0}));
  EXPECT_EQ(values(tl.umulhi(a, a)), (Floats{0, -14, 0, 0}));
}

TEST_F(OpsTest, wide_integers) {
  const tl::Tensor big = tl.tensor(std::vector<int64_t>{4000000000, 1, 4294967295}, {3}, DType::u32);
  EXPECT_EQ(values(big > 5), (Floats{1, 0, 1}));
  EXPECT_EQ(values(tl.cast(big >> 4, DType::f32)), (Floats{250000000, 0, 268435456}));
  const tl::Tensor whole = tl.tensor(std::vector<int64_t>{INT64_MIN, 7, INT64_MAX}, {3}, DType::i64);
  EXPECT_EQ(values(tl.cast(whole ^ whole, DType::i32)), (Floats{0, 0, 0}));
  EXPECT_EQ(values(tl.cast(whole < 0, DType::i32)), (Floats{1, 0, 0}));
  EXPECT_EQ(tl.sum(whole).dtype(), DType::i64);
}

TEST_F(OpsTest, scans_and_reductions) {
  const auto x = loaded({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(tl.cumsum(x, 1)), (Floats{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(values(tl.cumsum(x, 0)), (Floats{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(values(tl.cumsum(x, -1, true)), (Floats{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(values(tl.cumprod(x, 1)), (Floats{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(values(tl.prod(x, 0)), (Floats{4, 10, 18}));
  EXPECT_EQ(values(tl.argmin(x, 1)), (Floats{0, 0}));
  const auto top = tl.max_with_indices(x, 0);
  EXPECT_EQ(values(top.values), (Floats{4, 5, 6}));
  EXPECT_EQ(values(top.indices), (Floats{1, 1, 1}));
  EXPECT_EQ(values(tl.reduce(x, 1, [](tl::Expr a, tl::Expr b) { return a * 10 + b; })), (Floats{123, 456}));
  EXPECT_EQ(last().name, "dma_write");
  const auto larger = [](tl::Expr a, tl::Expr b) { return tl::where(a > b, a, b); };
  EXPECT_EQ(values(tl.associative_scan(loaded({4}, {3, 1, 5, 2}), 0, larger)), (Floats{3, 3, 5, 5}));
  EXPECT_EQ(values(tl.xor_sum(ints({3}, {5, 6, 12}), 0)), (Floats{15}));
  EXPECT_EQ(tl.cumsum(ints({3}, {1, 2, 3}, DType::i8)).dtype(), DType::i32);
  // A view with repetitions is copied first.
  EXPECT_EQ(values(tl.cumsum(loaded({1, 2}, {1, 2}).broadcast_to({3, 2}), 0)), (Floats{1, 2, 2, 4, 3, 6}));
}

/// The greater value (the first of equals) and its companion.
const auto kGreater = [](tl::Expr v1, tl::Expr i1, tl::Expr v2, tl::Expr i2) {
  const tl::Expr first = v1 >= v2;
  return std::array{tl::where(first, v1, v2), tl::where(first, i1, i2)};
};

TEST_F(OpsTest, tuples_are_reduced_and_scanned_together) {
  const auto v = loaded({2, 3}, {1, 3, 3, 6, 5, 4});
  const auto i = ints({2, 3}, {10, 11, 12, 13, 14, 15});
  const auto [top, at] = tl.reduce({v, i}, 1, kGreater);
  EXPECT_EQ(values(top), (Floats{3, 6}));
  EXPECT_EQ(values(at), (Floats{11, 13}));
  EXPECT_EQ(at.dtype(), DType::i32);
  EXPECT_EQ(tl.reduce({v, i}, 1, kGreater, true)[1].shape(), (Dims{2, 1}));
  const auto scanned = tl.associative_scan({i, v}, 0, kGreater);
  EXPECT_EQ(values(scanned[0]), (Floats{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(values(scanned[1]), (Floats{1, 3, 3, 6, 5, 4}));
  EXPECT_EQ(values(tl.associative_scan({v, i}, -1, kGreater, true)[1]), (Floats{12, 12, 12, 13, 14, 15}));
  // Segmented: a flag restarts the sum.
  const auto flags = ints({6}, {0, 0, 1, 0, 1, 0});
  const auto sums = tl.associative_scan({loaded({6}, {1, 2, 3, 4, 5, 6}), flags}, 0,
                                        [](tl::Expr s1, tl::Expr f1, tl::Expr s2, tl::Expr f2) {
                                          return std::array{tl::where(f2, s2, s1 + s2), f1 | f2};
                                        });
  EXPECT_EQ(values(sums[0]), (Floats{1, 3, 3, 7, 5, 11}));
  // Four members; a view with repetitions is copied first.
  const auto ones = ints({1, 1}, {1}).broadcast_to({2, 3});
  const auto four = tl.reduce(
      {v, ones, v, i}, 1,
      [](tl::Expr s1, tl::Expr n1, tl::Expr m1, tl::Expr i1, tl::Expr s2, tl::Expr n2, tl::Expr m2, tl::Expr i2) {
        return std::array{s1 + s2, n1 + n2, tl::minimum(m1, m2), i1 ^ i2};
      });
  EXPECT_EQ(values(four[0]), (Floats{7, 15}));
  EXPECT_EQ(values(four[1]), (Floats{3, 3}));
  EXPECT_EQ(values(four[2]), (Floats{1, 4}));
  EXPECT_EQ(values(four[3]), (Floats{10 ^ 11 ^ 12, 13 ^ 14 ^ 15}));
}

TEST_F(OpsTest, wrong_tuples_are_named) {
  const auto v = loaded({2, 3}, {1, 3, 3, 6, 5, 4});
  const auto i = ints({2, 3}, {10, 11, 12, 13, 14, 15});
  const auto sum = [](tl::Expr a, tl::Expr b, tl::Expr c, tl::Expr d) { return std::array{a + b, c + d}; };
  refused([&] { tl.reduce({v, i}, 1, sum); }, "op 'reduce': 'add' meets floats and integers");
  refused([&] { tl.reduce({v, ints({2}, {1, 2})}, 1, kGreater); }, "have other shapes");
  refused([&] { tl.reduce({v, i}, 2, kGreater); }, "axis 2 does not exist");
  const auto turned = [](tl::Expr a, tl::Expr b, tl::Expr, tl::Expr) { return std::array{b, a}; };
  refused([&] { tl.associative_scan({v, i}, 1, turned); }, "gives integers for member 0, which holds others");
  const auto half = [](tl::Expr a, tl::Expr b, tl::Expr, tl::Expr) { return std::array{a, b * 0.5}; };
  refused([&] { tl.reduce({v, i}, 1, half); }, "0.5 stands where integers are combined");
  refused([&] { tl.op("reduce", {v}); }, "op 'reduce' has a call of its own: tl.reduce");
}

TEST_F(OpsTest, sorts) {
  const auto x = loaded({2, 4}, {3, 1, 4, 1, 5, 9, 2, 6});
  EXPECT_EQ(values(tl.sort(x)), (Floats{1, 1, 3, 4, 2, 5, 6, 9}));
  EXPECT_EQ(values(tl.sort(x, 0, true)), (Floats{5, 9, 4, 6, 3, 1, 2, 1}));
  EXPECT_EQ(values(tl.argsort(x, 1, true)), (Floats{2, 0, 1, 3, 1, 3, 0, 2}));
  EXPECT_EQ(values(tl.topk(x, 2)), (Floats{4, 3, 9, 6}));
}

TEST_F(OpsTest, arrangement) {
  const auto a = loaded({2, 2}, {1, 2, 3, 4}), b = loaded({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(values(tl.cat({a, b})), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(values(tl.cat({a, b.transpose(), a}, 1)), (Floats{1, 2, 5, 7, 1, 2, 3, 4, 6, 8, 3, 4}));
  const tl::Tensor pairs = tl.join(a, b);
  EXPECT_EQ(pairs.shape(), (Dims{2, 2, 2}));
  EXPECT_EQ(values(pairs), (Floats{1, 5, 2, 6, 3, 7, 4, 8}));
  const auto [first, second] = tl.split(pairs);
  EXPECT_EQ(values(first), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(values(second), (Floats{5, 6, 7, 8}));
  EXPECT_EQ(values(tl.interleave(a, b)), (Floats{1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_EQ(tl.interleave(a, b).shape(), (Dims{2, 4}));
  EXPECT_EQ(values(tl.flip(a)), (Floats{2, 1, 4, 3}));
  EXPECT_EQ(values(tl.flip(a, 0)), (Floats{3, 4, 1, 2}));
  EXPECT_EQ(values(tl.gather(a, ints({2, 3}, {0, 1, 1, 1, 0, 0}), 1)), (Floats{1, 2, 2, 4, 3, 3}));
  EXPECT_EQ(values(tl.histogram(ints({6}, {0, 2, 2, -1, 3, 9}), 4)), (Floats{1, 0, 2, 1}));
  const auto deep = loaded({1, 2, 1, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(values(tl::Context::permute(deep, {4, 3, 2, 1, 0})), (Floats{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}));
}

TEST_F(OpsTest, random_numbers_are_philoxs) {
  const tl::Tensor offsets = tl.arange(0, 6, 1, DType::i64);
  const auto words = tl.randint4x(99, offsets);
  const auto unit = values(tl.rand(99, offsets));
  for (size_t i = 0; i < 6; ++i) {
    const auto want = philox(99, i, 10);
    for (size_t w = 0; w < 4; ++w) EXPECT_EQ(values(tl.cast(words[w], DType::f32))[i], static_cast<float>(want[w]));
    EXPECT_EQ(unit[i], uniform_of(want[0]));
  }
  EXPECT_EQ(words[0].dtype(), DType::u32);
}

TEST_F(OpsTest, products_go_on_from_an_accumulator) {
  const auto a = loaded({2, 2}, {1, 2, 3, 4}), b = loaded({2, 2}, {1, 0, 0, 1}), acc = loaded({2, 2}, {10, 20, 30, 40});
  EXPECT_EQ(values(tl.dot(a, b, acc)), (Floats{11, 22, 33, 44}));
  EXPECT_EQ(values(tl.dot(a, b, tl.full({1, 2}, 5, DType::f32).broadcast_to({2, 2}))), (Floats{6, 7, 8, 9}));
  const auto i = ints({1, 2}, {100, 100}, DType::i8);
  EXPECT_EQ(values(tl.dot(i, i.transpose(), ints({1, 1}, {1}))), (Floats{20001}));
}

TEST_F(OpsTest, packed_weights_are_multiplied_and_dequantized) {
  HostTensor w(DType::i4, {3, 2});  // [3, 4] values
  const std::vector<int8_t> each{1, -2, 3, -4, 5, 6, -7, 7, -8, 0, 1, 2};
  pack(each.data(), DType::i4, w.bytes.data(), w.bytes.size());
  const tl::Loaded stored = tl.load(place(w), {3, 2});
  const auto x = loaded({1, 4}, {1, 10, 100, 1000}, DType::f16);
  EXPECT_EQ(values(tl.dot(x, stored.transpose())), (Floats{-3719, 6365, 2092}));
  EXPECT_EQ(last().name, "dma_write");
  EXPECT_EQ(values(tl.dequantize(stored, 0.5, DType::f32)),
            (Floats{0.5, -1, 1.5, -2, 2.5, 3, -3.5, 3.5, -4, 0, 0.5, 1}));
  const auto by = loaded({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(tl.dequantize(stored, by, DType::f32)), (Floats{1, -2, 6, -8, 15, 18, -28, 28, -40, 0, 6, 12}));
}

TEST_F(OpsTest, products_of_mx_formats) {
  constexpr int64_t kDepth = 64;
  HostTensor lhs(DType::e2m1, {2, kDepth / 2});
  for (uint8_t& b : lhs.bytes) b = 0x42;  // 1, then 2
  const auto one = ints({2, 2}, {127, 128, 126, 127}, DType::u8);
  HostTensor rhs(DType::f8e4m3, {3, kDepth});
  for (size_t i = 0; i < rhs.bytes.size(); ++i) rhs.bytes[i] = f32_to_f8e4m3(static_cast<float>(i / kDepth + 1));
  const auto scale = ints({3, 2}, {127, 127, 127, 127, 127, 130}, DType::u8);
  const tl::Loaded a = tl.load(place(lhs), {2, kDepth / 2}), b = tl.load(place(rhs), {3, kDepth});
  // 32 values with mean 1.5 per scale: 48 (s0 t0 + s1 t1) times 1, 2, 3.
  EXPECT_EQ(values(tl.dot_scaled(a, one, b.transpose(), scale)),
            (Floats{144, 288, 48 * 3 * 17, 72, 144, 48 * 3 * 8.5}));
  const auto plain = loaded({kDepth, 1}, std::vector<float>(kDepth, 2), DType::f16);
  const auto acc = loaded({2, 1}, {1, -1});
  EXPECT_EQ(values(tl.dot_scaled(a, one, plain, tl.none(), acc)), (Floats{289, 143}));
}

TEST_F(OpsTest, values_of_the_kernels_own_are_real_at_once) {
  const tl::Loaded t = tl.tensor(std::vector<double>{1.5, -2, 1e9}, {3}, DType::f16);
  EXPECT_EQ(t(0), 1.5);
  EXPECT_EQ(t.to_vector<float>()[2], INFINITY);
  EXPECT_EQ(last().name, "constant");
  const tl::Loaded big = tl.tensor(std::vector<int64_t>{INT64_MAX}, {1, 1}, DType::i64);
  EXPECT_EQ(big.item<int64_t>(), INT64_MAX);
  EXPECT_EQ(values(t * 2), (Floats{3, -4, INFINITY}));
  const tl::Ptr to = fresh(DType::f16, 3);
  tl.store(to, t);
  EXPECT_EQ(memory_after(to, {3}), (Floats{1.5, -2, INFINITY}));
}

TEST_F(OpsTest, blocks_of_any_rank_may_have_a_row_stride) {
  const tl::Ptr at = place(DType::f32, std::vector<float>(40, 7));
  tl.store(at.block({2, 2, 3}, 5), loaded({2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(memory_after(at, {20}), (Floats{0, 1, 2, 7, 7, 3, 4, 5, 7, 7, 6, 7, 8, 7, 7, 9, 10, 11, 7, 7}));
  EXPECT_EQ(values(tl.load(at.block({2, 2, 1, 3}, 5))), (Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_F(OpsTest, prints_of_pending_values_are_phase_2s) {
  const auto x = loaded({2}, {1, -2.5});
  tl.device_print("sum", x + x);
  tl.device_print("again", tl.cast(x, DType::i32));
  tl.device_assert(x < 2, "small");
  const ReplayResult r = replay(system.records, start());
  ASSERT_EQ(r.prints.size(), 2u);
  EXPECT_NE(r.prints[0].find("ops_test.cpp:"), std::string::npos) << r.prints[0];
  EXPECT_NE(r.prints[0].find(": sum: [2] f32: 2 -5"), std::string::npos) << r.prints[0];
  EXPECT_NE(r.prints[1].find(": again: [2] i32: 1 -2"), std::string::npos) << r.prints[1];
  tl.device_assert(x > 0, "positive");
  try {
    replay(system.records, start());
    FAIL() << "the assertion holds";
  } catch (const AssertFailed& e) {
    EXPECT_NE(std::string(e.what()).find("device_assert: "), std::string::npos);
    EXPECT_NE(std::string(e.what()).find(": positive: [2] u8: 1 0"), std::string::npos) << e.what();
  }
}

TEST_F(OpsTest, assertions_of_real_values_are_faults_at_once) {
  const auto x = loaded({3}, {1, 0, 2});
  refused([&] { tl.device_assert(x, "all set"); }, ": all set: [3] f32: 1 0 2");
  tl.device_assert(x.slice(0, 0, 1));
}

TEST_F(OpsTest, wrong_uses_are_named) {
  const auto x = loaded({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto i = ints({2, 3}, {1, 2, 3, 4, 5, 6});
  refused([&] { x& x; }, "op 'bitwise_and' needs integers: h");
  refused([&] { i << 0.5; }, "immediate 0.5 is no i32");
  refused([&] { tl.sin(i); }, "op 'sin' needs floats");
  refused([&] { tl.umulhi(tl.cast(i, DType::i8), 3); }, "op 'umulhi' needs integers of 32 or 64 bits");
  refused([&] { tl.cumsum(x, 2); }, "op 'cumsum': axis 2 does not exist in h");
  refused([&] { tl.reduce(x, 0, [](tl::Expr a, tl::Expr b) { return a & b; }); },
          "an op of 'a b bitwise_and' cannot take h");
  refused([&] { tl.reduce(x, 0, [](tl::Expr a, tl::Expr) { return tl::Expr::op("sum", {a}); }); },
          "found 'sum', expected a, b");
  refused([&] { tl.associative_scan(i, 0, [](tl::Expr a, tl::Expr) { return a * 0.5; }); }, "0.5 is no i32");
  refused([&] { tl.topk(x, 4); }, "op 'topk': 4 of the 3 elements along axis -1 of h");
  refused([&] { tl.topk(x, 0); }, "op 'topk': 0 of the 3 elements");
  refused([&] { tl.cat({}); }, "op 'cat' needs a tensor");
  refused([&] { tl.cat({x, i}); }, "op 'cat': shapes or types do not fit");
  refused([&] { tl.join(x, x.transpose()); }, "op 'join': shapes or types differ");
  refused([&] { tl.split(x); }, "the last axis must be of 2");
  refused([&] { tl.gather(x, x, 1); }, "op 'gather' needs integers");
  refused([&] { tl.gather(x, i, 1); }, "op 'gather': index 3 at element 2 of h");
  refused([&] { tl.gather(x, ints({1, 3}, {0, 0, 0}), 1); }, "does not fit h");
  refused([&] { tl.histogram(x, 4); }, "op 'histogram' needs integers");
  refused([&] { tl.histogram(i, 0); }, "found 0 bins, expected 1 or more");
  refused([&] { tl.rand(1, x); }, "op 'rand' needs integers");
  refused([&] { tl.randint(int64_t{1} << 60, i); }, "is beyond ±2^53");
  refused([&] { tl.randn(1, i, 0); }, "found 0 rounds, expected 1 to 1000");
  refused([&] { tl.dot(x, x.transpose(), x); }, "op 'dot': accumulator h");
  refused([&] { tl.dequantize(x, 1, DType::i8); }, "op 'dequantize' gives floats, not i8");
  refused([&] { tl.dequantize(x, i, DType::f32); }, "scales do not fit");
  refused([&] { tl.dot_scaled(x, i, x.transpose(), i); }, "is none of e2m1");
  refused([&] { tl.tensor(std::vector<int>{1, 2}, {3}, DType::i32); }, "2 values for shape [3]");
  const auto packed = tl.load(place(HostTensor(DType::i4, {2, 2})), {2, 2});
  refused([&] { packed + packed; }, "holds two values an element: tl.dequantize it, or tl.dot");
  refused([&] { tl.sort(packed); }, "does not take packed elements");
  refused([&] { tl.cast(x, DType::i4); }, "op 'cast' cannot make i4");
  refused([&] { tl.full({2}, 1, DType::e2m1); }, "op 'full' cannot make e2m1");
  refused([&] { tl.composite(tl::gemm(packed, packed).tiles(1, 1, 1)); }, "composite 'gemm' does not take i4");
  refused([&] { tl.composite(tl::elementwise("bitwise_or", {x, x}).tiles(1, 1, 1)); }, "needs integers");
  refused([&] { tl.composite(tl::gemm(i, i.transpose()).tiles(1, 1, 1).then("mul", {0.5}).then("bitwise_or", {1})); },
          "fused op 'bitwise_or' needs integers");
  const auto wide = tl.cast(i, DType::u32);
  refused([&] { tl.composite(tl::elementwise("add", {wide, wide}).tiles(1, 1, 1)); }, "does not take u32");
  refused(
      [&] {
        tl.composite(tl::gemm(i, i.transpose()).tiles(1, 1, 1).then("add", {wide.slice(0, 0, 1).slice(1, 0, 1)}));
      },
      "is of a type that no composite takes");
  refused([&] { tl.dot(wide, wide.transpose()); }, "op 'dot' accumulates in i32");
}

TEST_F(OpsTest, a_pending_index_outside_is_named_by_phase_2) {
  const auto x = loaded({3}, {1, 2, 3});
  tl.gather(x, tl.cast(x, DType::i32) + 1, 0);
  try {
    replay(system.records, start());
    FAIL() << "it gathers";
  } catch (const ReplayError& e) {
    EXPECT_NE(std::string(e.what()).find("(gather): gather: index 3 at element 1 leaves the axis of 3"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace kernbench::testing
