// SPDX-License-Identifier: Apache-2.0
// Composites: submitted commands, Phase 2's results for fused ops, and refusals.
#include <gtest/gtest.h>

#include <algorithm>

#include "tl_fixture.h"

namespace kernbench::testing {
namespace {

class CompositeTest : public TlTest {
 protected:
  const Floats six_{1, 2, 3, 4, 5, 6};
  tl::Block a_ = place(DType::f32, six_).block({2, 3});
  tl::Block b_ = place(DType::f32, {1, 0, 2, -1, 1, 0}).block({3, 2});
  const Floats product_{8, -2, 20, -5};  // [[1,2,3],[4,5,6]] · [[1,0],[2,-1],[1,0]]

  void SetUp() override {
    // Rows of b: [1,0], [2,-1], [1,0].
    ASSERT_EQ(values(tl.dot(tl.load(a_), tl.load(b_))), product_);
  }
};

TEST_F(CompositeTest, a_gemm_from_memory_to_memory_is_one_command_without_tcm) {
  const auto c = fresh(DType::f32, 4).block({2, 2});
  const size_t before = backend.commands.size();
  const size_t waits = backend.waits.size();
  const tl::Tensor done = tl.composite(tl::gemm(a_, b_).tiles(32, 1, 2).out(c));
  const int line = __LINE__ - 1;
  EXPECT_EQ(backend.commands.size(), before + 1);
  EXPECT_EQ(backend.waits.size(), waits) << "it returns at once";
  EXPECT_EQ(backend.tcm().used_bytes(), 0u);
  const OpDesc d = last();
  EXPECT_EQ(d.type, CommandType::composite);
  EXPECT_EQ(d.kind, OpKind::gemm);
  EXPECT_EQ(d.name, "composite_gemm");
  EXPECT_EQ(d.op, "gemm");
  EXPECT_EQ(d.where.line, line);
  EXPECT_EQ(d.handle_id, done.id());
  EXPECT_EQ(Dims({d.m, d.n, d.k}), (Dims{2, 2, 3}));
  EXPECT_EQ(Dims({d.tile_m, d.tile_n, d.tile_k}), (Dims{2, 1, 2})) << "tiles are cut to the shape";
  EXPECT_EQ(d.output.addr, c.ptr().addr);
  tl.wait(done);
  EXPECT_EQ(backend.waits.size(), waits + 1);
  EXPECT_EQ(memory_after(c.ptr(), {4}), product_);
  EXPECT_THROW((void)(done + 1), KernelFault) << "a result in memory is to be waited for, not computed with";
  EXPECT_THROW((void)done.loaded(), KernelFault);
}

TEST_F(CompositeTest, operands_and_result_may_lie_in_tcm) {
  const auto a = tl.load_async(a_);
  const tl::Tensor c = tl.composite(tl::gemm(a, b_));
  EXPECT_EQ(last().operands[0].ref.space, Space::tcm);
  EXPECT_EQ(last().operands[1].ref.space, Space::hbm);
  EXPECT_EQ(last().output.space, Space::tcm);
  EXPECT_EQ(c.dtype(), DType::f32);
  EXPECT_EQ(values(c), product_);
  EXPECT_EQ(values(c + 1), (Floats{9, -1, 21, -4}));
}

TEST_F(CompositeTest, transposed_operands_are_taken_as_they_lie) {
  const auto bt = place(DType::f32, {1, 2, 1, 0, -1, 0}).block({2, 3});
  EXPECT_EQ(values(tl.composite(tl::gemm(a_, bt).transpose_b())), product_);
  EXPECT_EQ(values(tl.composite(tl::gemm(a_, tl.load(bt).transpose()))), product_);
  tl.composite(tl::gemm(a_, tl.load(bt).transpose()));
  EXPECT_TRUE(last().transpose_b);
  EXPECT_EQ(last().operands[1].ref.shape, (Dims{2, 3}));
  const auto at = place(DType::f32, {1, 4, 2, 5, 3, 6}).block({3, 2});
  EXPECT_EQ(values(tl.composite(tl::gemm(at, b_).transpose_a())), product_);
}

TEST_F(CompositeTest, strided_blocks_keep_their_row_stride) {
  const auto wide = place(DType::f32, {0, 1, 2, 3, 0, 4, 5, 6}).block({2, 4});
  EXPECT_EQ(values(tl.composite(tl::gemm(wide.tile(0, 1, 2, 3), b_))), product_);
  tl.composite(tl::gemm(wide.tile(0, 1, 2, 3), b_));
  EXPECT_EQ(last().operands[0].ref.strides, (Dims{4, 1}));
  EXPECT_EQ(values(tl.composite(tl::gemm(tl.ref(a_.ptr(), {2, 2}, 3), b_.rows(0, 2)))), (Floats{5, -2, 14, -5}));
}

TEST_F(CompositeTest, fused_ops_run_in_their_scopes) {
  const auto bias = loaded({2}, {10, 20});
  EXPECT_EQ(values(tl.composite(tl::gemm(a_, b_).then("add", {bias}).then("mul", {0.5}))), (Floats{9, 9, 15, 7.5f}));
  EXPECT_EQ(values(tl.composite(tl::gemm(a_, b_).tiles(2, 2, 1).then("add", {1}, Scope::per_k_tile))),
            (Floats{11, 1, 23, -2}))
      << "three k steps";
  EXPECT_EQ(values(tl.composite(tl::gemm(a_, b_).tiles(1, 1, 3).then("add", {100}, Scope::once))),
            (Floats{8, -2, 20, 95}))
      << "the last output tile only";
  EXPECT_EQ(values(tl.composite(tl::gemm(a_, b_).then("relu"))), (Floats{8, 0, 20, 0}));
  const auto column = loaded({2, 1}, {1, 2});
  tl.composite(tl::gemm(a_, b_).then("fma", {column, 3}));
  ASSERT_EQ(last().epilogue.size(), 1u);
  EXPECT_EQ(last().epilogue[0].op, "fma");
  EXPECT_EQ(last().epilogue[0].operands[0].ref.shape, (Dims{2, 1}));
  EXPECT_EQ(last().epilogue[0].operands[1].scalar, 3);
}

TEST_F(CompositeTest, the_result_is_rounded_once_to_its_type) {
  const auto c = fresh(DType::bf16, 4).block({2, 2});
  tl.wait(tl.composite(tl::gemm(a_, b_).then("add", {0.001}).out(c)));
  EXPECT_EQ(memory_after(c.ptr(), {4}), (Floats{8, -2, 20, -5}));
  const tl::Tensor h = tl.composite(tl::gemm(a_, b_).out_dtype(DType::f16));
  EXPECT_EQ(h.dtype(), DType::f16);
}

TEST_F(CompositeTest, elementwise_heads_take_blocks_tensors_and_immediates) {
  const auto x = place(DType::f32, {1, 2, 3, 4, 5}).block({5});
  const auto y = loaded({5}, {10, 20, 30, 40, 50});
  const auto out = fresh(DType::f32, 5);
  tl.wait(tl.composite(tl::elementwise("fma", {x, y, 1}).tiles(1, 2).then("neg").out(out.block({5}))));
  const OpDesc d = last();
  EXPECT_EQ(d.name, "composite_math");
  EXPECT_EQ(d.op, "fma");
  EXPECT_EQ(Dims({d.m, d.n, d.k}), (Dims{1, 5, 0}));
  EXPECT_EQ(Dims({d.tile_m, d.tile_n, d.tile_k}), (Dims{1, 2, 0}));
  EXPECT_EQ(memory_after(out, {5}), (Floats{-11, -41, -91, -161, -251}));
  EXPECT_EQ(values(tl.composite(tl::elementwise("mul", {a_, a_}))), (Floats{1, 4, 9, 16, 25, 36}));
}

TEST_F(CompositeTest, what_cannot_work_is_refused_in_words) {
  const auto x = loaded({2}, {1, 2});
  const auto wide = loaded({3}, {1, 2, 3});
  const auto said = [&](const tl::Composite& c, const std::string& what) {
    const size_t before = backend.commands.size();
    const std::string m = fault_of([&] { (void)tl.composite(c); });
    EXPECT_NE(m.find(what), std::string::npos) << what << " in: " << m;
    EXPECT_NE(m.find("composite_test.cpp:"), std::string::npos) << m;
    EXPECT_EQ(backend.commands.size(), before);
  };
  said(tl::gemm(a_, a_), "shapes do not fit [m, k] · [k, n]: [2, 3] f32 at hbm");
  said(tl::gemm(a_, place(DType::f16, six_).block({3, 2})), "element types differ");
  said(tl::gemm(a_, 2), "inputs must be blocks or tensors");
  said(tl::gemm(a_, b_).then("add"), "takes 1 operands beside the tile, not 0");
  said(tl::gemm(a_, b_).then("sum"), "no elementwise op");
  said(tl::gemm(a_, b_).then("add", {wide}), "does not broadcast to [2, 2]");
  said(tl::gemm(a_, b_).tiles(0, 1), "must be 1 or more");
  said(tl::gemm(a_, b_).out(fresh(DType::f32, 4).block({4})), "its output is [4] f32");
  said(tl::gemm(a_, b_).out(fresh(DType::i32, 4).block({2, 2})), "cannot give i32");
  said(tl::gemm(a_, b_).out((fresh(DType::f32, 4).cast(DType::i8) + 1).cast(DType::f32).block({2, 2})), "misaligned");
  said(tl::elementwise("softmax", {a_}), "cannot head a composite");
  said(tl::elementwise("add", {a_}), "takes 2 inputs");
  said(tl::elementwise("add", {1, 2}), "needs a tensor or a block");
  said(tl::elementwise("add", {a_, b_}), "shapes differ");
}

TEST_F(CompositeTest, an_operand_that_nothing_wrote_is_a_fault_when_waited_for_or_at_the_end) {
  const auto c = fresh(DType::f32, 4).block({2, 2});
  const auto unwritten = tl::gemm(fresh(DType::f32, 6).block({2, 3}), b_).out(c);
  const tl::Tensor done = tl.composite(unwritten);
  const int line = __LINE__ - 1;
  const std::string m = fault_of([&] { tl.wait(done); });
  EXPECT_NE(m.find("composite_test.cpp:" + std::to_string(line) + ": composite 'gemm' of [2, 3] f32"),
            std::string::npos)
      << m;
  EXPECT_NE(m.find("never written"), std::string::npos) << m;
  tl.finish();  // it was reported once
  tl.composite(unwritten);
  EXPECT_THROW(tl.finish(), KernelFault);
}

TEST_F(CompositeTest, a_kernel_ahead_of_its_effects_may_use_what_it_has_just_stored) {
  backend.run_ahead = true;
  const auto a = tl.load_async(a_);
  const auto copy = fresh(DType::f32, 6).block({2, 3});
  tl.store_async(copy, a);
  const auto c = fresh(DType::f32, 4).block({2, 2});
  const tl::Tensor done = tl.composite(tl::gemm(copy, b_).out(c));
  const tl::Tensor twice = tl.async().mul(a, 2);
  tl.store_async(copy, twice);
  EXPECT_EQ(last().data, nullptr) << "a result is pending, whether memory knows it yet or not";
  tl.wait(done);
  tl.finish();
  backend.catch_up(~Ticket{0});
  EXPECT_EQ(memory_after(c.ptr(), {4}), product_);
  EXPECT_EQ(memory_after(copy.ptr(), {6}), (Floats{2, 4, 6, 8, 10, 12}));
}

TEST_F(CompositeTest, a_composite_reads_what_an_earlier_one_will_make) {
  const tl::Tensor h = tl.composite(tl::gemm(a_, b_));
  const auto c = fresh(DType::f32, 4).block({2, 2});
  tl.composite(tl::gemm(h, h).out(c));
  EXPECT_EQ(values(tl.load(c)), (Floats{24, -6, 60, -15}));
}

}  // namespace
}  // namespace kernbench::testing
