// SPDX-License-Identifier: Apache-2.0
// Pending bytes can be computed while Phase 1 runs, with the bits of Phase 2, from only the ops that they depend on.
#include "kernbench/phase2/graph/pending_values.h"

#include <gtest/gtest.h>

#include "kernbench/phase2/graph/executor.h"
#include "random_programs.h"

namespace kernbench::testing::pending_values {
namespace {

constexpr MemoryImage::SpaceKey kHbm{Space::hbm, kNoPe};

/// One PE's commands over an image with 0 … 15 as f32 at hbm 0.
class PendingBytes : public ::testing::Test {
 protected:
  PendingBytes() {
    for (int i = 0; i < 16; ++i) x_.push_back(static_cast<float>(i));
    image_.write(kHbm, 0, x_.data(), 64);
  }
  void run(CommandType type, const std::string& op, const std::vector<Operand>& operands, const TensorRef& out) {
    auto d = std::make_shared<OpDesc>();
    d->type = type;
    d->name = d->op = op;
    d->operands = operands;
    d->output = out;
    d->pe = 0;
    d->seq = seq_++;
    if (op == "sum") d->reduction = true;
    values_.apply(d, image_);
  }
  std::vector<float> floats(const TensorRef& t, const MaterializeLimits& limits = {}) {
    std::vector<float> v(static_cast<size_t>(t.shape.elements()));
    done_ = {};
    values_.read(image_, MemoryImage::key_of(t), t.addr, v.data(), t.nbytes(), 0, limits, &done_);
    return v;
  }
  std::vector<float> x_;
  MemoryImage image_;
  PendingValues values_;
  Materialization done_;
  uint64_t seq_ = 0;
};

using Floats = std::vector<float>;

TEST_F(PendingBytes, come_from_what_operands_held_at_the_submission) {
  const TensorRef a = tcm(0, 0, DType::f32, {4}), b = tcm(0, 64, DType::f32, {4});
  run(CommandType::load, "dma_read", {operand(hbm(0, DType::f32, {4}))}, a);
  run(CommandType::math, "neg", {operand(a)}, b);
  run(CommandType::load, "dma_read", {operand(hbm(32, DType::f32, {4}))}, a);  // the operand's TCM is reused
  EXPECT_EQ(floats(b), (Floats{0, -1, -2, -3}));
  EXPECT_EQ(image_.state_of(b).state, MemoryImage::State::pending) << "asking changes nothing";
}

TEST_F(PendingBytes, run_only_the_ops_they_depend_on_and_each_once) {
  const TensorRef a = tcm(0, 0, DType::f32, {4}), b = tcm(0, 64, DType::f32, {4}), c = tcm(0, 128, DType::f32, {4});
  run(CommandType::math, "neg", {operand(hbm(0, DType::f32, {4}))}, a);
  run(CommandType::math, "exp", {operand(hbm(16, DType::f32, {4}))}, b);
  run(CommandType::math, "add", {operand(a), operand(a)}, c);
  EXPECT_EQ(floats(c), (Floats{0, -2, -4, -6}));
  ASSERT_EQ(done_.computed.size(), 2u);
  EXPECT_EQ(done_.computed[0].seq, 0u);
  EXPECT_EQ(done_.computed[1].seq, 2u);
  EXPECT_EQ(done_.bytes, 32u);
  floats(a);
  EXPECT_TRUE(done_.computed.empty()) << "its value is there already";
}

TEST_F(PendingBytes, of_a_range_may_be_real_pending_and_unwritten) {
  run(CommandType::math, "neg", {operand(hbm(16, DType::f32, {2}))}, hbm(64, DType::f32, {2}));
  EXPECT_EQ(floats(hbm(56, DType::f32, {6})), (Floats{14, 15, -4, -5, 0, 0}));
}

TEST_F(PendingBytes, of_views_partial_ranges_and_masked_moves_are_right) {
  const TensorRef square = tcm(0, 0, DType::f32, {4, 4});
  run(CommandType::math, "neg", {operand(hbm(0, DType::f32, {4, 4}))}, square);
  TensorRef transposed = square;
  transposed.strides = {1, 4};
  run(CommandType::math, "abs", {operand(transposed)}, tcm(0, 256, DType::f32, {4, 4}));
  EXPECT_EQ(floats(tcm(0, 256 + 16, DType::f32, {4})), (Floats{1, 5, 9, 13}));
  TensorRef column = square;
  column.shape = {4};
  column.strides = {4};
  run(CommandType::store, "dma_write", {operand(column)}, hbm(256, DType::f32, {4}));
  EXPECT_EQ(floats(hbm(256 + 4, DType::f32, {2})), (Floats{-4, -8}));
  const TensorRef mask = tcm(0, 512, DType::u8, {4});
  run(CommandType::math, "gt", {operand(hbm(0, DType::f32, {4})), immediate(1)}, mask);
  run(CommandType::load, "dma_read", {operand(hbm(0, DType::f32, {4})), operand(mask), immediate(-1)},
      tcm(0, 600, DType::f32, {4}));
  EXPECT_EQ(floats(tcm(0, 600, DType::f32, {4})), (Floats{-1, -1, 2, 3}));
}

TEST_F(PendingBytes, beyond_a_limit_are_an_error_that_says_what_they_need) {
  const TensorRef a = tcm(0, 0, DType::f32, {4});
  run(CommandType::math, "neg", {operand(hbm(0, DType::f32, {4}))}, a);
  const auto message = [&](const MaterializeLimits& limits) -> std::string {
    try {
      floats(a, limits);
    } catch (const PendingValueError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({15, 1000, 1000}).find("16 bytes of tcm at 0x0 of PE 0 are more than"), std::string::npos);
  EXPECT_NE(message({16, 15, 1000}).find("depend on 1 ops of 4 operations and 16 bytes"), std::string::npos);
  EXPECT_NE(message({16, 16, 3}).find("at most 3 operations"), std::string::npos);
  EXPECT_EQ(message({16, 16, 4}), "");
}

TEST_F(PendingBytes, of_a_long_chain_need_no_deep_stack) {
  const TensorRef a = tcm(0, 0, DType::f32, {1});
  run(CommandType::load, "dma_read", {operand(hbm(4, DType::f32, {1}))}, a);
  for (int i = 0; i < 30000; ++i) run(CommandType::math, "neg", {operand(a)}, a);
  EXPECT_EQ(values_.kept(), 30000u);
  EXPECT_EQ(floats(a), (Floats{1}));
  EXPECT_EQ(values_.kept(), 1u) << "an op whose value is there needs its operands no more";
  for (int i = 0; i < 30000; ++i) run(CommandType::math, "neg", {operand(a)}, a);
  run(CommandType::load, "dma_read", {operand(hbm(4, DType::f32, {1}))}, a);
  EXPECT_EQ(values_.kept(), 0u) << "what memory no longer names is forgotten";
}

TEST_F(PendingBytes, read_from_outside_are_refused_or_computed) {
  run(CommandType::math, "neg", {operand(hbm(4, DType::f32, {1}))}, hbm(64, DType::f32, {1}));
  float v[2] = {7, 7};
  const auto maker = read_from_outside(image_, nullptr, kHbm, 64, v, 8);
  ASSERT_NE(maker, nullptr);
  EXPECT_EQ(maker->name, "neg");
  EXPECT_EQ(v[0], 7.0f);
  EXPECT_EQ(read_from_outside(image_, &values_, kHbm, 64, v, 8), nullptr);
  EXPECT_EQ(v[0], -1.0f);
  EXPECT_EQ(v[1], 0.0f);
  EXPECT_EQ(read_from_outside(image_, nullptr, kHbm, 0, v, 8), nullptr);
  EXPECT_EQ(v[1], 1.0f);
}

TEST(PendingValues, equal_a_sequential_machine_at_every_moment_of_random_programs) {
  const unsigned seed = chosen_seed();
  SCOPED_TRACE("KERNBENCH_SEED=" + std::to_string(seed));
  size_t computed = 0;
  for (unsigned round = 0; round < 40; ++round) {
    const Program p = Generator(seed + round).make(120);
    SequentialMachine machine(p.image);
    MemoryImage image = p.image;
    PendingValues values;
    std::mt19937 rng(seed + round);
    size_t at = 0;
    for (const OpRecord* r : in_effect_order(p.records)) {
      machine.run(*r->desc);
      values.apply(r->desc, image);
      ++at;
      if (rng() % 8 != 0) continue;
      const auto compare = [&](TensorRef memory, uint64_t nbytes) {
        memory.addr = rng() % nbytes;
        memory.shape[0] = 1 + static_cast<int64_t>(rng() % (nbytes - memory.addr));
        Bytes got(memory.nbytes());
        Materialization done;
        values.read(image, MemoryImage::key_of(memory), memory.addr, got.data(), got.size(), 0, {}, &done);
        computed += done.computed.size();
        ASSERT_EQ(difference(got, machine.get(memory)), "") << "round " << round << " op " << at;
      };
      compare(hbm(0, DType::u8, {1}), kHbmBytes);
      for (uint32_t pe = 0; pe < kPes; ++pe) compare(tcm(pe, 0, DType::u8, {1}), kTcmBytes);
    }
  }
  EXPECT_GT(computed, 500u);
}

}  // namespace
}  // namespace kernbench::testing::pending_values
