// SPDX-License-Identifier: Apache-2.0
// Random programs for the tests of replay: logs like those of Phase 1, with every kind of op over small memories.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/log/op_record.h"
#include "kernbench/phase2/memory/memory_image.h"
#include "replay_helpers.h"
#include "sequential_machine.h"

namespace kernbench::testing {

constexpr uint64_t kHbmBytes = 8192, kTcmBytes = 4096;
constexpr uint32_t kPes = 2;

struct Program {
  MemoryImage image;
  std::vector<OpRecord> records;
};

/// Random commands of two PEs over small memories, so that many overlap.
class Generator {
 public:
  explicit Generator(unsigned seed) : rng_(seed) {}

  Program make(int ops) {
    Program p;
    p.image.write({Space::hbm, kNoPe}, 0, noise(kHbmBytes).data(), kHbmBytes);
    for (uint32_t pe = 0; pe < kPes; ++pe) p.image.write({Space::tcm, pe}, 0, noise(kTcmBytes).data(), kTcmBytes);
    uint64_t seq[kPes] = {};
    double now = 1000;  // leaves space for effects that are moved to an earlier time
    for (int i = 0; i < ops; ++i) {
      const auto pe = static_cast<uint32_t>(pick(kPes));
      auto d = command(pe);
      d->pe = pe;
      d->seq = seq[pe]++;
      d->submit_ns = now;
      now += static_cast<double>(pick(3));  // ties are frequent
      p.records.push_back(record(static_cast<uint64_t>(i) + 1, d, d->submit_ns + static_cast<double>(pick(8))));
    }
    for (size_t i = 1; i < p.records.size(); ++i) {
      if (pick(6) == 0) make_dependent(p.records[i], p.records[i - 1 - pick(std::min<size_t>(i, 6))]);
    }
    give_data_to_real_stores(p);
    std::shuffle(p.records.begin(), p.records.end(), rng_);
    return p;
  }

 private:
  uint64_t pick(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(rng_); }
  Bytes noise(uint64_t n) { return random_tensor(DType::f32, {static_cast<int64_t>(n / 4)}, rng_()); }
  DType dtype() {
    constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2,
                                DType::i32, DType::i8,  DType::u8,   DType::i16};
    return kTypes[pick(9)];
  }
  int64_t extent(uint64_t n) { return 1 + static_cast<int64_t>(pick(n)); }

  /// Anywhere in HBM: contiguous, rows, a transposed view or a repeated row.
  TensorRef anywhere(DType t, const Dims& shape, bool may_repeat) {
    Dims strides = TensorRef::row_major(shape);
    if (shape.rank() == 2) {
      const uint64_t kind = pick(may_repeat ? 5 : 4);
      if (kind == 1 || kind == 2) strides = {shape[1] + static_cast<int64_t>(pick(9)), 1};
      if (kind == 3) strides = {1, shape[0] + static_cast<int64_t>(pick(3))};
      if (kind == 4) strides = {0, 1};
    }
    TensorRef r = hbm(0, t, shape, strides);
    r.addr = pick((kHbmBytes - r.span_bytes()) / 4) * 4;
    return r;
  }
  TensorRef handle(uint32_t pe, DType t, const Dims& shape) {
    TensorRef r = tcm(pe, 0, t, shape);
    r.addr = pick((kTcmBytes - r.nbytes()) / 4) * 4;
    return r;
  }
  TensorRef either(uint32_t pe, DType t, const Dims& shape) {
    return pick(4) ? handle(pe, t, shape) : anywhere(t, shape, true);
  }
  TensorRef target(uint32_t pe, DType t, const Dims& shape) {
    return pick(4) ? handle(pe, t, shape) : anywhere(t, shape, false);
  }

  std::shared_ptr<OpDesc> command(uint32_t pe) {
    auto d = std::make_shared<OpDesc>();
    const Dims shape = pick(3) ? Dims{extent(9), extent(40)} : Dims{extent(300)};
    DType t = dtype();
    switch (pick(8)) {
      case 0:
      case 1:
        d->type = CommandType::load;
        d->name = "dma_read";
        d->kind = OpKind::memory;
        d->operands = {operand(anywhere(t, shape, true))};
        if (pick(4) == 0) {
          d->operands.push_back(operand(handle(pe, DType::u8, shape)));
          d->operands.push_back(immediate(3));
        }
        d->output = handle(pe, t, shape);
        break;
      case 2:
      case 3:
        d->type = CommandType::store;
        d->name = "dma_write";
        d->kind = OpKind::memory;
        d->operands = {operand(handle(pe, t, shape))};
        if (pick(4) == 0) d->operands.push_back(operand(handle(pe, DType::u8, shape)));
        d->output = anywhere(t, shape, false);
        break;
      case 4: {
        d->type = CommandType::gemm;
        d->kind = OpKind::gemm;
        d->name = d->op = "gemm";
        gemm(*d, pe, t);
        break;
      }
      case 5: {
        d->type = CommandType::composite;
        d->kind = OpKind::gemm;
        d->name = "composite_gemm";
        d->op = "gemm";
        gemm(*d, pe, t);
        d->tile_m = extent(6);
        d->tile_n = extent(6);
        d->tile_k = extent(12);
        constexpr Scope kScopes[] = {Scope::per_k_tile, Scope::per_output_tile, Scope::once};
        if (pick(2)) d->epilogue.push_back({"add", kScopes[pick(3)], {operand(either(pe, dtype(), {d->n}))}});
        if (pick(2)) d->epilogue.push_back({"mul", kScopes[pick(3)], {immediate(0.5)}});
        if (pick(2)) d->epilogue.push_back({"relu", kScopes[pick(3)], {}});
        break;
      }
      case 6: {
        d->type = CommandType::math;
        const bool column = pick(2);
        d->name = d->op = pick(2) ? "sum" : "max";
        d->reduction = true;
        const Dims two = {extent(9), extent(40)};
        d->axis = column ? 0 : 1;
        d->operands = {operand(either(pe, t, two))};
        d->output = target(pe, t, {column ? two[1] : two[0]});
        break;
      }
      default: {
        d->type = CommandType::math;
        constexpr const char* kOps[] = {"add", "mul", "maximum", "exp", "neg", "where", "cast"};
        constexpr int kArity[] = {2, 2, 2, 1, 1, 3, 1};
        const uint64_t which = pick(7);
        d->name = d->op = kOps[which];
        for (int i = 0; i < kArity[which]; ++i) {
          d->operands.push_back(i == 1 && pick(4) == 0 ? immediate(1.5)
                                                       : operand(either(pe, pick(3) ? t : dtype(), shape)));
        }
        d->output = target(pe, which == 6 ? dtype() : t, shape);
      }
    }
    return d;
  }

  void gemm(OpDesc& d, uint32_t pe, DType t) {
    d.m = extent(9);
    d.n = extent(20);
    d.k = extent(20);
    d.transpose_a = pick(2);
    d.operands = {operand(either(pe, t, d.transpose_a ? Dims{d.k, d.m} : Dims{d.m, d.k})),
                  operand(either(pe, t, {d.k, d.n}))};
    d.output = target(pe, is_float(t) ? t : DType::i32, {d.m, d.n});
  }

  /// An explicit dependency that alone determines the order; the instants would give the opposite order.
  static void make_dependent(OpRecord& r, const OpRecord& on) {
    r.dependency_ids = {on.op_id};
    const double before = on.desc->submit_ns - 0.5;
    std::const_pointer_cast<OpDesc>(r.desc)->submit_ns = before;
    r.t_end = before;
  }

  /// Like Phase 1: a store whose source is real at its submission carries its bytes.
  static void give_data_to_real_stores(Program& p) {
    MemoryImage phase1 = p.image.snapshot();
    for (const OpRecord* r : in_effect_order(p.records)) {
      if (r->desc->type == CommandType::store) {
        const TensorRef& source = r->desc->operands[0].ref;
        if (phase1.state_of(source).state == MemoryImage::State::real) {
          std::const_pointer_cast<OpDesc>(r->desc)->data = std::make_shared<const Bytes>(phase1.gather(source));
        }
      }
      apply_effect(r->desc, phase1);
    }
  }

  std::mt19937 rng_;
};

/// KERNBENCH_SEED, or a fixed default, so that a difference between runs comes from a change. Name it in a
/// SCOPED_TRACE.
inline unsigned chosen_seed() {
  const char* chosen = std::getenv("KERNBENCH_SEED");
  return chosen ? static_cast<unsigned>(std::stoul(chosen)) : 20261121;
}

}  // namespace kernbench::testing
