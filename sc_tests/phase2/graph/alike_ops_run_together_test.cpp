// SPDX-License-Identifier: Apache-2.0
// Ops of one form run as one task: each still gives the same result as alone.
#include <gtest/gtest.h>

#include <cstring>

#include "kernbench/phase2/eval/eval.h"
#include "kernbench/phase2/graph/executor.h"
#include "kernbench/phase2/io/random.h"
#include "replay_helpers.h"

namespace kernbench {
namespace {

constexpr uint64_t kOut = uint64_t{1} << 32;

struct Machine {
  MemoryImage image;
  std::vector<OpRecord> records;
  std::vector<std::pair<TensorRef, Bytes>> expected;

  EvalInput place(const TensorRef& t) {
    const SharedBytes bytes = SharedBytes::take(random_tensor(t.dtype, t.shape, t.addr));
    image.write_shared(MemoryImage::key_of(t), t.addr, bytes);
    return EvalInput::tensor(bytes.data(), t.dtype, t.shape);
  }

  void compute(const std::string& op, const std::vector<TensorRef>& in, const TensorRef& out) {
    auto d = std::make_shared<OpDesc>();
    d->type = op == "gemm" ? CommandType::gemm : CommandType::math;
    d->kind = op == "gemm" ? OpKind::gemm : OpKind::math;
    d->name = d->op = op;
    std::vector<EvalInput> inputs;
    for (const TensorRef& t : in) {
      d->operands.push_back(operand(t));
      inputs.push_back(place(t));
    }
    d->output = out;
    if (op == "gemm") {
      d->m = in[0].shape[0];
      d->k = in[0].shape[1];
      d->n = in[1].shape[1];
    }
    d->pe = 0;
    d->seq = records.size();
    d->submit_ns = static_cast<double>(records.size());
    expected.emplace_back(out, evaluate(*d, inputs));
    records.push_back(record(records.size() + 1, d, d->submit_ns));
  }
};

TEST(OpsAlike, each_give_what_they_give_alone_for_any_number_of_threads) {
  Machine machine;
  uint64_t at = 0;
  const auto next = [&](DType t, const Dims& shape) { return hbm(at += 0x100000, t, shape); };
  const auto out = [&](DType t, const Dims& shape) { return hbm(kOut + at, t, shape); };
  const std::vector<std::array<int64_t, 3>> shapes = {{64, 64, 64}, {33, 17, 70}, {64, 64, 300}};
  for (const auto& [m, n, k] : shapes) {
    for (DType t : {DType::f32, DType::bf16, DType::i8}) {
      const DType to = is_float(t) ? t : DType::i32;
      for (int i = 0; i < 70; ++i) {
        const TensorRef a = next(t, {m, k}), b = next(t, {k, n});
        machine.compute("gemm", {a, b}, out(to, {m, n}));
        if (i % 20 != 19) continue;
        const TensorRef x = next(t, {9, 11}), y = next(t, {9, 11});
        machine.compute("add", {x, y}, out(t, {9, 11}));
      }
    }
  }
  for (int i = 0; i < 70; ++i) {
    const TensorRef x = next(DType::f32, {40, 50});
    machine.compute("exp", {x}, out(DType::f32, {40, 50}));
  }
  for (int threads : {1, 2, 5}) {
    ReplayOptions options;
    options.threads = threads;
    const ReplayResult r = replay(machine.records, machine.image, options);
    EXPECT_EQ(r.computed, machine.records.size());
    for (const auto& [where, bytes] : machine.expected) {
      ASSERT_EQ(r.memory.gather(where), bytes) << threads << " threads, output at " << where.addr;
    }
  }
}

TEST(OpsAlike, of_which_one_is_large_are_cut_into_parts_all_the_same) {
  Machine machine;
  const Dims shape{600, 700};
  for (uint64_t i = 0; i < 3; ++i) {
    const TensorRef a = hbm(i * 0x1000000, DType::f32, shape), b = hbm(i * 0x1000000 + 0x800000, DType::f32, shape);
    machine.compute("add", {a, b}, hbm(kOut + i * 0x1000000, DType::f32, shape));
    const TensorRef x = hbm((8 + i) * 0x1000000, DType::f32, {600, 20}),
                    y = hbm((16 + i) * 0x1000000, DType::f32, {20, 700});
    machine.compute("gemm", {x, y}, hbm(2 * kOut + i * 0x1000000, DType::f32, shape));
  }
  ReplayOptions options;
  options.threads = 3;
  const ReplayResult r = replay(machine.records, machine.image, options);
  for (const auto& [where, bytes] : machine.expected) EXPECT_EQ(r.memory.gather(where), bytes);
}

/// Sum i of x and x. x has 8 x 8 elements in rows 16 apart. It is in the image with that pitch, in the image without
/// gaps (stored to its place), or in the output of one or two ops.
void add_sum(int i, Machine& machine) {
  const uint64_t at = static_cast<uint64_t>(i) * 4096;
  const Dims pitch{16, 1};
  const auto command = [&](CommandType type, const std::string& op, const TensorRef& in, const TensorRef& out) {
    auto d = std::make_shared<OpDesc>();
    d->type = type;
    d->kind = type == CommandType::math ? OpKind::math : OpKind::memory;
    d->name = d->op = op;
    d->operands.push_back(operand(in));
    d->output = out;
    d->pe = 0;
    d->seq = machine.records.size();
    d->submit_ns = static_cast<double>(machine.records.size());
    machine.records.push_back(record(machine.records.size() + 1, d, d->submit_ns));
    return d;
  };
  const TensorRef source = i % 4 == 1 ? tcm(0, at, DType::f32, {8, 8}) : hbm(kOut + at, DType::f32, {8, 16});
  machine.place(i % 4 == 0 ? hbm(at, DType::f32, {8, 16}) : source);
  if (i % 4 == 1) command(CommandType::store, "", source, hbm(at, DType::f32, {8, 8}, pitch));
  if (i % 4 == 2) command(CommandType::math, "neg", source, hbm(at, DType::f32, {8, 16}));
  for (uint64_t half = 0; half < 2 && i % 4 == 3; ++half) {
    command(CommandType::math, "neg", hbm(kOut + at + half * 256, DType::f32, {4, 16}),
            hbm(at + half * 256, DType::f32, {4, 16}));
  }
  const TensorRef x = hbm(at, DType::f32, {8, 8}, pitch);
  const auto sum = command(CommandType::math, "add", x, hbm(2 * kOut + at, DType::f32, {8, 8}));
  sum->operands.push_back(operand(x));
}

TEST(OpsAlike, whose_operands_lie_differently_are_each_read_where_they_lie) {
  constexpr int kSums = 48;
  for (int period : {1, 2, 12}) {  // period of the changes between these layouts
    Machine together;
    std::vector<Bytes> alone;
    for (int i = 0; i < kSums; ++i) {
      const int which = i * 4 + i / period % 4;
      Machine machine;
      add_sum(which, machine);
      add_sum(which, together);
      const TensorRef out = hbm(2 * kOut + static_cast<uint64_t>(which) * 4096, DType::f32, {8, 8});
      alone.push_back(replay(machine.records, machine.image).memory.gather(out));
    }
    const ReplayResult r = replay(together.records, together.image);
    for (int i = 0; i < kSums; ++i) {
      const auto at = static_cast<uint64_t>(i * 4 + i / period % 4) * 4096;
      ASSERT_EQ(r.memory.gather(hbm(2 * kOut + at, DType::f32, {8, 8})), alone[static_cast<size_t>(i)])
          << "sum " << i << ", period " << period;
    }
  }
}

TEST(Replay, leaves_alone_what_no_op_touches_even_if_the_image_only_borrows_it) {
  const Bytes borrowed(10000, 0x5a);
  MemoryImage image;
  image.write_shared({}, 4096, {nullptr, borrowed.data(), borrowed.size()});
  const ReplayResult r = replay({}, image);
  EXPECT_EQ(r.memory.gather(hbm(4096, DType::u8, {10000})), borrowed);
}

}  // namespace
}  // namespace kernbench
