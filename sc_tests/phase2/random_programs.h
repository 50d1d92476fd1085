// Random programs for the tests of replay, and the machine that says what they must give: plain bytes, one op after the
// other in the order of the effects.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "kernbench/phase2/eval.h"
#include "kernbench/phase2/memory_image.h"
#include "kernbench/phase2/op_record.h"
#include "kernbench/phase2/random.h"
#include "replay_helpers.h"

namespace kernbench::testing {

constexpr uint64_t kHbmBytes = 8192, kTcmBytes = 4096;
constexpr uint32_t kPes = 2;

inline double effect_instant(const OpRecord& r) {
  return r.desc->type == CommandType::load ? r.t_end : r.desc->submit_ns;
}

inline std::vector<const OpRecord*> in_effect_order(const std::vector<OpRecord>& records) {
  std::vector<const OpRecord*> order;
  for (const OpRecord& r : records) order.push_back(&r);
  std::sort(order.begin(), order.end(), [](const OpRecord* a, const OpRecord* b) {
    return std::make_tuple(effect_instant(*a), a->desc->pe, a->desc->seq) <
           std::make_tuple(effect_instant(*b), b->desc->pe, b->desc->seq);
  });
  return order;
}

/// A memory of plain bytes and one op after the other.
class SequentialMachine {
 public:
  SequentialMachine(const Bytes& initial_hbm, const std::vector<Bytes>& initial_tcm)
      : hbm_(initial_hbm), tcm_(initial_tcm) {}

  /// Returns the op's output.
  Bytes run(const OpDesc& d) {
    if (d.type == CommandType::store && d.data && d.operands.size() == 1) {
      put(d.output, *d.data);
      return *d.data;
    }
    std::vector<Bytes> bytes;
    std::vector<EvalInput> in;
    for (const Operand& o : inputs_of(d)) bytes.push_back(o.is_scalar ? Bytes{} : get(o.ref));
    const std::vector<Operand> operands = inputs_of(d);
    for (size_t i = 0; i < operands.size(); ++i) {
      in.push_back(operands[i].is_scalar
                       ? EvalInput::immediate(operands[i].scalar)
                       : EvalInput::tensor(bytes[i].data(), operands[i].ref.dtype, operands[i].ref.shape));
    }
    const Bytes out = evaluate(d, in);
    put(d.output, out);
    return out;
  }

  Bytes get(const TensorRef& t) {
    Bytes out;
    each(t, [&](uint8_t* p) { out.push_back(*p); });
    return out;
  }
  void put(const TensorRef& t, const Bytes& bytes) {
    size_t i = 0;
    each(t, [&](uint8_t* p) { *p = bytes.at(i++); });
  }
  const Bytes& hbm_bytes() const { return hbm_; }
  const std::vector<Bytes>& tcm_bytes() const { return tcm_; }

 private:
  template <class F>
  void each(const TensorRef& t, F f) {
    Bytes& space = t.space == Space::tcm ? tcm_.at(t.pe) : hbm_;
    for (int64_t i = 0; i < t.shape.elements(); ++i) {
      int64_t offset = 0, rest = i;
      for (int d = t.shape.rank() - 1; d >= 0; --d) {
        offset += rest % t.shape[d] * t.strides[d];
        rest /= t.shape[d];
      }
      for (size_t b = 0; b < size_of(t.dtype); ++b) {
        f(&space.at(t.addr + static_cast<uint64_t>(offset) * size_of(t.dtype) + b));
      }
    }
  }

  Bytes hbm_;
  std::vector<Bytes> tcm_;
};

/// Empty if equal, else the first byte that differs, and how many do.
inline std::string difference(const Bytes& got, const Bytes& want) {
  size_t first = 0, count = 0;
  for (size_t i = want.size(); i-- > 0;) {
    if (got.at(i) == want[i]) continue;
    first = i;
    ++count;
  }
  return count ? std::to_string(count) + " bytes differ, the first at " + std::to_string(first) : "";
}

struct Program {
  Bytes initial_hbm;
  std::vector<Bytes> initial_tcm;
  MemoryImage image;
  std::vector<OpRecord> records;
};

/// Random commands of two PEs over small memories, so that everything overlaps with everything.
class Generator {
 public:
  explicit Generator(unsigned seed) : rng_(seed) {}

  Program make(int ops) {
    Program p;
    p.initial_hbm = noise(kHbmBytes);
    p.image.write({Space::hbm, kNoPe}, 0, p.initial_hbm.data(), kHbmBytes);
    for (uint32_t pe = 0; pe < kPes; ++pe) {
      p.initial_tcm.push_back(noise(kTcmBytes));
      p.image.write({Space::tcm, pe}, 0, p.initial_tcm[pe].data(), kTcmBytes);
    }
    uint64_t seq[kPes] = {};
    double now = 0;
    for (int i = 0; i < ops; ++i) {
      const auto pe = static_cast<uint32_t>(pick(kPes));
      auto d = command(pe);
      d->pe = pe;
      d->seq = seq[pe]++;
      d->submit_ns = now;
      now += static_cast<double>(pick(3));  // ties are frequent
      p.records.push_back(record(static_cast<uint64_t>(i) + 1, d, d->submit_ns + static_cast<double>(pick(8))));
    }
    give_data_to_real_stores(p);
    std::shuffle(p.records.begin(), p.records.end(), rng_);
    return p;
  }

 private:
  uint64_t pick(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(rng_); }
  Bytes noise(uint64_t n) { return random_tensor(DType::f32, {static_cast<int64_t>(n / 4)}, rng_()); }
  DType dtype() {
    constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i8, DType::u8, DType::i16};
    return kTypes[pick(7)];
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

  /// As Phase 1 does: a store whose source is real at its submission carries its bytes.
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

/// KERNBENCH_SEED, or one that is new each time; name it in a SCOPED_TRACE.
inline unsigned chosen_seed() {
  const char* chosen = std::getenv("KERNBENCH_SEED");
  return chosen ? static_cast<unsigned>(std::stoul(chosen)) : std::random_device{}();
}

}  // namespace kernbench::testing
