// SPDX-License-Identifier: Apache-2.0
// Kernels of random commands on tl, for the combined test of Phase 1 and Phase 2.
#pragma once

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernbench/kernel_api/tl.h"
#include "kernbench/phase2/io/random.h"
#include "kernbench/phase2/log/memory_op_log.h"
#include "kernbench/phase2/op/math_op.h"
#include "kernbench/systemc_models/pe/kernel_runner.h"
#include "system_support.h"

namespace kernbench::testing {

/// Memory that the kernels share, with initial contents, and real i32 values to branch on.
struct SharedMemory {
  tl::Ptr hbm, sram;
  uint64_t hbm_bytes, sram_bytes;
  tl::Ptr decisions;
  int64_t decision_count;
  tl::Ptr flags;  ///< i32, one per kernel, initially 0
};

/// Commands of every kind and type on the contents of the shared memory. Blocks overlap and are read with other types
/// than they were written, handles are views of one another, and TCM is reused when the last of them dies.
class RandomKernel {
 public:
  /// `number`: number of the kernel.
  RandomKernel(tl::Context& tl, const SharedMemory& memory, unsigned seed, bool materializes, int64_t number)
      : tl_(tl), memory_(memory), rng_(seed), materializes_(materializes), number_(number) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (live_.size() > 7) live_.erase(live_.begin() + static_cast<int64_t>(pick(live_.size())));
      step();
    }
  }

 private:
  uint64_t pick(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(rng_); }
  bool one_in(uint64_t n) { return pick(n) == 0; }
  /// A random elementwise op with that many operands that accepts these values.
  const char* one_of_rows(int operands, Values values) {
    std::vector<const char*> names;
    for (const MathOp& op : math_ops()) {
      const bool alike = op.values() == values && op.result != ResultRule::chosen && op.name != "umulhi";
      if (op.is_elementwise() && op.arity == operands && alike) names.push_back(op.name.data());
    }
    return names[pick(names.size())];
  }
  template <class T>
  T any(std::initializer_list<T> list) {
    return *(list.begin() + pick(list.size()));
  }
  DType dtype() {
    return any({DType::f32, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::i8, DType::u8,
                DType::i16, DType::i32, DType::u16, DType::u32});
  }
  int64_t extent() { return any<int64_t>({1, 3, 8, 8, 17}); }
  Dims shape() { return one_in(4) ? Dims{extent() * 5} : Dims{extent(), extent()}; }
  /// A small number that every type has.
  double immediate(DType t) { return is_float(t) ? any({0.5, -1.5, 2.0, 0.25}) : any({1.0, 2.0, 3.0}); }

  tl::Context& context() { return one_in(2) ? tl_ : (other_ = tl_.async(), other_); }

  tl::Block anywhere(DType t, const Dims& shape) {
    const bool sram = one_in(4);
    const tl::Ptr base = (sram ? memory_.sram : memory_.hbm).cast(t);
    const auto room = static_cast<int64_t>((sram ? memory_.sram_bytes : memory_.hbm_bytes) / size_of(t));
    const int64_t row = shape[shape.rank() - 1];
    const int64_t ld = one_in(3) ? row + static_cast<int64_t>(pick(9)) : row;
    const int64_t span = (shape.elements() / row - 1) * ld + row;
    return (base + static_cast<int64_t>(pick(static_cast<uint64_t>(room - span)))).block(shape, ld);
  }

  tl::Tensor loaded(DType t, const Dims& shape) {
    if (one_in(4)) return tl_.load(anywhere(t, shape), mask(shape), immediate(t));
    return one_in(2) ? tl_.load_async(anywhere(t, shape)) : tl_.load(anywhere(t, shape));
  }
  tl::Tensor mask(const Dims& shape) {
    for (const tl::Tensor& t : live_) {
      if (t.shape() == shape && t.contiguous() && one_in(2)) return t;
    }
    const DType type = any({DType::u8, DType::i8, DType::f16});
    return one_in(2) ? static_cast<tl::Tensor>(tl_.load(anywhere(type, shape)))
                     : tl_.load(anywhere(type, shape)) < tl_.load(anywhere(type, shape));
  }
  tl::Tensor dense(const tl::Tensor& t) { return t.contiguous() ? t : tl_.copy(t); }

  /// A live value, or a new one.
  tl::Tensor value() {
    if (live_.empty() || one_in(4)) return keep(loaded(dtype(), shape()));
    return live_[pick(live_.size())];
  }
  /// An operand that fits x.
  tl::Arg with(const tl::Tensor& x) {
    if (one_in(4)) return immediate(x.dtype());
    for (const tl::Tensor& t : live_) {
      if (t.dtype() == x.dtype() && t.shape() == x.shape() && one_in(2)) return t;
    }
    Dims other = x.shape();
    if (one_in(3)) other[static_cast<int>(pick(static_cast<uint64_t>(other.rank())))] = 1;
    return loaded(x.dtype(), other);
  }
  tl::Tensor keep(const tl::Tensor& t) {
    live_.push_back(t);
    return t;
  }

  void step() {
    switch (pick(23)) {
      case 0:
        keep(loaded(dtype(), shape()));
        return;
      case 1:
      case 2:
      case 3:
        return store();
      case 4:
      case 5:
        return binary();
      case 6:
        return unary();
      case 7:
        return reduction();
      case 8:
        return dot();
      case 9:
      case 10:
        return composite();
      case 11:
        return view();
      case 12:
        keep(context().cast(value(), dtype()));
        return;
      case 13:
        return ternary();
      case 14:
        return scan_or_sort();
      case 15:
        return arrangement();
      case 16:
        return number();
      case 17:
        return tuple();
      case 18:
        return gather_or_scatter();
      case 19:
        return atomic();
      case 20:
        return joined_or_spread();
      case 21:
        return short_floats();
      default:
        return other();
    }
  }

  void store() {
    const tl::Tensor x = value();
    const tl::Block to = anywhere(x.dtype(), x.shape());
    if (one_in(4)) {
      tl_.store(to, x, mask(x.shape()));
    } else if (one_in(2)) {
      tl_.store_async(to, x);
    } else {
      tl_.store(to, x);
    }
  }
  void binary() {
    const tl::Tensor x = value();
    const bool bits = !is_float(x.dtype()) && one_in(2);
    if (bits && size_of(x.dtype()) == 4 && one_in(4)) {
      keep(context().umulhi(x, with(x)));
      return;
    }
    keep(context().op(one_of_rows(2, bits ? Values::integers : Values::any), {x, with(x)}));
  }
  void unary() {
    const tl::Tensor x = value();
    if (!is_float(x.dtype()) && one_in(4)) {
      keep(context().bitwise_not(x));
      return;
    }
    const bool any_type = !is_float(x.dtype()) || one_in(3);
    keep(context().op(one_of_rows(1, any_type ? Values::any : Values::floats), {x}));
  }
  void ternary() {
    const tl::Tensor x = value();
    switch (pick(3)) {
      case 0:
        keep(context().where(mask(x.shape()), x, with(x)));
        return;
      case 1:
        keep(context().fma(x, with(x), with(x)));
        return;
      default:
        keep(context().clamp(x, with(x), with(x)));
    }
  }
  void reduction() {
    const tl::Tensor x = value();
    const int axis = static_cast<int>(pick(static_cast<uint64_t>(x.rank())));
    switch (pick(10)) {
      case 7: {
        const auto top =
            one_in(2) ? context().max_with_indices(x, axis, true) : context().min_with_indices(x, axis, true);
        keep(top.values);
        keep(top.indices);
        return;
      }
      case 8:
        keep(context().reduce(
            x, axis, [](tl::Expr a, tl::Expr b) { return tl::maximum(a, b); }, true));
        return;
      case 9:
        if (!is_float(x.dtype())) keep(context().xor_sum(x, axis, true));
        return;
      case 5:
        keep(context().argmin(x, axis, true));
        return;
      case 6:
        keep(context().prod(x, axis, true));
        return;
      case 0:
        keep(context().sum(x, axis, true));
        return;
      case 1:
        keep(context().max(x, axis, true));
        return;
      case 2:
        keep(context().argmax(x, axis, true));
        return;
      case 3:
        keep(tl_.reshape(context().min(x), {1, 1}));
        return;
      default:
        if (is_float(x.dtype())) keep(context().softmax(x, axis));
    }
  }

  void scan_or_sort() {
    const tl::Tensor x = value();
    const int axis = static_cast<int>(pick(static_cast<uint64_t>(x.rank())));
    switch (pick(6)) {
      case 4:
        keep(context().argsort(x, axis, one_in(2)));
        return;
      case 0:
        keep(context().cumsum(x, axis, one_in(2)));
        return;
      case 1:
        keep(context().cumprod(x, axis));
        return;
      case 2:
        keep(context().associative_scan(x, axis, [](tl::Expr a, tl::Expr b) { return tl::maximum(b, a); }));
        return;
      case 3:
        keep(context().sort(x, axis, one_in(2)));
        return;
      default:
        keep(context().topk(x, 1 + static_cast<int64_t>(pick(static_cast<uint64_t>(x.dim(axis)))), axis));
    }
  }
  void arrangement() {
    const tl::Tensor x = value();
    switch (pick(4)) {
      case 0:
        keep(context().flip(x, static_cast<int>(pick(static_cast<uint64_t>(x.rank())))));
        return;
      case 1: {
        const tl::Arg y = with(x);
        if (!y.is_scalar() && y.tensor().shape() == x.shape()) keep(context().cat({x, y.tensor(), x}, -1));
        return;
      }
      case 2:
        if (!is_float(x.dtype())) keep(context().histogram(x, 9));
        return;
      default: {
        const auto any_row = [&](uint64_t) { return static_cast<int>(pick(static_cast<uint64_t>(x.dim(0)))); };
        std::vector<int> rows(5);
        for (int& r : rows) r = any_row(0);
        if (x.rank() == 1) keep(context().gather(x, tl_.tensor(rows, {5}, DType::u16), 0));
      }
    }
  }
  void number() {
    const tl::Tensor offsets = tl_.arange(static_cast<double>(pick(1000)), 1017, 1, DType::i32);
    const tl::Tensor few = offsets.slice(0, 0, 17);
    const auto seed = static_cast<int64_t>(pick(9));
    switch (pick(4)) {
      case 0:
        keep(context().randint(seed, few));
        return;
      case 1:
        keep(context().randint4x(seed, few)[pick(4)]);
        return;
      case 2:
        keep(context().randn(seed, few));
        return;
      default:
        keep(context().rand(seed, few));
    }
  }

  /// The maximum with its index, and a sum with a product; of any two types.
  void tuple() {
    const tl::Tensor x = value();
    const int axis = static_cast<int>(pick(static_cast<uint64_t>(x.rank())));
    const tl::Tensor y = loaded(dtype(), x.shape());
    const auto top = [](tl::Expr a, tl::Expr at_a, tl::Expr b, tl::Expr at_b) {
      const tl::Expr first = tl::Expr::op("ge", {a, b});
      return std::array{tl::where(first, a, b), tl::where(first, at_a, at_b)};
    };
    const auto made = one_in(2) ? context().reduce({x, y}, axis, top, true)
                                : context().associative_scan({x, y}, axis, top, one_in(2));
    keep(made[0]);
    keep(made[1]);
  }

  // ---- ranges of memory
  /// An index of the kernel's own, partly repeated, and its base.
  tl::Ptr reached(DType t, int64_t width, const Dims& shape, tl::Tensor* index) {
    constexpr int64_t kApart = 40;
    std::vector<int> own(static_cast<size_t>(shape.elements()));
    for (int& i : own) i = static_cast<int>(pick(kApart));
    *index = tl_.tensor(own, shape, DType::i32);
    return anywhere(t, {kApart * width}).ptr();
  }
  tl::Tensor own_mask(const Dims& shape) {
    if (one_in(2)) return {};
    std::vector<int> own(static_cast<size_t>(shape.elements()));
    for (int& i : own) i = one_in(4) ? 0 : 1;
    return tl_.tensor(own, shape, DType::u8);
  }
  void gather_or_scatter() {
    const DType t = dtype();
    const int64_t width = any<int64_t>({1, 1, 3});
    const Dims shape = one_in(2) ? Dims{extent()} : Dims{3, extent()};
    tl::Tensor index;
    const tl::Ptr p = reached(t, width, shape, &index);
    const tl::Tensor on = own_mask(shape);
    if (one_in(2)) {
      keep(one_in(2) ? tl_.gather(p, index, on, immediate(t), width) : tl_.gather_async(p, index, on, 0, width));
      return;
    }
    Dims whole = shape;
    if (width > 1) whole.push_back(width);
    const tl::Tensor x = dense(loaded(t, whole));
    one_in(2) ? tl_.scatter(p, index, x, on, width) : tl_.scatter_async(p, index, x, on, width);
  }
  void atomic() {
    const DType t = any({DType::i32, DType::u32, DType::f32, DType::f16, DType::bf16});
    const Dims shape{extent()};
    tl::Tensor index;
    const tl::Ptr p = reached(t, 1, shape, &index);
    const auto sem = any({tl::Sem::relaxed, tl::Sem::acquire, tl::Sem::release, tl::Sem::acq_rel});
    const auto own = [&]() -> tl::Arg {
      if (one_in(2)) return immediate(t);
      return tl_.tensor(std::vector<int>(static_cast<size_t>(shape.elements()), static_cast<int>(pick(9))), shape, t);
    };
    const bool whole = t == DType::i32 || t == DType::u32;
    if (whole && one_in(6)) {
      keep(context().atomic_cas(p, index, own(), own(), sem));
      return;
    }
    const char* op = whole             ? any({"add", "max", "min", "and", "or", "xor", "xchg"})
                     : t == DType::f32 ? any({"add", "max", "min", "xchg"})
                                       : "add";
    const tl::Tensor on = own_mask(shape);
    if (one_in(2) || std::string(op) == "xchg") {
      keep(context().atomic(op, p, index, own(), on, sem));
    } else if (one_in(2)) {
      context().red(op, p, index, loaded(t, shape), on, sem);
    } else {
      context().red(op, p.block(shape), own(), on, sem);
    }
  }
  void flag() {
    const tl::Ptr own = memory_.flags + number_;
    const auto v = static_cast<int64_t>(pick(9));
    tl_.signal(own, v);
    tl_.wait_until(own, any({tl::Cmp::eq, tl::Cmp::ge}), v);
  }

  void joined_or_spread() {
    const tl::Tensor x = value();
    switch (pick(4)) {
      case 0:
        if (x.rank() == 2) keep(tl_.permute(x, {1, 0}));
        return;
      case 1:
        keep(dense(tl_.broadcast_to(x.slice(0, 0, 1), x.shape())));
        return;
      default: {
        const tl::Arg y = with(x);
        if (y.is_scalar() || y.tensor().shape() != x.shape()) return;
        const auto two = tl_.split(context().join(x, y.tensor()));
        keep(two.first);
        keep(two.second);
        keep(one_in(2) ? context().interleave(x, y.tensor()) : tl_.reshape(context().copy(x), {x.shape().elements()}));
      }
    }
  }
  /// Ops that unpack, and MX.
  void short_floats() {
    const DType t = any({DType::f8e4m3, DType::f8e5m2});
    if (one_in(2)) {
      keep(context().dequantize(dense(loaded(t, {3, 8})), 0.5, any({DType::f32, DType::f16, DType::bf16})));
      return;
    }
    const auto scales = [&](int64_t n) {
      return tl_.tensor(std::vector<int>(static_cast<size_t>(n), 126), {n, 1}, DType::u8);
    };
    keep(context().dot_scaled(dense(loaded(t, {3, 32})), scales(3), dense(loaded(t, {32, 5})), scales(5)));
  }

  tl::Tensor matrix(DType t, int64_t rows, int64_t cols) {
    for (const tl::Tensor& m : live_) {
      if (m.dtype() != t || m.rank() != 2) continue;
      if (m.shape() == Dims{rows, cols} && has_dense_rows(m)) return m;
      if (m.shape() == Dims{cols, rows} && has_dense_rows(m)) return m.transpose();
    }
    return one_in(2) ? loaded(t, {rows, cols}) : loaded(t, {cols, rows}).transpose();
  }
  static bool has_dense_rows(const tl::Tensor& t) { return t.contiguous() || t.transpose().contiguous(); }
  void dot() {
    DType t = dtype();
    if (t == DType::u32) t = DType::u16;
    const tl::Tensor a = matrix(t, extent(), extent());
    const auto out = is_float(t) ? any({DType::f32, DType::f16, DType::bf16, DType::f8e5m2}) : DType::i32;
    const tl::Tensor b = matrix(t, a.shape()[1], extent());
    const Dims made{a.shape()[0], b.shape()[1]};
    keep(one_in(2) ? context().dot(a, b, out) : context().dot(a, b, loaded(accumulator_of(t), made), out));
  }

  void composite() {
    DType t = dtype();
    if (t == DType::u32) t = DType::u16;
    const int64_t m = extent(), n = extent(), k = extent();
    const auto tile = [this] { return 1 + static_cast<int64_t>(pick(9)); };
    const auto input = [&](int64_t rows, int64_t cols) {
      return one_in(3) ? tl::CompositeArg(dense(loaded(t, {rows, cols}))) : tl::CompositeArg(anywhere(t, {rows, cols}));
    };
    const bool gemm = one_in(2), ta = one_in(3), tb = one_in(3);
    tl::Composite c = gemm ? tl::gemm(ta ? input(k, m) : input(m, k), tb ? input(n, k) : input(k, n))
                           : tl::elementwise(any({"add", "mul", "maximum"}), {input(m, n), input(m, n)});
    if (gemm) c.transpose_a(ta).transpose_b(tb);
    c.tiles(tile(), tile(), tile());
    const auto scope = [&] {
      return gemm ? any({Scope::per_k_tile, Scope::per_output_tile, Scope::once}) : Scope::per_output_tile;
    };
    if (one_in(2)) c.then(any({"add", "mul"}), {bias(gemm ? accumulator_of(t) : t, m, n)}, scope());
    if (one_in(3)) c.then("relu", {}, scope());
    if (one_in(3)) c.then("mul", {is_float(t) ? 0.5 : 3.0}, scope());
    const DType out = is_float(t) ? any({DType::f32, DType::f16, t}) : gemm ? DType::i32 : t;
    if (one_in(2)) {
      const tl::Tensor done = tl_.composite(c.out(anywhere(out, {m, n})));
      if (one_in(2)) tl_.wait(done);
    } else {
      keep(tl_.composite(c.out_dtype(out)));
    }
  }
  tl::Tensor bias(DType t, int64_t m, int64_t n) { return dense(loaded(t, one_in(2) ? Dims{1, n} : Dims{m, 1})); }

  void view() {
    const tl::Tensor x = value();
    if (x.rank() > 3) return;
    if (x.rank() != 2) {
      keep(x.expand_dims(static_cast<int>(pick(2))));
    } else if (one_in(2)) {
      keep(x.transpose());
    } else {
      const int axis = static_cast<int>(pick(2));
      const int64_t count = 1 + static_cast<int64_t>(pick(static_cast<uint64_t>(x.dim(axis))));
      keep(x.slice(axis, static_cast<int64_t>(pick(static_cast<uint64_t>(x.dim(axis) - count) + 1)), count));
    }
  }
  void other() {
    const DType t = dtype();
    switch (pick(materializes_ ? 7 : 6)) {
      case 4:
        return flag();
      case 5:
        tl_.device_assert(tl_.arange(1, 9));
        keep(tl_.zeros(shape(), t));
        return;
      case 0:
        keep(tl_.full(shape(), immediate(t), t));
        return;
      case 1:
        keep(tl_.arange(0, 1 + static_cast<double>(pick(40)), 1, any({DType::i32, DType::f32, DType::u8})));
        return;
      case 2:
        if (!live_.empty()) tl_.wait(live_[pick(live_.size())]);
        return;
      case 3: {
        const tl::Loaded decision = tl_.load(
            memory_.decisions + static_cast<int64_t>(pick(static_cast<uint64_t>(memory_.decision_count))), {1});
        if (decision.item<int>() % 2) store();
        return;
      }
      default:
        tl_.materialize(value());
    }
  }

  tl::Context& tl_;
  tl::Context other_ = tl_;
  SharedMemory memory_;
  std::mt19937 rng_;
  bool materializes_;
  int64_t number_;
  std::vector<tl::Tensor> live_;
};

/// Two consecutive kernels on each of two PEs, on memory that begins with values of mixed types.
class RandomKernelRun {
 public:
  explicit RandomKernelRun(unsigned seed) : platform(platform_from_file(topology_path("small.yaml"))), seed_(seed) {
    constexpr uint64_t kBytes = 6144, kDecisionsAt = 1 << 20, kFlagsAt = 2 << 20;
    constexpr int64_t kDecisions = 64;
    memory_ = {tl::Ptr(Space::hbm, 4096, DType::f32),
               tl::Ptr(Space::sram, platform->pes().runner(0).sram().addr, DType::f32),
               kBytes,
               kBytes,
               tl::Ptr(Space::hbm, kDecisionsAt, DType::i32),
               kDecisions,
               tl::Ptr(Space::hbm, kFlagsAt, DType::i32)};
    MemoryImage& image = platform->system().image();
    for (const tl::Ptr& to : {memory_.hbm, memory_.sram}) {
      uint64_t at = to.addr;
      for (DType t : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::i8}) {
        const Bytes part = random_tensor(t, {static_cast<int64_t>(kBytes / 6 / size_of(t))}, ++seed, 3);
        image.write({to.space, kNoPe}, at, part.data(), part.size());
        at += part.size();
      }
    }
    const Bytes decisions = random_tensor(DType::i32, {kDecisions}, ++seed);
    image.write({Space::hbm, kNoPe}, kDecisionsAt, decisions.data(), decisions.size());
    const Bytes flags(16);
    image.write({Space::hbm, kNoPe}, kFlagsAt, flags.data(), flags.size());
    start = image.snapshot();
    platform->attach_log(&log);
    platform->system().keep_pending_values();
  }

  /// Empty, or the fault of a kernel.
  std::string simulate() {
    for (size_t pe = 0; pe < 2; ++pe) launch(pe, 2, 0);
    sc_core::sc_start();
    return fault_.empty() && ended_ != 4 ? "not all kernels have ended" : fault_;
  }

  std::unique_ptr<Platform> platform;
  MemoryImage start;
  MemoryOpLog log;

 private:
  void launch(size_t pe, int kernels, double start_ns) {
    const unsigned seed = seed_ * 97 + static_cast<unsigned>(pe * 10) + static_cast<unsigned>(kernels);
    const auto number = static_cast<int64_t>(pe) * 2 + kernels - 1;
    const auto kernel = [this, seed, number](PeBackend& backend) {
      tl::Context tl(backend);
      RandomKernel(tl, memory_, seed, seed % 2 == 0, number).run(60);
      tl.finish();
    };
    platform->pes().runner(pe).launch(kernel, start_ns, [this, pe, kernels](const KernelOutcome& outcome) {
      fault_ += outcome.fault;
      ++ended_;
      if (kernels > 1 && fault_.empty()) launch(pe, kernels - 1, outcome.end_ns);
    });
  }

  unsigned seed_;
  SharedMemory memory_;
  std::string fault_;
  int ended_ = 0;
};

}  // namespace kernbench::testing
