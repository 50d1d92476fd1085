// Math ops: elementwise and creators; the other kinds have files of their own.
#include "kernbench/phase2/eval/eval_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernbench/phase2/eval/axis.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/elementwise.h"
#include "kernbench/phase2/op/combiner.h"

namespace kernbench {
namespace {

class Elementwise : public Evaluation {
 public:
  Elementwise(const MathOp& op, const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
              const Arithmetic& arithmetic)
      : inputs_(inputs),
        arithmetic_(arithmetic),
        fn_(op.fn),
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
    in_type(compute_, [&](auto t) { run_range<decltype(t)>(begin, end); });
  }

 private:
  template <class T>
  void run_range(int64_t begin, int64_t end) {
    const int64_t inner = shape_[shape_.rank() - 1];
    const auto out_item = static_cast<int64_t>(size_of(dtype_));
    const bool in_place = nothing_to_convert<T>();
    const auto apply = function<T>(arithmetic_, fn_);
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
        apply(reinterpret_cast<T*>(to), in[0], in[1], in[2], n);
      } else {
        apply(result, in[0], in[1], in[2], n);
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

/// full(value) and arange(start, step): element i is start + i * step, exact in f64 and rounded once, or modulo 2^64.
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

/// 1 where all elements are not zero, which device_assert asks for.
class Report : public Evaluation {
 public:
  Report(const OpDesc& d, const EvalInput& in, uint8_t* out) : name_(d.op), in_(in), out_(out) {
    if (in.is_scalar || d.output.nbytes() != 1) throw EvalError(d.op + " takes a tensor and gives a byte");
  }
  int parts() const override { return 1; }
  void run(int) override {
    const Dims strides = broadcast_strides(in_, in_.shape, name_);
    out_[0] = 1;
    for (int64_t i = 0; i < in_.shape.elements(); ++i) {
      int64_t offset = 0, at = i;
      for (int d = in_.shape.rank() - 1; d >= 0; --d) {
        offset += at % in_.shape[d] * strides[d];
        at /= in_.shape[d];
      }
      uint8_t on;
      nonzero(in_.data + offset * static_cast<int64_t>(size_of(in_.dtype)), in_.dtype, &on, 1);
      out_[0] &= on;
    }
  }

 private:
  std::string name_;
  EvalInput in_;
  uint8_t* out_;
};

}  // namespace

std::unique_ptr<Evaluation> make_math(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
                                      const Arithmetic& arithmetic) {
  const MathOp* op = find_math_op(d.op);
  if (!op) throw EvalError("unknown math op '" + d.op + "'");
  if (!takes_operands(*op, inputs.size())) {
    throw EvalError(d.op + " takes " + std::to_string(op->arity) + " operands, got " + std::to_string(inputs.size()));
  }
  switch (op->kind) {
    case MathKind::elementwise:
      return std::make_unique<Elementwise>(*op, d, inputs, out, arithmetic);
    case MathKind::reduction:
    case MathKind::softmax:
    case MathKind::scan:
      return make_along_axis(*op, d, inputs, out, arithmetic);
    case MathKind::sort:
      return make_sort(d, inputs, out, arithmetic);
    case MathKind::arrange:
    case MathKind::dequantize:
    case MathKind::histogram:
      return make_arrangement(*op, d, inputs, out, arithmetic);
    case MathKind::random:
      return make_random(d, inputs, out, arithmetic);
    case MathKind::create:
      return std::make_unique<Create>(d, inputs, out);
    case MathKind::report:
      return std::make_unique<Report>(d, inputs[0], out);
  }
  return nullptr;
}

}  // namespace kernbench
