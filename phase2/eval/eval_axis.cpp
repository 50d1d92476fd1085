// SPDX-License-Identifier: Apache-2.0
// Ops along one axis: reductions, scans, softmax.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "kernbench/phase2/eval/axis.h"
#include "kernbench/phase2/eval/eval_math.h"
#include "kernbench/phase2/op/combiner.h"

namespace kernbench::phase2 {

AxisView axis_view(const OpDesc& d, const EvalInput& in) {
  const int rank = in.shape.rank();
  const int axis = d.axis < 0 ? d.axis + rank : d.axis;
  if (in.is_scalar || axis < 0 || axis >= rank) {
    throw EvalError(d.op + ": no axis " + std::to_string(d.axis) + " in an operand of shape " + in.shape.to_string());
  }
  AxisView v;
  v.axis = axis;
  v.length = in.shape[axis];
  for (int i = 0; i < axis; ++i) v.outer *= in.shape[i];
  for (int i = axis + 1; i < rank; ++i) v.inner *= in.shape[i];
  return v;
}

void require_elements(const OpDesc& d, const EvalInput& in, int64_t made) {
  if (made == d.output.shape.elements()) return;
  throw EvalError(d.op + " of " + in.shape.to_string() + " along axis " + std::to_string(d.axis) + " gives " +
                  std::to_string(made) + " elements, the output has shape " + d.output.shape.to_string());
}

template <class T>
const T* dense_values(const Arithmetic& arithmetic, const EvalInput& in, const std::string& op, Bytes* storage) {
  TensorRef ref;
  ref.shape = in.shape;
  ref.strides = in.strides;
  ref.dtype = in.dtype;
  if (ref.contiguous() && is_itself<T>(in.dtype, in.data)) return reinterpret_cast<const T*>(in.data);
  const int64_t n = in.shape.elements();
  storage->resize(static_cast<size_t>(n) * sizeof(T));
  auto* values = reinterpret_cast<T*>(storage->data());
  const Dims strides = broadcast_strides(in, in.shape, op);
  const int last = in.shape.rank() - 1;
  const int64_t inner = last < 0 ? 1 : in.shape[last], step = last < 0 ? 1 : strides[last];
  for (int64_t at = 0; at < n;) {
    const int64_t col = at % inner;
    const size_t len = static_cast<size_t>(std::min<int64_t>(inner - col, kBlock));
    int64_t offset = col * step;
    int64_t row = at / inner;
    for (int d = last - 1; d >= 0; --d) {
      offset += row % in.shape[d] * strides[d];
      row /= in.shape[d];
    }
    alignas(64) T buffer[kBlock];
    std::memcpy(values + at, fetch_block<T>(arithmetic, in, offset, step, len, false, buffer), len * sizeof(T));
    at += static_cast<int64_t>(len);
  }
  return values;
}

template const float* dense_values(const Arithmetic&, const EvalInput&, const std::string&, Bytes*);
template const int32_t* dense_values(const Arithmetic&, const EvalInput&, const std::string&, Bytes*);
template const int64_t* dense_values(const Arithmetic&, const EvalInput&, const std::string&, Bytes*);

namespace {

/// Applies a combiner to lines of n values.
template <class T>
class Combination {
 public:
  Combination(const Combiner& combiner, const Arithmetic& arithmetic, size_t n)
      : combiner_(combiner), arithmetic_(arithmetic), n_(n), stack_(n * static_cast<size_t>(combiner.depth())) {
    const auto& s = combiner.steps();
    using Kind = Combiner::Step::Kind;
    if (s.size() == 3 && s[0].kind == Kind::first && s[1].kind == Kind::second && s[2].op)
      single_ = function<T>(arithmetic, s[2].op->fn);
  }

  /// out = combiner(a, b). out may be a.
  void operator()(T* out, const T* a, const T* b) {
    if (single_) return single_(out, a, b, nullptr, n_);
    size_t held = 0;
    for (const Combiner::Step& s : combiner_.steps()) {
      if (s.kind == Combiner::Step::Kind::call) {
        held -= static_cast<size_t>(s.op->arity);
        T* at = line(held);
        const T* in[3] = {at, s.op->arity > 1 ? line(held + 1) : nullptr, s.op->arity > 2 ? line(held + 2) : nullptr};
        function<T>(arithmetic_, s.op->fn)(at, in[0], in[1], in[2], n_);
      } else if (s.kind == Combiner::Step::Kind::constant) {
        std::fill_n(line(held), n_, static_cast<T>(s.constant));
      } else {
        std::copy_n(s.kind == Combiner::Step::Kind::first ? a : b, n_, line(held));
      }
      ++held;
    }
    std::copy_n(line(0), n_, out);
  }

 private:
  T* line(size_t i) { return stack_.data() + i * n_; }

  const Combiner& combiner_;
  const Arithmetic& arithmetic_;
  size_t n_;
  std::vector<T> stack_;
  Function<T> single_ = nullptr;
};

/// Members of a tuple, as lines of n floats or n integers.
template <class I>
struct Lines {
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<I>> integers;
  Lines(size_t members, size_t n) : floats(members, std::vector<float>(n)), integers(members, std::vector<I>(n)) {}
  template <class T>
  T* of(size_t member) {
    if constexpr (std::is_same_v<T, float>) {
      return floats[member].data();
    } else {
      return integers[member].data();
    }
  }
};

/// Applies a combiner with several members to lines of n values.
template <class I>
class TupleCombination {
 public:
  TupleCombination(const Combiner& combiner, const std::vector<bool>& floats, const Arithmetic& arithmetic, size_t n)
      : combiner_(combiner),
        floats_(floats),
        types_(combiner.types(floats)),
        arithmetic_(arithmetic),
        n_(n),
        stack_(static_cast<size_t>(combiner.depth()), n) {}

  /// a = combiner(a, b).
  void operator()(Lines<I>& a, Lines<I>& b) {
    size_t held = 0;
    for (size_t i = 0; i < combiner_.steps().size(); ++i) {
      const Combiner::Step& s = combiner_.steps()[i];
      if (s.op) held -= static_cast<size_t>(s.op->arity);
      const Combiner::Types t = types_[i];
      t.computed_in_floats ? step<float>(s, held, a, b) : step<I>(s, held, a, b);
      if (t.computed_in_floats && !t.taken_as_floats) truth<float, I>(held);
      if (!t.computed_in_floats && t.taken_as_floats) truth<I, float>(held);
      ++held;
    }
    for (size_t m = 0; m < floats_.size(); ++m) {
      if (floats_[m]) std::copy_n(stack_.template of<float>(m), n_, a.template of<float>(m));
      if (!floats_[m]) std::copy_n(stack_.template of<I>(m), n_, a.template of<I>(m));
    }
  }

 private:
  template <class T>
  void step(const Combiner::Step& s, size_t at, Lines<I>& a, Lines<I>& b) {
    T* to = stack_.template of<T>(at);
    if (s.op) {
      const T* second = s.op->arity > 1 ? stack_.template of<T>(at + 1) : nullptr;
      const T* third = s.op->arity > 2 ? stack_.template of<T>(at + 2) : nullptr;
      function<T>(arithmetic_, s.op->fn)(to, to, second, third, n_);
    } else if (s.kind == Combiner::Step::Kind::constant) {
      std::fill_n(to, n_, static_cast<T>(s.constant));
    } else {
      std::copy_n((s.kind == Combiner::Step::Kind::first ? a : b).template of<T>(s.member), n_, to);
    }
  }
  template <class From, class To>
  void truth(size_t at) {
    const From* from = stack_.template of<From>(at);
    To* to = stack_.template of<To>(at);
    for (size_t i = 0; i < n_; ++i) to[i] = static_cast<To>(from[i] != 0);
  }

  const Combiner& combiner_;
  const std::vector<bool>& floats_;
  const std::vector<Combiner::Types> types_;
  const Arithmetic& arithmetic_;
  size_t n_;
  Lines<I> stack_;
};

/// reduce and associative_scan of a tuple, whose members are the operands. Floats are computed in f32. Integers are
/// computed in i64 if one of them needs it, else in i32.
class TupleAlongAxis : public Evaluation {
 public:
  TupleAlongAxis(const MathOp& op, const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
                 const Arithmetic& arithmetic)
      : arithmetic_(arithmetic),
        dtype_(d.output.dtype),
        out_(out),
        view_(axis_view(d, inputs[0])),
        scan_(op.kind == MathKind::scan) {
    const size_t members = inputs.size() - (scan_ ? 1 : 0);
    if (scan_ && !inputs.back().is_scalar) throw EvalError(d.op + ": its direction is no immediate");
    reverse_ = scan_ && inputs.back().scalar != 0;
    const int64_t made = view_.outer * view_.inner * (scan_ ? view_.length : 1);
    require_elements(d, inputs[0], made);
    if (view_.length == 0 && made > 0) throw EvalError(d.op + " of no elements");
    for (size_t m = 0; m < members; ++m) {
      if (inputs[m].is_scalar || inputs[m].shape != inputs[0].shape)
        throw EvalError(d.op + ": operand " + std::to_string(m) + " is no tensor of the first one's shape");
      floats_.push_back(is_float(inputs[m].dtype));
      wide_ |= is_wide_integer(inputs[m].dtype);
    }
    try {
      combiner_.emplace(d.argument, members);
      combiner_->types(floats_);
    } catch (const std::invalid_argument& e) {
      throw EvalError(d.op + ": " + e.what());
    }
    values_.resize(members);
    storage_.resize(members);
    for (size_t m = 0; m < members; ++m) {
      in_type(compute(m),
              [&](auto t) { values_[m] = dense_values<decltype(t)>(arithmetic_, inputs[m], d.op, &storage_[m]); });
    }
    rows_per_part_ = std::max<int64_t>(1, kPartElements / std::max<int64_t>(1, view_.length * view_.inner));
  }

  int parts() const override { return static_cast<int>((view_.outer + rows_per_part_ - 1) / rows_per_part_); }

  void run(int part) override {
    const int64_t begin = part * rows_per_part_;
    const int64_t end = std::min(view_.outer, begin + rows_per_part_);
    for (int64_t o = begin; o < end; ++o) wide_ ? combine<int64_t>(o) : combine<int32_t>(o);
  }

 private:
  Compute compute(size_t member) const { return floats_[member] ? Compute::f32 : wide_ ? Compute::i64 : Compute::i32; }

  template <class I>
  void combine(int64_t o) {
    const auto n = static_cast<size_t>(view_.inner);
    Lines<I> acc(floats_.size(), n), next = acc;
    TupleCombination<I> combination(*combiner_, floats_, arithmetic_, n);
    for (int64_t i = 0; i < view_.length; ++i) {
      const int64_t r = o * view_.length + (reverse_ ? view_.length - 1 - i : i);
      read(r * view_.inner, n, i == 0 ? acc : next);
      if (i > 0) combination(acc, next);
      if (scan_) write(acc, r * view_.inner, n);
    }
    if (!scan_) write(acc, o * view_.inner, n);
  }
  template <class I>
  void read(int64_t first, size_t n, Lines<I>& to) const {
    for (size_t m = 0; m < floats_.size(); ++m) {
      if (floats_[m]) std::copy_n(static_cast<const float*>(values_[m]) + first, n, to.template of<float>(m));
      if (!floats_[m]) std::copy_n(static_cast<const I*>(values_[m]) + first, n, to.template of<I>(m));
    }
  }
  /// The first member.
  template <class I>
  void write(Lines<I>& from, int64_t first, size_t n) const {
    uint8_t* to = out_ + first * static_cast<int64_t>(size_of(dtype_));
    if (floats_[0]) narrow(arithmetic_, from.template of<float>(0), dtype_, to, n);
    if (!floats_[0]) narrow(arithmetic_, from.template of<I>(0), dtype_, to, n);
  }

  const Arithmetic& arithmetic_;
  DType dtype_;
  uint8_t* out_;
  AxisView view_;
  bool scan_, reverse_ = false, wide_ = false;
  std::vector<bool> floats_;  ///< by member
  std::optional<Combiner> combiner_;
  std::vector<const void*> values_;
  std::vector<Bytes> storage_;
  int64_t rows_per_part_ = 1;
};

/// One operand seen as [outer, axis, inner], inner contiguous.
class AlongAxis : public Evaluation {
 public:
  AlongAxis(const MathOp& op, const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
            const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), op_(d.op), dtype_(d.output.dtype), out_(out), view_(axis_view(d, inputs[0])) {
    const EvalInput& in = inputs[0];
    softmax_ = op.kind == MathKind::softmax;
    scan_ = op.kind == MathKind::scan;
    if (scan_ && !inputs[1].is_scalar) throw EvalError(d.op + ": its direction is no immediate");
    reverse_ = scan_ && inputs[1].scalar != 0;
    const int64_t made = view_.outer * view_.inner * (softmax_ || scan_ ? view_.length : 1);
    require_elements(d, in, made);
    first_ = op_ == "argmax" || op_ == "argmin";
    if (!softmax_ && !first_) {
      try {
        combiner_.push_back(Combiner::of(op_, d.argument));
      } catch (const std::invalid_argument& e) {
        throw EvalError(d.op + ": " + e.what());
      }
      if (combiner_[0].takes(is_float(in.dtype) ? Values::integers : Values::floats))
        throw EvalError(d.op + ": an op of its combiner cannot take " + std::string(name_of(in.dtype)));
    }
    const bool of_nothing = op_ == "sum" || op_ == "prod" || op_ == "xor_sum";
    if (view_.length == 0 && made > 0 && !of_nothing) throw EvalError(d.op + " of no elements");
    compute_ = softmax_ || is_float(in.dtype) ? Compute::f32 : is_wide_integer(in.dtype) ? Compute::i64 : Compute::i32;
    if (op_ == "reduce" && compute_ == Compute::f32 && view_.inner == 1) extreme_ = extreme_of(d.argument);
    // The whole operand, contiguous, in the computed type. Each element is read only once, so this is cheap.
    in_type(compute_, [&](auto t) { values_ = dense_values<decltype(t)>(arithmetic_, in, op_, &storage_); });
    rows_per_part_ = std::max<int64_t>(1, kPartElements / std::max<int64_t>(1, view_.length * view_.inner));
  }

  int parts() const override { return static_cast<int>((view_.outer + rows_per_part_ - 1) / rows_per_part_); }

  void run(int part) override {
    const int64_t begin = part * rows_per_part_;
    const int64_t end = std::min(view_.outer, begin + rows_per_part_);
    const bool own_order = compute_ == Compute::f32 && (op_ == "sum" || op_ == "max" || op_ == "min");
    for (int64_t o = begin; o < end; ++o) {
      if (softmax_) {
        softmax(o);
      } else if (own_order) {
        reduce_floats(o);
      } else if (extreme_) {
        const float v = extreme_(row<float>(o), static_cast<size_t>(view_.length));
        arithmetic_.from_f32(&v, dtype_, out_at(o), 1);
      } else {
        in_type(compute_, [&](auto t) { first_ ? arg<decltype(t)>(o) : combine<decltype(t)>(o); });
      }
    }
  }

 private:
  template <class T>
  const T* row(int64_t o) const {
    return static_cast<const T*>(values_) + o * view_.length * view_.inner;
  }
  uint8_t* out_at(int64_t element) const { return out_ + element * static_cast<int64_t>(size_of(dtype_)); }

  /// A row reduction for combiners that select a value, where the order does not matter. Null for all others.
  float (*extreme_of(const std::string& combiner) const)(const float*, size_t) {
    return combiner == "a b maxnum" ? arithmetic_.maxnum : combiner == "a b minnum" ? arithmetic_.minnum : nullptr;
  }

  void reduce_floats(int64_t o) {
    const float* a = row<float>(o);
    const bool sum = op_ == "sum", max = op_ == "max";
    if (view_.inner == 1) {
      const size_t n = static_cast<size_t>(view_.length);
      const float v = sum ? arithmetic_.sum(a, n) : max ? arithmetic_.max(a, n) : arithmetic_.min(a, n);
      arithmetic_.from_f32(&v, dtype_, out_at(o), 1);
      return;
    }
    // Reduces down the columns in order. Sums use blocks of 256 rows, so that long columns stay accurate.
    constexpr int64_t kRows = 256;
    const size_t n = static_cast<size_t>(view_.inner);
    const float start = sum ? 0.0f : max ? -INFINITY : INFINITY;
    std::vector<float> total(n, start), block(n);
    const auto fn = function<float>(arithmetic_, sum ? Fn::add : max ? Fn::maximum : Fn::minimum);
    for (int64_t r0 = 0; r0 < view_.length; r0 += kRows) {
      std::fill(block.begin(), block.end(), start);
      for (int64_t r = r0; r < std::min(view_.length, r0 + kRows); ++r) {
        fn(block.data(), block.data(), a + r * view_.inner, nullptr, n);
      }
      fn(total.data(), total.data(), block.data(), nullptr, n);
    }
    arithmetic_.from_f32(total.data(), dtype_, out_at(o * view_.inner), n);
  }

  /// Works down the columns row by row, or upwards if `reverse`. Gives the last value, or all values for a scan.
  template <class T>
  void combine(int64_t o) {
    const T* a = row<T>(o);
    const size_t n = static_cast<size_t>(view_.inner);
    std::vector<T> acc(n, static_cast<T>(op_ == "prod"));
    Combination<T> combination(combiner_[0], arithmetic_, n);
    for (int64_t i = 0; i < view_.length; ++i) {
      const int64_t r = reverse_ ? view_.length - 1 - i : i;
      if (i == 0) {
        std::copy_n(a + r * view_.inner, n, acc.begin());
      } else {
        combination(acc.data(), acc.data(), a + r * view_.inner);
      }
      if (scan_) narrow(arithmetic_, acc.data(), dtype_, out_at((o * view_.length + r) * view_.inner), n);
    }
    if (!scan_) narrow(arithmetic_, acc.data(), dtype_, out_at(o * view_.inner), n);
  }

  /// The first of the largest, or smallest, elements. If there is a NaN, the first NaN.
  template <class T>
  void arg(int64_t o) {
    const bool largest = op_ == "argmax";
    for (int64_t i = 0; i < view_.inner; ++i) {
      const T* a = row<T>(o) + i;
      int32_t best = 0;
      for (int64_t r = 1; r < view_.length; ++r) {
        const T held = a[best * view_.inner], v = a[r * view_.inner];
        if (held == held && (v != v || (largest ? v > held : v < held))) best = static_cast<int32_t>(r);
      }
      arithmetic_.from_i32(&best, dtype_, out_at(o * view_.inner + i), 1);
    }
  }

  /// exp(x - max) / their sum, in f32.
  void softmax(int64_t o) {
    const size_t n = static_cast<size_t>(view_.length);
    std::vector<float> line(n), top(n);
    for (int64_t i = 0; i < view_.inner; ++i) {
      const float* a = row<float>(o) + i;
      for (int64_t r = 0; r < view_.length; ++r) line[static_cast<size_t>(r)] = a[r * view_.inner];
      std::fill(top.begin(), top.end(), arithmetic_.max(line.data(), n));
      function<float>(arithmetic_, Fn::sub)(line.data(), line.data(), top.data(), nullptr, n);
      function<float>(arithmetic_, Fn::exp)(line.data(), line.data(), nullptr, nullptr, n);
      std::fill(top.begin(), top.end(), arithmetic_.sum(line.data(), n));
      function<float>(arithmetic_, Fn::div)(line.data(), line.data(), top.data(), nullptr, n);
      if (view_.inner == 1) {
        arithmetic_.from_f32(line.data(), dtype_, out_at(o * view_.length), n);
        continue;
      }
      for (int64_t r = 0; r < view_.length; ++r) {
        arithmetic_.from_f32(&line[static_cast<size_t>(r)], dtype_, out_at((o * view_.length + r) * view_.inner + i),
                             1);
      }
    }
  }

  const Arithmetic& arithmetic_;
  std::string op_;
  DType dtype_;
  uint8_t* out_;
  AxisView view_;
  int64_t rows_per_part_ = 1;
  bool softmax_ = false, scan_ = false, reverse_ = false, first_ = false;
  std::vector<Combiner> combiner_;  ///< one combiner, or none
  float (*extreme_)(const float*, size_t) = nullptr;
  Compute compute_ = Compute::f32;
  Bytes storage_;
  const void* values_ = nullptr;
};

}  // namespace

std::unique_ptr<Evaluation> make_along_axis(const MathOp& op, const OpDesc& d, const std::vector<EvalInput>& inputs,
                                            uint8_t* out, const Arithmetic& arithmetic) {
  if (inputs.size() > static_cast<size_t>(op.arity))
    return std::make_unique<TupleAlongAxis>(op, d, inputs, out, arithmetic);
  return std::make_unique<AlongAxis>(op, d, inputs, out, arithmetic);
}

}  // namespace kernbench::phase2
