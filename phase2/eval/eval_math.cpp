// SPDX-License-Identifier: Apache-2.0
// Math ops: elementwise ops and creators. Other files have the other kinds.
#include "kernbench/phase2/eval/eval_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernbench/phase2/eval/axis.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/elementwise.h"
#include "kernbench/phase2/op/chain.h"
#include "kernbench/phase2/op/combiner.h"

namespace kernbench::phase2 {
namespace {

std::vector<Dims> strides_of(const std::vector<EvalInput>& inputs, const OpDesc& d) {
  std::vector<Dims> strides;
  for (const EvalInput& in : inputs) strides.push_back(broadcast_strides(in, d.output.shape, d.op));
  return strides;
}

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
        total_(d.output.shape.elements()),
        walk_(d.output.shape, strides_of(inputs, d)) {}

  int parts() const override { return static_cast<int>((total_ + kPartElements - 1) / kPartElements); }

  void run(int part) override {
    const int64_t begin = part * kPartElements;
    const int64_t end = std::min(total_, begin + kPartElements);
    in_type(compute_, [&](auto t) { run_range<decltype(t)>(begin, end); });
  }

 private:
  template <class T>
  void run_range(int64_t begin, int64_t end) {
    const auto out_item = static_cast<int64_t>(size_of(dtype_));
    const bool in_place = nothing_to_convert<T>();
    const auto apply = function<T>(arithmetic_, fn_);
    alignas(64) T buffers[3][kBlock];
    alignas(64) T result[kBlock];
    for (int64_t at = begin; at < end;) {
      const int64_t run = walk_.run(at, end - at);
      const auto n = static_cast<size_t>(in_place ? run : std::min(run, static_cast<int64_t>(kBlock)));
      const T* in[3] = {nullptr, nullptr, nullptr};
      for (size_t j = 0; j < inputs_.size(); ++j) {
        in[j] = fetch_block<T>(arithmetic_, inputs_[j], walk_.offset(j, at), walk_.stride(j), n, condition_ && j == 0,
                               buffers[j]);
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

  /// Whether operands and output are contiguous elements of T, so that a block may have any length.
  template <class T>
  bool nothing_to_convert() const {
    bool plain = is_itself<T>(dtype_, out_);
    for (size_t j = 0; j < inputs_.size(); ++j) {
      plain &= !inputs_[j].is_scalar && is_itself<T>(inputs_[j].dtype, inputs_[j].data) && walk_.stride(j) == 1 &&
               !(condition_ && j == 0);
    }
    return plain;
  }

  std::vector<EvalInput> inputs_;
  const Arithmetic& arithmetic_;
  Fn fn_;
  Compute compute_;
  bool condition_;
  DType dtype_;
  uint8_t* out_;
  int64_t total_;
  Walk walk_;
};

/// Runs a block of positions through all steps. Intermediate values are rounded to the step's type.
class ChainEvaluation : public Evaluation {
 public:
  ChainEvaluation(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out, const Arithmetic& arithmetic)
      : chain_(read(d)),
        inputs_(inputs),
        arithmetic_(arithmetic),
        out_(out),
        total_(d.output.shape.elements()),
        walk_(d.output.shape, strides_of(inputs, d)) {
    const std::vector<Chain::Step>& steps = chain_->steps();
    if (steps.back().dtype != d.output.dtype)
      throw EvalError("chain gives " + std::string(name_of(steps.back().dtype)) + ", its output is " +
                      std::string(name_of(d.output.dtype)));
    for (const Chain::Step& s : steps) {
      std::vector<EvalInput> in;
      for (const Chain::Source& from : s.in) {
        if (!from.of_step && from.index >= inputs.size())
          throw EvalError("chain: '" + s.to_string() + "' of " + std::to_string(inputs.size()) + " operands");
        in.push_back(from.of_step ? between(nullptr, from.index, 1) : inputs[from.index]);
      }
      compute_.push_back(compute_type(*s.op, in));
    }
  }

  int parts() const override { return static_cast<int>((total_ + kPartElements - 1) / kPartElements); }

  void run(int part) override {
    const int64_t begin = part * kPartElements;
    const int64_t end = std::min(total_, begin + kPartElements);
    const std::vector<Chain::Step>& steps = chain_->steps();
    std::vector<Block> values(steps.size() - 1);
    for (int64_t at = begin; at < end;) {
      const int64_t n = walk_.run(at, std::min(end - at, static_cast<int64_t>(kBlock)));
      for (size_t i = 0; i < steps.size(); ++i) {
        uint8_t* to =
            i + 1 == steps.size() ? out_ + at * static_cast<int64_t>(size_of(steps[i].dtype)) : values[i].bytes;
        in_type(compute_[i], [&](auto t) { step<decltype(t)>(steps[i], at, static_cast<size_t>(n), values, to); });
      }
      at += n;
    }
  }

 private:
  struct alignas(64) Block {
    uint8_t bytes[kBlock * 8];
  };

  static std::shared_ptr<const Chain> read(const OpDesc& d) {
    try {
      return Chain::of(d.argument);
    } catch (const std::invalid_argument& e) {
      throw EvalError(e.what());
    }
  }

  /// The result of step `index`.
  EvalInput between(const uint8_t* bytes, size_t index, int64_t n) const {
    return EvalInput::tensor(bytes, chain_->steps()[index].dtype, {n});
  }

  template <class T>
  void step(const Chain::Step& s, int64_t at, size_t n, const std::vector<Block>& values, uint8_t* to) const {
    alignas(64) T buffers[3][kBlock];
    alignas(64) T result[kBlock];
    const T* in[3] = {nullptr, nullptr, nullptr};
    for (size_t j = 0; j < s.in.size(); ++j) {
      const size_t from = s.in[j].index;
      const bool condition = s.op->first_is_condition && j == 0;
      if (s.in[j].of_step) {
        const EvalInput x = between(values[from].bytes, from, static_cast<int64_t>(n));
        in[j] = fetch_block<T>(arithmetic_, x, 0, 1, n, condition, buffers[j]);
      } else {
        in[j] = fetch_block<T>(arithmetic_, inputs_[from], walk_.offset(from, at), walk_.stride(from), n, condition,
                               buffers[j]);
      }
    }
    const auto apply = function<T>(arithmetic_, s.op->fn);
    if (is_itself<T>(s.dtype, to)) return apply(reinterpret_cast<T*>(to), in[0], in[1], in[2], n);
    apply(result, in[0], in[1], in[2], n);
    narrow(arithmetic_, result, s.dtype, to, n);
  }

  std::shared_ptr<const Chain> chain_;
  std::vector<EvalInput> inputs_;
  const Arithmetic& arithmetic_;
  uint8_t* out_;
  int64_t total_;
  Walk walk_;
  std::vector<Compute> compute_;  ///< by step
};

/// full(value) and arange(start, step). Element i is start + i * step, exact in f64 and rounded once, or modulo 2^64.
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

/// Gives 1 if all elements are nonzero, the condition of device_assert.
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
    case MathKind::chain:
      return std::make_unique<ChainEvaluation>(d, inputs, out, arithmetic);
    case MathKind::create:
      return std::make_unique<Create>(d, inputs, out);
    case MathKind::report:
      return std::make_unique<Report>(d, inputs[0], out);
  }
  return nullptr;
}

}  // namespace kernbench::phase2
