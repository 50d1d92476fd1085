// Math ops: elementwise, reductions, softmax, creators.
#include "kernbench/phase2/eval/eval_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/elementwise.h"

namespace kernbench {
namespace {

/// Elements of the output that one part makes.
constexpr int64_t kPartElements = 256 * 1024;

void narrow(const Arithmetic& arithmetic, const float* in, DType t, void* out, size_t n) {
  arithmetic.from_f32(in, t, out, n);
}
void narrow(const Arithmetic& arithmetic, const int32_t* in, DType t, void* out, size_t n) {
  arithmetic.from_i32(in, t, out, n);
}
void apply(const Arithmetic& arithmetic, Fn fn, float* o, const float* const* in, size_t n) {
  arithmetic.f32[static_cast<int>(fn)](o, in[0], in[1], in[2], n);
}
void apply(const Arithmetic& arithmetic, Fn fn, int32_t* o, const int32_t* const* in, size_t n) {
  arithmetic.i32[static_cast<int>(fn)](o, in[0], in[1], in[2], n);
}

class Elementwise : public Evaluation {
 public:
  Elementwise(const MathOp& op, const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
              const Arithmetic& arithmetic)
      : inputs_(inputs),
        arithmetic_(arithmetic),
        fn_(fn_of(d.op)),
        compute_(compute_type(op, inputs)),
        condition_(op.first_is_condition),
        dtype_(d.output.dtype),
        out_(out),
        total_(d.output.shape.elements()) {
    std::vector<Dims> strides;
    for (const EvalInput& in : inputs_) strides.push_back(broadcast_strides(in, d.output.shape, d.op));
    // Neighbouring dimensions that every operand walks as one are one.
    const Dims& shape = d.output.shape;
    strides_.resize(inputs_.size());
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] == 1) continue;
      const int last = shape_.rank() - 1;
      bool joins = last >= 0;
      for (size_t j = 0; joins && j < strides.size(); ++j) joins = strides_[j][last] == strides[j][i] * shape[i];
      if (joins) {
        shape_[last] *= shape[i];
        for (size_t j = 0; j < strides.size(); ++j) strides_[j][last] = strides[j][i];
      } else {
        shape_.push_back(shape[i]);
        for (size_t j = 0; j < strides.size(); ++j) strides_[j].push_back(strides[j][i]);
      }
    }
    if (shape_.rank() == 0) {
      shape_.push_back(1);
      for (Dims& s : strides_) s.push_back(0);
    }
  }

  int parts() const override { return static_cast<int>((total_ + kPartElements - 1) / kPartElements); }

  void run(int part) override {
    const int64_t begin = part * kPartElements;
    const int64_t end = std::min(total_, begin + kPartElements);
    if (compute_ == Compute::f32) {
      run_range<float>(begin, end);
    } else {
      run_range<int32_t>(begin, end);
    }
  }

 private:
  template <class T>
  void run_range(int64_t begin, int64_t end) {
    const int64_t inner = shape_[shape_.rank() - 1];
    const auto out_item = static_cast<int64_t>(size_of(dtype_));
    const bool in_place = nothing_to_convert<T>();
    alignas(64) T buffers[3][kBlock];
    alignas(64) T result[kBlock];
    for (int64_t at = begin; at < end;) {
      const int64_t run = std::min(inner - at % inner, end - at);
      const auto n = static_cast<size_t>(in_place ? run : std::min(run, static_cast<int64_t>(kBlock)));
      const T* in[3] = {nullptr, nullptr, nullptr};
      for (size_t j = 0; j < inputs_.size(); ++j) {
        in[j] = fetch_block<T>(arithmetic_, inputs_[j], offset_of(j, at), strides_[j][shape_.rank() - 1], n,
                               condition_ && j == 0, buffers[j]);
      }
      uint8_t* to = out_ + at * out_item;
      if (is_itself<T>(dtype_, to)) {
        apply(arithmetic_, fn_, reinterpret_cast<T*>(to), in, n);
      } else {
        apply(arithmetic_, fn_, result, in, n);
        narrow(arithmetic_, result, dtype_, to, n);
      }
      at += static_cast<int64_t>(n);
    }
  }

  /// Whether operands and output are contiguous elements of T, so that a block may be of any length.
  template <class T>
  bool nothing_to_convert() const {
    bool plain = is_itself<T>(dtype_, out_);
    for (size_t j = 0; j < inputs_.size(); ++j) {
      plain &= !inputs_[j].is_scalar && is_itself<T>(inputs_[j].dtype, inputs_[j].data) &&
               strides_[j][shape_.rank() - 1] == 1 && !(condition_ && j == 0);
    }
    return plain;
  }

  /// Of the operand's element for element `at` of the output, from the operand's first.
  int64_t offset_of(size_t operand, int64_t at) const {
    int64_t offset = 0;
    for (int d = shape_.rank() - 1; d >= 0; --d) {
      offset += at % shape_[d] * strides_[operand][d];
      at /= shape_[d];
    }
    return offset;
  }

  std::vector<EvalInput> inputs_;
  const Arithmetic& arithmetic_;
  Fn fn_;
  Compute compute_;
  bool condition_;
  DType dtype_;
  uint8_t* out_;
  int64_t total_;
  Dims shape_;
  std::vector<Dims> strides_;
};

/// One operand seen as [outer, axis, inner], inner contiguous.
class AlongAxis : public Evaluation {
 public:
  AlongAxis(const OpDesc& d, const EvalInput& in, uint8_t* out, const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), op_(d.op), dtype_(d.output.dtype), out_(out) {
    const int rank = in.shape.rank();
    const int axis = d.axis < 0 ? d.axis + rank : d.axis;
    if (in.is_scalar || axis < 0 || axis >= rank) {
      throw EvalError(d.op + ": no axis " + std::to_string(d.axis) + " in an operand of shape " + in.shape.to_string());
    }
    length_ = in.shape[axis];
    for (int i = 0; i < axis; ++i) outer_ *= in.shape[i];
    for (int i = axis + 1; i < rank; ++i) inner_ *= in.shape[i];
    const int64_t made = d.op == "softmax" ? outer_ * length_ * inner_ : outer_ * inner_;
    if (made != d.output.shape.elements()) {
      throw EvalError(d.op + " of " + in.shape.to_string() + " along axis " + std::to_string(axis) + " gives " +
                      std::to_string(made) + " elements, the output has shape " + d.output.shape.to_string());
    }
    if (length_ == 0 && made > 0 && d.op != "sum") throw EvalError(d.op + " of no elements");
    integers_ = !is_float(in.dtype) && d.op != "softmax";
    // The whole operand as f32 or i32, contiguous: reductions read each element once, so this is cheap.
    values_ = materialise(in);
    rows_per_part_ = std::max<int64_t>(1, kPartElements / std::max<int64_t>(1, length_ * inner_));
  }

  int parts() const override { return static_cast<int>((outer_ + rows_per_part_ - 1) / rows_per_part_); }

  void run(int part) override {
    const int64_t begin = part * rows_per_part_;
    const int64_t end = std::min(outer_, begin + rows_per_part_);
    for (int64_t o = begin; o < end; ++o) {
      if (op_ == "softmax") {
        softmax(o);
      } else if (op_ == "argmax") {
        argmax(o);
      } else if (integers_) {
        reduce_integers(o);
      } else {
        reduce_floats(o);
      }
    }
  }

 private:
  const uint8_t* materialise(const EvalInput& in) {
    TensorRef ref;
    ref.shape = in.shape;
    ref.strides = in.strides;
    ref.dtype = in.dtype;
    const DType want = integers_ ? DType::i32 : DType::f32;
    const bool aligned = reinterpret_cast<uintptr_t>(in.data) % 4 == 0;
    if (ref.contiguous() && in.dtype == want && aligned) return in.data;
    const int64_t n = in.shape.elements();
    storage_.resize(static_cast<size_t>(n) * 4);
    const Dims strides = broadcast_strides(in, in.shape, op_);
    const int last = in.shape.rank() - 1;
    const int64_t inner = in.shape[last];
    for (int64_t at = 0; at < n;) {
      const int64_t col = at % inner;
      const size_t len = static_cast<size_t>(std::min<int64_t>(inner - col, kBlock));
      int64_t offset = col * strides[last];
      int64_t row = at / inner;
      for (int d = last - 1; d >= 0; --d) {
        offset += row % in.shape[d] * strides[d];
        row /= in.shape[d];
      }
      uint8_t* to = storage_.data() + at * 4;
      if (integers_) {
        alignas(64) int32_t buf[kBlock];
        std::memcpy(to, fetch_block<int32_t>(arithmetic_, in, offset, strides[last], len, false, buf), len * 4);
      } else {
        alignas(64) float buf[kBlock];
        std::memcpy(to, fetch_block<float>(arithmetic_, in, offset, strides[last], len, false, buf), len * 4);
      }
      at += static_cast<int64_t>(len);
    }
    return storage_.data();
  }

  template <class T>
  const T* row(int64_t o) const {
    return reinterpret_cast<const T*>(values_) + o * length_ * inner_;
  }
  uint8_t* out_at(int64_t element) const { return out_ + element * static_cast<int64_t>(size_of(dtype_)); }

  void reduce_floats(int64_t o) {
    const float* a = row<float>(o);
    const bool sum = op_ == "sum", max = op_ == "max";
    if (inner_ == 1) {
      const size_t n = static_cast<size_t>(length_);
      const float v = sum ? arithmetic_.sum(a, n) : max ? arithmetic_.max(a, n) : arithmetic_.min(a, n);
      arithmetic_.from_f32(&v, dtype_, out_at(o), 1);
      return;
    }
    // Down the columns, in order; sums in blocks of 256 rows, so that long columns keep their accuracy.
    constexpr int64_t kRows = 256;
    const size_t n = static_cast<size_t>(inner_);
    const float start = sum ? 0.0f : max ? -INFINITY : INFINITY;
    std::vector<float> total(n, start), block(n);
    const auto fn = arithmetic_.f32[static_cast<int>(sum ? Fn::add : max ? Fn::maximum : Fn::minimum)];
    for (int64_t r0 = 0; r0 < length_; r0 += kRows) {
      std::fill(block.begin(), block.end(), start);
      for (int64_t r = r0; r < std::min(length_, r0 + kRows); ++r) {
        fn(block.data(), block.data(), a + r * inner_, nullptr, n);
      }
      fn(total.data(), total.data(), block.data(), nullptr, n);
    }
    arithmetic_.from_f32(total.data(), dtype_, out_at(o * inner_), n);
  }

  void reduce_integers(int64_t o) {
    const int32_t* a = row<int32_t>(o);
    const bool sum = op_ == "sum", max = op_ == "max";
    const size_t n = static_cast<size_t>(inner_);
    std::vector<int32_t> acc(n, sum ? 0 : max ? INT32_MIN : INT32_MAX);
    const auto fn = arithmetic_.i32[static_cast<int>(sum ? Fn::add : max ? Fn::maximum : Fn::minimum)];
    for (int64_t r = 0; r < length_; ++r) fn(acc.data(), acc.data(), a + r * inner_, nullptr, n);
    arithmetic_.from_i32(acc.data(), dtype_, out_at(o * inner_), n);
  }

  /// The first of the largest; the first NaN if there is one.
  void argmax(int64_t o) {
    for (int64_t i = 0; i < inner_; ++i) {
      int32_t best = 0;
      for (int64_t r = 1; r < length_; ++r) {
        bool better;
        if (integers_) {
          const int32_t* a = row<int32_t>(o) + i;
          better = a[r * inner_] > a[best * inner_];
        } else {
          const float* a = row<float>(o) + i;
          const float held = a[best * inner_], v = a[r * inner_];
          better = held == held && (v > held || v != v);
        }
        if (better) best = static_cast<int32_t>(r);
      }
      arithmetic_.from_i32(&best, dtype_, out_at(o * inner_ + i), 1);
    }
  }

  /// exp(x - max) / their sum, in f32.
  void softmax(int64_t o) {
    const size_t n = static_cast<size_t>(length_);
    std::vector<float> line(n), top(n);
    for (int64_t i = 0; i < inner_; ++i) {
      const float* a = row<float>(o) + i;
      for (int64_t r = 0; r < length_; ++r) line[static_cast<size_t>(r)] = a[r * inner_];
      std::fill(top.begin(), top.end(), arithmetic_.max(line.data(), n));
      arithmetic_.f32[static_cast<int>(Fn::sub)](line.data(), line.data(), top.data(), nullptr, n);
      arithmetic_.f32[static_cast<int>(Fn::exp)](line.data(), line.data(), nullptr, nullptr, n);
      std::fill(top.begin(), top.end(), arithmetic_.sum(line.data(), n));
      arithmetic_.f32[static_cast<int>(Fn::div)](line.data(), line.data(), top.data(), nullptr, n);
      if (inner_ == 1) {
        arithmetic_.from_f32(line.data(), dtype_, out_at(o * length_), n);
        continue;
      }
      for (int64_t r = 0; r < length_; ++r) {
        arithmetic_.from_f32(&line[static_cast<size_t>(r)], dtype_, out_at((o * length_ + r) * inner_ + i), 1);
      }
    }
  }

  const Arithmetic& arithmetic_;
  std::string op_;
  DType dtype_;
  uint8_t* out_;
  int64_t outer_ = 1, length_ = 1, inner_ = 1, rows_per_part_ = 1;
  bool integers_ = false;
  Bytes storage_;
  const uint8_t* values_ = nullptr;
};

/// full(value) and arange(start, step): element i is start + i * step, exact in f64 and rounded once, or modulo 2^32.
class Create : public Evaluation {
 public:
  Create(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out)
      : total_(d.output.shape.elements()), dtype_(d.output.dtype), out_(out) {
    for (const EvalInput& in : inputs) {
      if (!in.is_scalar) throw EvalError(d.op + " takes immediates");
    }
    start_ = inputs[0].scalar;
    step_ = inputs.size() > 1 ? inputs[1].scalar : 0;
  }
  int parts() const override { return total_ ? 1 : 0; }
  void run(int) override {
    const size_t item = size_of(dtype_);
    for (int64_t i = 0; i < total_; ++i) {
      if (step_ == 0 && i > 0) {
        std::memcpy(out_ + static_cast<size_t>(i) * item, out_, item);
      } else {
        store_scalar(start_ + static_cast<double>(i) * step_, dtype_, out_ + static_cast<size_t>(i) * item);
      }
    }
  }

 private:
  int64_t total_;
  DType dtype_;
  uint8_t* out_;
  double start_ = 0, step_ = 0;
};

}  // namespace

std::unique_ptr<Evaluation> make_math(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
                                      const Arithmetic& arithmetic) {
  const MathOp* op = find_math_op(d.op);
  if (!op) throw EvalError("unknown math op '" + d.op + "'");
  if (static_cast<int>(inputs.size()) != op->arity) {
    throw EvalError(d.op + " takes " + std::to_string(op->arity) + " operands, got " + std::to_string(inputs.size()));
  }
  switch (op->kind) {
    case MathKind::elementwise:
      return std::make_unique<Elementwise>(*op, d, inputs, out, arithmetic);
    case MathKind::reduction:
    case MathKind::softmax:
      return std::make_unique<AlongAxis>(d, inputs[0], out, arithmetic);
    case MathKind::create:
      return std::make_unique<Create>(d, inputs, out);
  }
  return nullptr;
}

}  // namespace kernbench
