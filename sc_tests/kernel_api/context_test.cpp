// SPDX-License-Identifier: Apache-2.0
// Math, dot and reductions: the command that each call submits, Phase 2's result, and the messages of refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kernbench/phase2/op/math_op.h"
#include "tl_fixture.h"

namespace kernbench::testing {
namespace {

class ContextTest : public TlTest {
 protected:
  const Floats a_{0.5f, -1.25f, 2, 3, -0.75f, 4};
  const Floats b_{1.5f, 2, -0.5f, 3, 1, -2};

  void expect_values(const tl::Tensor& t, const std::function<double(size_t)>& want) {
    const Floats got = values(t);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want(i), 1e-6 * (1 + std::fabs(want(i)))) << i;
  }
};

TEST_F(ContextTest, says_where_a_pe_stands_in_the_launch) {
  tl::Program p;
  p.pe = 3;
  p.pes = 8;
  p.cube = 1;
  p.cubes = 2;
  p.rank = 1;
  p.ranks = 3;
  p.index = 11;
  p.size = 16;
  const tl::Context c(backend, p);
  EXPECT_EQ(c.program_id(0), 3);
  EXPECT_EQ(c.num_programs(0), 8);
  EXPECT_EQ(c.program_id(1), 1);
  EXPECT_EQ(c.num_programs(1), 2);
  EXPECT_EQ(c.program_id(2), 1);
  EXPECT_EQ(c.num_programs(2), 3);
  EXPECT_EQ(c.rank(), 1);
  EXPECT_EQ(c.world_size(), 3);
  EXPECT_EQ(c.index(), 11);
  EXPECT_EQ(c.size(), 16);
  EXPECT_THROW((void)c.program_id(3), KernelFault);
  EXPECT_EQ(tl::Context::cdiv(7, 3), 3);
  EXPECT_EQ(tl::Context::cdiv(6, 3), 2);
}

TEST_F(ContextTest, unary_ops_give_what_their_names_say) {
  const auto x = loaded({2, 3}, a_);
  const auto positive = loaded({2, 3}, {0.5f, 1.25f, 2, 3, 0.75f, 4});
  const auto p = [&](size_t i) { return std::fabs(static_cast<double>(a_[i])); };
  const auto v = [&](size_t i) { return static_cast<double>(a_[i]); };
  expect_values(tl.exp(x), [&](size_t i) { return std::exp(v(i)); });
  expect_values(tl.log(positive), [&](size_t i) { return std::log(p(i)); });
  expect_values(tl.sqrt(positive), [&](size_t i) { return std::sqrt(p(i)); });
  expect_values(tl.rsqrt(positive), [&](size_t i) { return 1 / std::sqrt(p(i)); });
  expect_values(tl.sigmoid(x), [&](size_t i) { return 1 / (1 + std::exp(-v(i))); });
  expect_values(tl.tanh(x), [&](size_t i) { return std::tanh(v(i)); });
  expect_values(tl.erf(x), [&](size_t i) { return std::erf(v(i)); });
  expect_values(tl.abs(x), [&](size_t i) { return std::fabs(v(i)); });
  expect_values(tl.neg(x), [&](size_t i) { return -v(i); });
  expect_values(-x, [&](size_t i) { return -v(i); });
  expect_values(tl.floor(x), [&](size_t i) { return std::floor(v(i)); });
  expect_values(tl.relu(x), [&](size_t i) { return std::max(0.0, v(i)); });
  expect_values(tl.gelu(x), [&](size_t i) { return 0.5 * v(i) * (1 + std::erf(v(i) / std::sqrt(2.0))); });
  expect_values(tl.silu(x), [&](size_t i) { return v(i) / (1 + std::exp(-v(i))); });
}

TEST_F(ContextTest, binary_and_ternary_ops_and_operators_give_what_their_names_say) {
  const auto x = loaded({6}, a_);
  const auto y = loaded({6}, b_);
  const auto a = [&](size_t i) { return static_cast<double>(a_[i]); };
  const auto b = [&](size_t i) { return static_cast<double>(b_[i]); };
  expect_values(x + y, [&](size_t i) { return a(i) + b(i); });
  expect_values(x - y, [&](size_t i) { return a(i) - b(i); });
  expect_values(x * y, [&](size_t i) { return a(i) * b(i); });
  expect_values(x / y, [&](size_t i) { return a(i) / b(i); });
  expect_values(2.0 - x, [&](size_t i) { return 2 - a(i); });
  expect_values(1 / y, [&](size_t i) { return 1 / b(i); });
  expect_values(tl.maximum(x, y), [&](size_t i) { return std::max(a(i), b(i)); });
  expect_values(tl.minimum(x, 0.25), [&](size_t i) { return std::min(a(i), 0.25); });
  expect_values(tl.fma(x, y, -1), [&](size_t i) { return a(i) * b(i) - 1; });
  expect_values(tl.clamp(x, -0.5, y), [&](size_t i) { return std::min(std::max(a(i), -0.5), b(i)); });
  expect_values(x < y, [&](size_t i) { return a(i) < b(i); });
  expect_values(x <= y, [&](size_t i) { return a(i) <= b(i); });
  expect_values(x > y, [&](size_t i) { return a(i) > b(i); });
  expect_values(x >= y, [&](size_t i) { return a(i) >= b(i); });
  expect_values(x == y, [&](size_t i) { return a(i) == b(i); });
  expect_values(x != y, [&](size_t i) { return a(i) != b(i); });
  expect_values(tl.where(x > 0, x, y), [&](size_t i) { return a(i) > 0 ? a(i) : b(i); });
  tl::Tensor z = x;
  z += y;
  z -= 1;
  z *= 2;
  z /= x;
  expect_values(z, [&](size_t i) { return (a(i) + b(i) - 1) * 2 / a(i); });
}

TEST_F(ContextTest, every_op_that_phase_2_knows_has_a_call) {
  const auto x = loaded({2, 2}, {1, 2, 3, 4});
  for (const MathOp& op : math_ops()) {
    if (!op.is_elementwise() || op.name == "cast") continue;
    const tl::Tensor y = op.integer_only ? tl.cast(x, DType::i32) : static_cast<const tl::Tensor&>(x);
    switch (op.arity) {
      case 1:
        (void)tl.op(op.name.data(), {y});
        break;
      case 2:
        (void)tl.op(op.name.data(), {y, y});
        break;
      default:
        (void)tl.op(op.name.data(), {y, y, y});
    }
    EXPECT_EQ(last().op, op.name);
    EXPECT_EQ(last().output.dtype, op.result == ResultRule::boolean ? DType::u8 : y.dtype()) << op.name;
  }
}

TEST_F(ContextTest, shapes_broadcast_as_numpy_does) {
  const auto column = loaded({2, 1}, {10, 20});
  const auto row = loaded({3}, {1, 2, 3});
  const tl::Tensor sum = column + row;
  EXPECT_EQ(sum.shape(), (Dims{2, 3}));
  EXPECT_EQ(values(sum), (Floats{11, 12, 13, 21, 22, 23}));
  const tl::Tensor wide = row.broadcast_to({2, 3}) + 0.0;
  EXPECT_EQ(values(wide), (Floats{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(values(loaded({2, 3}, {0, 1, 2, 3, 4, 5}).transpose() + loaded({2}, {10, 20})),
            (Floats{10, 23, 11, 24, 12, 25}));
}

TEST_F(ContextTest, reductions_drop_or_keep_their_axis) {
  const auto x = loaded({2, 3}, {1, 5, 3, -4, 0, 9});
  EXPECT_EQ(values(tl.sum(x, 0)), (Floats{-3, 5, 12}));
  EXPECT_EQ(values(tl.sum(x, -1)), (Floats{9, 5}));
  EXPECT_EQ(values(tl.max(x, 1)), (Floats{5, 9}));
  EXPECT_EQ(values(tl.min(x, 0)), (Floats{-4, 0, 3}));
  EXPECT_EQ(values(tl.argmax(x, 1)), (Floats{1, 2}));
  EXPECT_EQ(tl.argmax(x, 1).dtype(), DType::i32);
  EXPECT_EQ(tl.sum(x, 1, true).shape(), (Dims{2, 1}));
  EXPECT_EQ(tl.sum(x, 0, true).shape(), (Dims{1, 3}));
  EXPECT_EQ(tl.sum(x).shape(), Dims{});
  EXPECT_EQ(values(tl.sum(x)), Floats{14});
  EXPECT_EQ(values(tl.argmax(x)), Floats{5});
  EXPECT_EQ(tl.max(x, tl::all_axes, true).shape(), (Dims{1, 1}));
  EXPECT_EQ(values(tl.sum(x.transpose(), 0)), (Floats{9, 5}));
  EXPECT_EQ(values(tl.sum(x.transpose())), Floats{14});
  EXPECT_EQ(values(tl.sum(loaded({1, 3}, {1, 2, 3}).broadcast_to({4, 3}), 0)), (Floats{4, 8, 12}));
}

TEST_F(ContextTest, sums_of_narrow_integers_do_not_overflow) {
  const auto x = loaded({4}, {100, 100, 100, -1}, DType::i8);
  const tl::Tensor s = tl.sum(x, 0);
  EXPECT_EQ(s.dtype(), DType::i32);
  EXPECT_EQ(values(s), Floats{299});
}

TEST_F(ContextTest, softmax_works_along_its_axis) {
  const auto x = loaded({2, 2}, {0, 1, 2, 2});
  const double e = std::exp(1.0);
  const Floats rows = values(tl.softmax(x));
  EXPECT_NEAR(rows[0], 1 / (1 + e), 1e-6);
  EXPECT_NEAR(rows[2], 0.5, 1e-6);
  const Floats cols = values(tl.softmax(x, 0));
  EXPECT_NEAR(cols[0], 1 / (1 + e * e), 1e-6);
}

TEST_F(ContextTest, makes_tensors_from_nothing_and_casts_them) {
  EXPECT_EQ(values(tl.full({2, 2}, 1.5, DType::bf16)), Floats(4, 1.5f));
  EXPECT_EQ(values(tl.zeros({3}, DType::i8)), Floats(3, 0));
  EXPECT_EQ(values(tl.arange(2, 6)), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(values(tl.arange(0, 1, 0.25, DType::f32)), (Floats{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(values(tl.arange(3, 0, -2)), (Floats{3, 1}));
  EXPECT_EQ(values(tl.cast(loaded({3}, {1.7f, -1.7f, 300}), DType::i8)), (Floats{1, -1, 127}));
  EXPECT_EQ(values(tl.copy(loaded({2, 2}, {1, 2, 3, 4}).transpose())), (Floats{1, 3, 2, 4}));
  EXPECT_THROW((void)tl.arange(2, 2), KernelFault);
  EXPECT_THROW((void)tl.arange(0, 5, 0), KernelFault);
  EXPECT_THROW((void)tl.zeros({2, 0}, DType::f32), KernelFault);
}

TEST_F(ContextTest, dot_multiplies_views_without_copies) {
  const auto a = loaded({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto b = loaded({2, 3}, {1, 0, 2, -1, 1, 0});
  const size_t before = backend.commands.size();
  const tl::Tensor c = tl.dot(a, b.transpose());
  EXPECT_EQ(backend.commands.size(), before + 1);
  EXPECT_EQ(last().name, "gemm_f32");
  EXPECT_FALSE(last().transpose_a);
  EXPECT_TRUE(last().transpose_b);
  EXPECT_EQ(last().operands[1].ref.shape, (Dims{2, 3})) << "as stored";
  EXPECT_EQ(last().m, 2);
  EXPECT_EQ(last().n, 2);
  EXPECT_EQ(last().k, 3);
  EXPECT_EQ(values(c), (Floats{7, 1, 16, 1}));
  EXPECT_EQ(values(tl.dot(a.transpose(), b)), (Floats{-3, 4, 2, -3, 5, 4, -3, 6, 6}));
  EXPECT_EQ(values(tl.dot(a.slice(1, 1, 2), b.slice(1, 0, 2))), (Floats{-1, 3, -1, 6}));
  const auto row = loaded({1, 3}, {1, 2, 3});
  EXPECT_EQ(values(tl.dot(row, row.transpose())), Floats{14});
  EXPECT_EQ(values(tl.dot(row.transpose(), row)), (Floats{1, 2, 3, 2, 4, 6, 3, 6, 9}));
  EXPECT_THROW((void)tl.dot(row.broadcast_to({3, 3}), row.broadcast_to({3, 3})), KernelFault);
}

TEST_F(ContextTest, dot_gives_its_accumulator_type_unless_told_otherwise) {
  const auto h = loaded({2, 2}, {1, 2, 3, 4}, DType::f16);
  const auto i = loaded({2, 2}, {100, 100, 100, 100}, DType::i8);
  EXPECT_EQ(tl.dot(h, h).dtype(), DType::f32);
  EXPECT_EQ(last().dtype_acc, DType::f32);
  EXPECT_EQ(tl.dot(h, h, DType::f16).dtype(), DType::f16);
  EXPECT_EQ(values(tl.dot(i, i)), Floats(4, 20000));
  EXPECT_EQ(last().type, CommandType::store);
  EXPECT_EQ(tl.dot(i, i).dtype(), DType::i32);
  EXPECT_THROW((void)tl.dot(i, i, DType::f32), KernelFault);
}

TEST_F(ContextTest, calls_that_cannot_work_name_both_operands_and_the_line) {
  const auto a = loaded({2, 3}, Floats(6, 0));
  const auto b = loaded({2, 4}, Floats(8, 0));
  const auto h = loaded({2, 3}, Floats(6, 0), DType::f16);
  const auto i = loaded({2, 3}, Floats(6, 0), DType::i8);
  const int line = __LINE__ + 1;
  const std::string shapes = fault_of([&] { (void)(a + b); });
  EXPECT_EQ(shapes, "context_test.cpp:" + std::to_string(line) + ": op 'add': shapes do not fit: h" +
                        std::to_string(a.id()) + " (shape [2, 3] f32), h" + std::to_string(b.id()) +
                        " (shape [2, 4] f32)");
  const std::string types = fault_of([&] { (void)tl.maximum(a, h); });
  EXPECT_NE(types.find("element types differ: h" + std::to_string(a.id()) + " (shape [2, 3] f32), h" +
                       std::to_string(h.id()) + " (shape [2, 3] f16)"),
            std::string::npos)
      << types;
  const std::string dot = fault_of([&] { (void)tl.dot(a, b); });
  EXPECT_NE(dot.find("(shape [2, 3] f32) and h" + std::to_string(b.id()) + " (shape [2, 4] f32)"), std::string::npos)
      << dot;
  EXPECT_NE(fault_of([&] { (void)tl.exp(i); }).find("needs floats"), std::string::npos);
  EXPECT_NE(fault_of([&] { (void)(i + 0.5); }).find("immediate 0.5 is no i8"), std::string::npos);
  EXPECT_NE(fault_of([&] { (void)(i * 128); }).find("immediate 128 is no i8"), std::string::npos);
  EXPECT_EQ(fault_of([&] { (void)(i * 127); }), "");
  EXPECT_NE(fault_of([&] { (void)tl.sum(a, 2); }).find("axis 2 does not exist"), std::string::npos);
  EXPECT_NE(fault_of([&] { (void)tl.op("add", {a}); }).find("takes 2 operands, not 1"), std::string::npos);
  EXPECT_NE(fault_of([&] { (void)tl.op("frobnicate", {a}); }).find("no op 'frobnicate'"), std::string::npos);
}

TEST_F(ContextTest, commands_know_their_source_line_and_handle) {
  const auto x = loaded({2}, {1, 2});
  const tl::Tensor y = tl.exp(x);
  EXPECT_EQ(last().where.line, __LINE__ - 1);
  EXPECT_EQ(last().handle_id, y.id());
  const tl::Tensor z = x * 2;
  EXPECT_EQ(last().where.line, __LINE__ - 1);
  (void)tl.sum(z, 0);
  EXPECT_EQ(last().where.line, __LINE__ - 1);
  EXPECT_EQ(last().operands[0].ref.addr, z.ref().addr);
  EXPECT_TRUE(last().reduction);
}

TEST_F(ContextTest, async_calls_return_before_they_are_waited_for) {
  const auto x = loaded({2}, {1, 2});
  const size_t waits = backend.waits.size();
  const tl::Tensor y = tl.async().exp(x);
  const tl::Tensor z = tl.dot_async(x.reshape({1, 2}), x.reshape({2, 1}));
  const tl::Event e = tl.async().store(fresh(DType::f32, 2), x);
  EXPECT_EQ(backend.waits.size(), waits);
  tl.wait(y, z, e);
  EXPECT_EQ(backend.waits.size(), waits + 3);
  tl.wait(y);
  EXPECT_EQ(backend.waits.size(), waits + 3) << "waiting twice is harmless";
  EXPECT_THROW(tl.wait(tl::Event()), KernelFault);
}

TEST_F(ContextTest, a_load_in_flight_is_waited_for_before_another_command_uses_it) {
  const auto p = place(DType::f32, {1, 2, 3, 4});
  const auto use = [&](const std::function<void(const tl::Loaded&)>& f) {
    const auto x = tl.load_async(p, {2, 2});
    EXPECT_EQ(backend.loads_in_flight(), 1u);
    f(x);
    EXPECT_EQ(backend.loads_in_flight(), 0u);
  };
  use([&](const tl::Loaded& x) { (void)(x + 1); });
  use([&](const tl::Loaded& x) { (void)tl.dot(x, x); });
  use([&](const tl::Loaded& x) { tl.store_async(fresh(DType::f32, 4), x); });
  use([&](const tl::Loaded& x) { (void)tl.composite(tl::gemm(x, x)); });
  use([&](const tl::Loaded& x) { (void)tl.composite(tl::elementwise("exp", {1.0 * x}).then("add", {x})); });
  use([&](const tl::Loaded& x) { (void)tl.load(p.block({2, 2}), x, 0); });
}

}  // namespace
}  // namespace kernbench::testing
