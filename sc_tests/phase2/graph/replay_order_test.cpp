// SPDX-License-Identifier: Apache-2.0
// Small programs written by hand: order, reuse, dependencies and faults in replay.
#include <gtest/gtest.h>

#include <cstring>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/graph/executor.h"
#include "replay_helpers.h"

namespace kernbench {
namespace {

/// A small program written by hand: one PE, HBM values at 0 (x) and 4096 (y).
class SmallReplay : public ::testing::Test {
 protected:
  SmallReplay() {
    for (int i = 0; i < 16; ++i) x_.push_back(static_cast<float>(i));
    image_.write({Space::hbm, kNoPe}, 0, x_.data(), 64);
  }
  std::shared_ptr<OpDesc> add(CommandType type, const std::string& op, const std::vector<Operand>& operands,
                              const TensorRef& out, double submit, double end) {
    auto d = std::make_shared<OpDesc>();
    d->type = type;
    d->name = d->op = op;
    d->operands = operands;
    d->output = out;
    d->pe = 0;
    d->seq = records_.size();
    d->submit_ns = submit;
    records_.push_back(record(records_.size() + 1, d, end));
    return d;
  }
  float result(uint64_t addr) {
    float v;
    const MemoryImage memory = replay(records_, image_).memory;
    memory.read({Space::hbm, kNoPe}, addr, &v, 4);
    return v;
  }
  std::vector<float> x_;
  MemoryImage image_;
  std::vector<OpRecord> records_;
};

TEST_F(SmallReplay, a_later_reuse_of_tcm_does_not_disturb_an_earlier_reader) {
  const TensorRef a = tcm(0, 0, DType::f32, {4}), b = tcm(0, 64, DType::f32, {4});
  add(CommandType::load, "dma_read", {operand(hbm(0, DType::f32, {4}))}, a, 0, 10);
  add(CommandType::math, "neg", {operand(a)}, b, 11, 50);  // still running at 20
  add(CommandType::load, "dma_read", {operand(hbm(32, DType::f32, {4}))}, a, 12, 20);
  add(CommandType::store, "dma_write", {operand(b)}, hbm(4096, DType::f32, {4}), 51, 60);
  EXPECT_EQ(result(4096 + 12), -3.0f);
}

TEST_F(SmallReplay, a_second_kernel_loads_what_the_first_stored_pending) {
  const TensorRef a = tcm(0, 0, DType::f32, {4}), b = tcm(0, 64, DType::f32, {4}), c = tcm(0, 128, DType::f32, {4});
  add(CommandType::load, "dma_read", {operand(hbm(0, DType::f32, {4}))}, a, 0, 10);
  add(CommandType::math, "neg", {operand(a)}, b, 11, 20);
  add(CommandType::store, "dma_write", {operand(b)}, hbm(4096, DType::f32, {4}), 21, 30);
  add(CommandType::load, "dma_read", {operand(hbm(4096, DType::f32, {4}))}, a, 31, 40);
  add(CommandType::math, "add", {operand(a), operand(a)}, c, 41, 50);
  add(CommandType::store, "dma_write", {operand(c)}, hbm(4096, DType::f32, {4}), 51, 60);
  EXPECT_EQ(result(4096 + 8), -4.0f);
}

TEST_F(SmallReplay, instants_alike_to_the_femtosecond_are_one_and_go_by_pe) {
  const TensorRef a = tcm(0, 0, DType::f32, {1});
  add(CommandType::load, "dma_read", {operand(hbm(0, DType::f32, {1}))}, a, 0, 437.73427734374496);
  auto store = add(CommandType::store, "dma_write", {}, hbm(0, DType::f32, {1}), 437.73427734374428, 500);
  store->pe = 1;
  const float nine = 9;
  Bytes bytes(4);
  std::memcpy(bytes.data(), &nine, 4);
  store->data = std::make_shared<const Bytes>(bytes);
  add(CommandType::store, "dma_write", {operand(a)}, hbm(4096, DType::f32, {1}), 510, 520);
  EXPECT_EQ(result(4096), 0.0f);  // PE 0's load came first
}

TEST_F(SmallReplay, a_load_sees_what_memory_held_at_its_completion) {
  const TensorRef a = tcm(0, 0, DType::f32, {1}), b = tcm(0, 64, DType::f32, {1});
  add(CommandType::load, "dma_read", {operand(hbm(0, DType::f32, {1}))}, a, 0, 30);
  auto store = add(CommandType::store, "dma_write", {operand(b)}, hbm(0, DType::f32, {1}), 10, 90);
  const float nine = 9;
  Bytes bytes(4);
  std::memcpy(bytes.data(), &nine, 4);
  store->data = std::make_shared<const Bytes>(bytes);
  add(CommandType::store, "dma_write", {operand(a)}, hbm(4096, DType::f32, {1}), 40, 50);
  EXPECT_EQ(result(4096), 9.0f);
}

TEST_F(SmallReplay, a_foreign_write_takes_effect_at_its_service) {
  const TensorRef a = tcm(0, 0, DType::f32, {1});
  auto write = std::make_shared<OpDesc>();
  write->type = CommandType::store;
  write->name = "dma_write";
  write->kind = OpKind::memory;
  write->output = hbm(0, DType::u8, {4});
  write->data = std::make_shared<const Bytes>(Bytes{0, 0, 0x80, 0x3f});
  OpRecord foreign = record(77, write, 40);
  foreign.foreign = true;
  foreign.effect_ns = 25;
  records_.push_back(foreign);
  add(CommandType::load, "dma_read", {operand(hbm(0, DType::f32, {1}))}, a, 0, 20);
  add(CommandType::store, "dma_write", {operand(a)}, hbm(4096, DType::f32, {1}), 21, 50);
  EXPECT_EQ(result(4096), 0.0f);
  EXPECT_EQ(result(0), 1.0f);
}

TEST_F(SmallReplay, explicit_dependencies_delay_an_effect) {
  const TensorRef a = tcm(0, 0, DType::f32, {1}), b = tcm(0, 64, DType::f32, {1});
  const float stale = 5;
  image_.write({Space::tcm, 0}, 0, &stale, 4);
  add(CommandType::math, "neg", {operand(a)}, b, 0, 5);  // submitted before the load is done, but with a dependency on
                                                         // it
  add(CommandType::load, "dma_read", {operand(hbm(12, DType::f32, {1}))}, a, 1, 20);
  add(CommandType::store, "dma_write", {operand(b)}, hbm(4096, DType::f32, {1}), 30, 50);
  EXPECT_EQ(result(4096), -5.0f);
  records_[0].dependency_ids = {records_[1].op_id};
  EXPECT_EQ(result(4096), -3.0f);
}

TEST_F(SmallReplay, dependencies_in_a_circle_are_an_error_that_names_the_ops) {
  const TensorRef a = tcm(0, 0, DType::f32, {1});
  add(CommandType::load, "dma_read", {operand(hbm(0, DType::f32, {1}))}, a, 0, 5);
  add(CommandType::load, "dma_read", {operand(hbm(4, DType::f32, {1}))}, a, 1, 6);
  records_[0].dependency_ids = {2};
  records_[1].dependency_ids = {1};
  try {
    replay(records_, image_);
    FAIL();
  } catch (const ReplayError& e) {
    EXPECT_NE(std::string(e.what()).find("1 2"), std::string::npos) << e.what();
  }
}

TEST_F(SmallReplay, reading_what_nothing_wrote_names_op_and_address) {
  add(CommandType::math, "neg", {operand(tcm(0, 0x40, DType::f32, {1}))}, tcm(0, 0, DType::f32, {1}), 0, 5);
  try {
    replay(records_, image_);
    FAIL();
  } catch (const ReplayError& e) {
    EXPECT_NE(std::string(e.what()).find("op 1 (neg)"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("tcm address 0x40 of PE 0"), std::string::npos) << e.what();
  }
}

TEST_F(SmallReplay, an_op_that_cannot_be_evaluated_is_named) {
  add(CommandType::math, "frobnicate", {operand(hbm(0, DType::f32, {1}))}, hbm(4096, DType::f32, {1}), 0, 5);
  for (int threads : {1, 3}) {
    ReplayOptions options;
    options.threads = threads;
    try {
      replay(records_, image_, options);
      FAIL();
    } catch (const ReplayError& e) {
      EXPECT_NE(std::string(e.what()).find("op 1 (frobnicate)"), std::string::npos) << e.what();
    }
  }
}

TEST_F(SmallReplay, tokens_and_unknown_records_are_skipped) {
  OpRecord token;
  token.op_id = 500;
  token.is_token = true;
  records_.push_back(token);
  auto unknown = std::make_shared<OpDesc>();
  unknown->kind = OpKind::unknown;
  records_.push_back(record(501, unknown, 1));
  const ReplayResult r = replay(records_, image_);
  EXPECT_EQ(r.ops, 0u);
  EXPECT_EQ(r.computed, 0u);
}

TEST_F(SmallReplay, the_check_sees_every_op_with_its_producers) {
  const TensorRef a = tcm(0, 0, DType::f32, {4}), b = tcm(0, 64, DType::f32, {4});
  add(CommandType::math, "neg", {operand(hbm(0, DType::f32, {4}))}, a, 0, 5);
  add(CommandType::math, "add", {operand(a), operand(hbm(0, DType::f32, {4}))}, b, 6, 9);
  ReplayOptions options;
  options.threads = 1;
  std::vector<uint64_t> seen;
  options.check = [&](const ReplayedOp& op) {
    seen.push_back(op.record.op_id);
    if (op.record.op_id == 2) {
      EXPECT_EQ(op.producers, (std::vector<std::vector<uint64_t>>{{1}, {}}));
      float v;
      std::memcpy(&v, op.inputs[0].data + 12, 4);
      EXPECT_EQ(v, -3.0f);
      std::memcpy(&v, op.output + 12, 4);
      EXPECT_EQ(v, 0.0f);
    }
  };
  uint64_t done = 0;
  options.progress = [&](const ReplayProgress& p) { done = p.ops_done; };
  replay(records_, image_, options);
  EXPECT_EQ(seen, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(done, 2u);
}

}  // namespace
}  // namespace kernbench
