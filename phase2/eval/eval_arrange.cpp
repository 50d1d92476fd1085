// SPDX-License-Identifier: Apache-2.0
// Ops that rearrange elements: sort, argsort, topk; cat, flip, gather; histogram; and dequantize, which also unpacks.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernbench/phase2/eval/axis.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval_math.h"

namespace kernbench::phase2 {
namespace {

/// The elements of an operand, row-major, as bytes.
Bytes dense_bytes(const EvalInput& in) {
  const size_t item = size_of(in.dtype);
  Bytes out(static_cast<size_t>(in.shape.elements()) * item);
  for (int64_t i = 0; i < in.shape.elements(); ++i) {
    int64_t offset = 0, at = i;
    for (int d = in.shape.rank() - 1; d >= 0; --d) {
      offset += at % in.shape[d] * in.strides[d];
      at /= in.shape[d];
    }
    std::memcpy(&out[static_cast<size_t>(i) * item], in.data + offset * static_cast<int64_t>(item), item);
  }
  return out;
}

void require_type(const OpDesc& d, const EvalInput& in) {
  if (in.is_scalar || in.dtype != d.output.dtype) throw EvalError(d.op + ": its operand has another type");
}

/// The sort is stable. A NaN counts as greater than all others.
class Sort : public Evaluation {
 public:
  Sort(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out, const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), indices_(d.op == "argsort"), out_(out), view_(axis_view(d, inputs[0])) {
    const EvalInput& in = inputs[0];
    if (!inputs[1].is_scalar) throw EvalError(d.op + ": its second operand is no immediate");
    const bool top = d.op == "topk";
    descending_ = top || inputs[1].scalar != 0;
    kept_ = view_.length;
    if (top) {
      if (!(inputs[1].scalar >= 0 && inputs[1].scalar <= static_cast<double>(view_.length)))
        throw EvalError("topk of more elements than there are");
      kept_ = static_cast<int64_t>(inputs[1].scalar);
    }
    require_elements(d, in, view_.outer * kept_ * view_.inner);
    if (!indices_) require_type(d, in);
    if (indices_ && d.output.dtype != DType::i32) throw EvalError("argsort gives i32");
    compute_ = is_float(in.dtype) ? Compute::f32 : is_wide_integer(in.dtype) ? Compute::i64 : Compute::i32;
    in_type(compute_, [&](auto t) { keys_ = dense_values<decltype(t)>(arithmetic_, in, d.op, &storage_); });
    if (!indices_) bytes_ = dense_bytes(in);
    item_ = size_of(d.output.dtype);
    rows_per_part_ = std::max<int64_t>(1, kPartElements / std::max<int64_t>(1, view_.length * view_.inner));
  }

  int parts() const override { return static_cast<int>((view_.outer + rows_per_part_ - 1) / rows_per_part_); }

  void run(int part) override {
    const int64_t begin = part * rows_per_part_, end = std::min(view_.outer, begin + rows_per_part_);
    for (int64_t o = begin; o < end; ++o) {
      for (int64_t i = 0; i < view_.inner; ++i) {
        in_type(compute_, [&](auto t) { sort<decltype(t)>(o, i); });
      }
    }
  }

 private:
  template <class T>
  void sort(int64_t o, int64_t i) {
    const int64_t first = o * view_.length * view_.inner + i;
    const T* keys = static_cast<const T*>(keys_) + first;
    const auto less = [&](int32_t x, int32_t y) {
      const T a = keys[x * view_.inner], b = keys[y * view_.inner];
      return a == a && (a < b || b != b);
    };
    std::vector<int32_t> order(static_cast<size_t>(view_.length));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t x, int32_t y) { return descending_ ? less(y, x) : less(x, y); });
    for (int64_t r = 0; r < kept_; ++r) {
      const int32_t from = order[static_cast<size_t>(r)];
      const void* element = &from;
      if (!indices_) element = &bytes_[static_cast<size_t>(first + from * view_.inner) * item_];
      std::memcpy(out_ + static_cast<size_t>((o * kept_ + r) * view_.inner + i) * item_, element, item_);
    }
  }

  const Arithmetic& arithmetic_;
  bool indices_, descending_ = false;
  uint8_t* out_;
  AxisView view_;
  int64_t kept_ = 0, rows_per_part_ = 1;
  size_t item_ = 0;
  Compute compute_ = Compute::f32;
  Bytes storage_, bytes_;
  const void* keys_ = nullptr;
};

/// An evaluation of one part; run() does all of it.
class Whole : public Evaluation {
 public:
  int parts() const override { return 1; }
};

/// Concatenates all operands along the axis.
class Cat : public Whole {
 public:
  Cat(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out) : inputs_(inputs), out_(out) {
    const size_t item = size_of(d.output.dtype);
    for (const EvalInput& in : inputs_) {
      require_type(d, in);
      const AxisView v = axis_view(d, in);
      bool fits = in.shape.rank() == d.output.shape.rank();
      for (int i = 0; fits && i < in.shape.rank(); ++i) fits = i == v.axis || in.shape[i] == d.output.shape[i];
      if (!fits) throw EvalError("cat: shape " + in.shape.to_string() + " into " + d.output.shape.to_string());
      outer_ = v.outer;
      row_ += runs_.emplace_back(static_cast<size_t>(v.length * v.inner) * item);
    }
    if (static_cast<size_t>(outer_) * row_ != d.output.nbytes())
      throw EvalError("cat: the operands do not make up " + d.output.shape.to_string());
  }
  void run(int) override {
    size_t first = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Bytes bytes = dense_bytes(inputs_[i]);
      for (size_t o = 0; o < static_cast<size_t>(outer_); ++o) {
        if (runs_[i]) std::memcpy(out_ + o * row_ + first, bytes.data() + o * runs_[i], runs_[i]);
      }
      first += runs_[i];
    }
  }

 private:
  std::vector<EvalInput> inputs_;
  uint8_t* out_;
  int64_t outer_ = 1;
  size_t row_ = 0;
  std::vector<size_t> runs_;  ///< bytes of each operand along the axis and the dimensions inside it
};

class Flip : public Whole {
 public:
  Flip(const OpDesc& d, const EvalInput& in, uint8_t* out) : in_(in), out_(out), view_(axis_view(d, in)) {
    require_type(d, in);
    require_elements(d, in, in.shape.elements());
  }
  void run(int) override {
    const Bytes bytes = dense_bytes(in_);
    const size_t run = static_cast<size_t>(view_.inner) * size_of(in_.dtype);
    for (int64_t o = 0; o < view_.outer; ++o) {
      for (int64_t r = 0; r < view_.length; ++r) {
        std::memcpy(out_ + static_cast<size_t>(o * view_.length + r) * run,
                    bytes.data() + static_cast<size_t>((o + 1) * view_.length - 1 - r) * run, run);
      }
    }
  }

 private:
  EvalInput in_;
  uint8_t* out_;
  AxisView view_;
};

/// out[…, i, …] = x[…, index[…, i, …], …] along the axis. In all other dimensions the index has x's shape.
class Gather : public Whole {
 public:
  Gather(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out, const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), source_(inputs[0]), index_(inputs[1]), out_(out), from_(axis_view(d, source_)) {
    require_type(d, source_);
    if (index_.is_scalar || is_float(index_.dtype)) throw EvalError("gather: the index is no tensor of integers");
    to_ = axis_view(d, index_);
    bool fits = index_.shape.rank() == source_.shape.rank();
    for (int i = 0; fits && i < index_.shape.rank(); ++i) fits = i == from_.axis || index_.shape[i] == source_.shape[i];
    if (!fits) throw EvalError("gather: index " + index_.shape.to_string() + " of " + source_.shape.to_string());
    require_elements(d, index_, index_.shape.elements());
  }
  void run(int) override {
    Bytes storage;
    const int64_t* at = dense_values<int64_t>(arithmetic_, index_, "gather", &storage);
    const Bytes bytes = dense_bytes(source_);
    const size_t item = size_of(source_.dtype);
    for (int64_t i = 0; i < index_.shape.elements(); ++i) {
      if (at[i] < 0 || at[i] >= from_.length)
        throw EvalError("gather: index " + std::to_string(at[i]) + " at element " + std::to_string(i) +
                        " leaves the axis of " + std::to_string(from_.length));
      const int64_t o = i / (to_.inner * to_.length), inner = i % to_.inner;
      const int64_t from = (o * from_.length + at[i]) * from_.inner + inner;
      std::memcpy(out_ + static_cast<size_t>(i) * item, &bytes[static_cast<size_t>(from) * item], item);
    }
  }

 private:
  const Arithmetic& arithmetic_;
  EvalInput source_, index_;
  uint8_t* out_;
  AxisView from_, to_;
};

/// Counts the elements that are 0, 1, …. Elements outside all bins are not counted.
class Histogram : public Whole {
 public:
  Histogram(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out, const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), in_(inputs[0]), out_(out), bins_(d.output.shape.elements()) {
    if (in_.is_scalar || is_float(in_.dtype) || d.output.dtype != DType::i32)
      throw EvalError("histogram takes integers and gives i32");
    if (!inputs[1].is_scalar || inputs[1].scalar != static_cast<double>(bins_))
      throw EvalError("histogram: as many bins as the output has elements");
  }
  void run(int) override {
    Bytes storage;
    const int64_t* v = dense_values<int64_t>(arithmetic_, in_, "histogram", &storage);
    std::vector<int32_t> counts(static_cast<size_t>(bins_));
    for (int64_t i = 0; i < in_.shape.elements(); ++i) {
      if (v[i] >= 0 && v[i] < bins_) ++counts[static_cast<size_t>(v[i])];
    }
    std::memcpy(out_, counts.data(), 4 * counts.size());
  }

 private:
  const Arithmetic& arithmetic_;
  EvalInput in_;
  uint8_t* out_;
  int64_t bins_;
};

/// Values times scales, computed in f32 and rounded once. Each scale applies to an equal number of values along the
/// last axis. A u8 scale is an e8m0 (OCP MX): 2^(v - 127), where 255 is NaN.
class Dequantize : public Whole {
 public:
  Dequantize(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out, const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), in_(inputs[0]), scale_(inputs[1]), dtype_(d.output.dtype), out_(out) {
    if (in_.is_scalar || in_.shape.rank() == 0) throw EvalError("dequantize: its operand is no tensor");
    last_ = in_.shape[in_.shape.rank() - 1] * values_in(in_.dtype);
    require_elements(d, in_, in_.shape.elements() * values_in(in_.dtype));
    if (scale_.is_scalar) return;
    const int64_t groups = scale_.shape.rank() ? scale_.shape[scale_.shape.rank() - 1] : 0;
    bool fits = scale_.shape.rank() == in_.shape.rank() && groups > 0 && last_ % groups == 0;
    for (int i = 0; fits && i + 1 < in_.shape.rank(); ++i) fits = scale_.shape[i] == in_.shape[i];
    if (!fits) throw EvalError("dequantize: scales " + scale_.shape.to_string() + " for " + in_.shape.to_string());
    group_ = last_ / groups;
  }
  void run(int) override {
    Bytes storage, scales;
    const float* values;
    if (is_packed(in_.dtype)) {
      const Bytes packed = dense_bytes(in_);
      const DType plain = unpacked(in_.dtype);
      Bytes each(2 * packed.size() * size_of(plain));
      unpack(packed.data(), in_.dtype, each.data(), packed.size());
      storage.resize(2 * packed.size() * sizeof(float));
      arithmetic_.to_f32(each.data(), plain, reinterpret_cast<float*>(storage.data()), 2 * packed.size());
      values = reinterpret_cast<const float*>(storage.data());
    } else {
      values = dense_values<float>(arithmetic_, in_, "dequantize", &storage);
    }
    const float* by = scale_.is_scalar ? nullptr : dense_values<float>(arithmetic_, scale_, "dequantize", &scales);
    const bool exponents = !scale_.is_scalar && scale_.dtype == DType::u8;
    const int64_t n = in_.shape.elements() * values_in(in_.dtype);
    alignas(64) float line[kBlock], factor[kBlock];
    for (int64_t at = 0; at < n; at += static_cast<int64_t>(kBlock)) {
      const auto len = static_cast<size_t>(std::min<int64_t>(n - at, kBlock));
      for (size_t i = 0; i < len; ++i) {
        const int64_t e = at + static_cast<int64_t>(i);
        const float s = by ? by[e / group_] : static_cast<float>(scale_.scalar);
        factor[i] = !exponents ? s : s == 255 ? NAN : std::ldexp(1.0f, static_cast<int>(s) - 127);
      }
      function<float>(arithmetic_, Fn::mul)(line, values + at, factor, nullptr, len);
      arithmetic_.from_f32(line, dtype_, out_ + at * static_cast<int64_t>(size_of(dtype_)), len);
    }
  }

 private:
  const Arithmetic& arithmetic_;
  EvalInput in_, scale_;
  DType dtype_;
  uint8_t* out_;
  int64_t last_ = 0, group_ = 1;
};

}  // namespace

std::unique_ptr<Evaluation> make_sort(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
                                      const Arithmetic& arithmetic) {
  return std::make_unique<Sort>(d, inputs, out, arithmetic);
}

std::unique_ptr<Evaluation> make_arrangement(const MathOp& op, const OpDesc& d, const std::vector<EvalInput>& inputs,
                                             uint8_t* out, const Arithmetic& arithmetic) {
  if (op.kind == MathKind::dequantize) return std::make_unique<Dequantize>(d, inputs, out, arithmetic);
  if (op.kind == MathKind::histogram) return std::make_unique<Histogram>(d, inputs, out, arithmetic);
  if (op.name == "cat") return std::make_unique<Cat>(d, inputs, out);
  if (op.name == "flip") return std::make_unique<Flip>(d, inputs[0], out);
  return std::make_unique<Gather>(d, inputs, out, arithmetic);
}

}  // namespace kernbench::phase2
