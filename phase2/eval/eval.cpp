// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/eval/eval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/elementwise.h"
#include "kernbench/phase2/eval/eval_atomic.h"
#include "kernbench/phase2/eval/eval_math.h"

namespace kernbench::phase2 {
namespace {

/// out = mask ? source : other; without a mask, all of source. Copies bytes and does not convert values.
class Move : public Evaluation {
 public:
  Move(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out)
      : inputs_(inputs), item_(size_of(d.output.dtype)), shape_(d.output.shape), out_(out) {
    for (const EvalInput& in : inputs_) strides_.push_back(broadcast_strides(in, shape_, d.name));
    // An operand smaller than the output would be read beyond its end.
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (i != 1 && !inputs_[i].is_scalar && size_of(inputs_[i].dtype) != item_) {
        throw EvalError(d.name + ": " + std::string(name_of(inputs_[i].dtype)) + " moved as " +
                        std::string(name_of(d.output.dtype)));
      }
    }
    if (inputs_.size() > 2 && inputs_[2].is_scalar) {
      other_.resize(item_);
      store_scalar(inputs_[2].scalar, d.output.dtype, other_.data());
    }
  }
  int parts() const override { return 1; }
  void run(int) override {
    const int64_t n = shape_.elements();
    for (int64_t i = 0; i < n; ++i) {
      uint8_t* to = out_ + static_cast<size_t>(i) * item_;
      if (inputs_.size() < 2 || is_on(i)) {
        std::memcpy(to, at(0, i), item_);
      } else if (!other_.empty()) {
        std::memcpy(to, other_.data(), item_);
      } else if (inputs_.size() > 2) {
        std::memcpy(to, at(2, i), item_);
      } else {
        std::memset(to, 0, item_);
      }
    }
  }

 private:
  const uint8_t* at(size_t input, int64_t index) const {
    int64_t offset = 0;
    for (int d = shape_.rank() - 1; d >= 0; --d) {
      offset += index % shape_[d] * strides_[input][d];
      index /= shape_[d];
    }
    return inputs_[input].data + offset * static_cast<int64_t>(size_of(inputs_[input].dtype));
  }
  bool is_on(int64_t index) const {
    if (inputs_[1].is_scalar) return inputs_[1].scalar != 0;
    uint8_t on;
    nonzero(at(1, index), inputs_[1].dtype, &on, 1);
    return on != 0;
  }

  std::vector<EvalInput> inputs_;
  std::vector<Dims> strides_;
  size_t item_;
  Dims shape_;
  uint8_t* out_;
  Bytes other_;
};

/// Copies the result that an engine computed in Phase 1.
class Given : public Evaluation {
 public:
  Given(const OpDesc& d, uint8_t* out) : bytes_(d.engine_result->bytes), out_(out) {
    if (!bytes_) throw EvalError("the engine that computes it has given no result");
  }
  int parts() const override { return 1; }
  void run(int) override {
    if (!bytes_->empty()) std::memcpy(out_, bytes_->data(), bytes_->size());
  }

 private:
  std::shared_ptr<const Bytes> bytes_;
  uint8_t* out_;
};

}  // namespace

EvalInput EvalInput::immediate(double v) {
  EvalInput in;
  in.is_scalar = true;
  in.scalar = v;
  return in;
}

EvalInput EvalInput::tensor(const uint8_t* data, DType dtype, const Dims& shape) {
  EvalInput in;
  in.data = data;
  in.dtype = dtype;
  in.shape = shape;
  in.strides = TensorRef::row_major(shape);
  return in;
}

namespace {

/// The contents of ranges, in memory or in a value, as one dense vector.
Operand in_ranges(const TensorRef& place, const RangedOp& op, bool of_value) {
  auto pieces = std::make_shared<Translation>();
  uint64_t at = 0;
  for (const MovedRange& r : op.ranges) {
    pieces->pieces.push_back({at, of_value ? place.addr + r.offset : r.addr, r.nbytes});
    at += r.nbytes;
  }
  Operand o;
  o.ref.space = of_value ? place.space : op.space;
  o.ref.pe = of_value ? place.pe : kNoPe;
  o.ref.addr = pieces->pieces.front().addr;
  o.ref.dtype = place.dtype;
  o.ref.shape = Dims{static_cast<int64_t>(at / size_of(place.dtype))};
  o.ref.strides = Dims{1};
  o.ref.translation = std::move(pieces);
  return o;
}

std::vector<Operand> atomic_inputs(const OpDesc& d) {
  std::vector<Operand> all{in_ranges(d.output, *d.ranged, false)};
  for (const Operand& o : d.on_the_way ? d.on_the_way->values : d.operands)
    all.push_back(o.is_scalar ? o : in_ranges(o.ref, *d.ranged, true));
  return all;
}

}  // namespace

std::vector<Operand> inputs_of(const OpDesc& d) {
  if (d.type == CommandType::atomic) return atomic_inputs(d);
  std::vector<Operand> all = d.operands;
  for (const EpilogueOp& e : d.epilogue) all.insert(all.end(), e.operands.begin(), e.operands.end());
  if (overwrites_in_part(d)) {
    Operand old;
    old.ref = d.output;
    all.push_back(old);
  }
  return all;
}

std::unique_ptr<Evaluation> make_move(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out) {
  return std::make_unique<Move>(d, inputs, out);
}

std::unique_ptr<Evaluation> make_evaluation(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
                                            Isa isa) {
  if (d.engine_result) return std::make_unique<Given>(d, out);
  switch (d.type) {
    case CommandType::load:
    case CommandType::store:
      return make_move(d, inputs, out);
    case CommandType::math:
      return make_math(d, inputs, out, arithmetic_of(isa));
    case CommandType::gemm:
    case CommandType::composite:
      return make_fused(d, inputs, out, arithmetic_of(isa));
    case CommandType::atomic:
      return make_atomic(d, inputs, out);
    case CommandType::send:
    case CommandType::receive:
      break;  // these have no records
  }
  return nullptr;
}

std::string report_text(const OpDesc& d, const EvalInput& in) {
  constexpr int64_t kMost = 64;
  const bool asserts = d.op == "device_assert";
  std::string text = d.where.line ? std::string(d.where.file) + ":" + std::to_string(d.where.line) + ": " : "";
  text += (asserts ? "device_assert: " : "device_print: ") + d.argument + ": " + in.shape.to_string() + " " +
          std::string(name_of(in.dtype)) + ":";
  const int64_t n = in.shape.elements();
  for (int64_t i = 0; i < std::min(n, kMost); ++i) {
    int64_t offset = 0, at = i;
    for (int dim = in.shape.rank() - 1; dim >= 0; --dim) {
      offset += at % in.shape[dim] * in.strides[dim];
      at /= in.shape[dim];
    }
    const uint8_t* element = in.data + offset * static_cast<int64_t>(size_of(in.dtype));
    text += is_float(in.dtype) ? fmt::format(" {:.9g}", load_scalar(element, in.dtype))
                               : fmt::format(" {}", load_integer(element, in.dtype));
  }
  return n > kMost ? text + " … (" + std::to_string(n) + " elements)" : text;
}

Bytes evaluate(const OpDesc& d, const std::vector<EvalInput>& inputs, Isa isa) {
  Bytes out(d.value_bytes());
  const auto e = make_evaluation(d, inputs, out.data(), isa);
  for (int p = 0; p < e->parts(); ++p) e->run(p);
  return out;
}

}  // namespace kernbench::phase2
