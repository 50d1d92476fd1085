#include "kernbench/phase2/eval/atomic.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval_atomic.h"

namespace kernbench {

bool atomic_exists(std::string_view op, DType t) {
  const std::string_view name = name_of(t);
  const auto one_of = [&](std::initializer_list<std::string_view> ops) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  };
  if (name == "u32" || name == "i32") return one_of({"add", "max", "min", "and", "or", "xor", "xchg", "cas"});
  if (name == "f32") return one_of({"add", "max", "min", "xchg"});
  return (name == "f16" || name == "bf16") && op == "add";
}

void do_atomic(std::string_view op, DType t, const uint8_t* operand, const uint8_t* expected, uint8_t* element) {
  const std::string_view name = name_of(t);
  if (name == "f16" || name == "bf16") {
    const auto sum = static_cast<float>(load_scalar(element, t)) + static_cast<float>(load_scalar(operand, t));
    return store_scalar(sum, t, element);
  }
  if (name == "f32") {
    float a = 0, b = 0;
    std::memcpy(&a, element, sizeof a);
    std::memcpy(&b, operand, sizeof b);
    const float c = op == "add" ? a + b : op == "max" ? std::max(a, b) : op == "min" ? std::min(a, b) : b;
    return void(std::memcpy(element, &c, sizeof c));
  }
  uint32_t a = 0, b = 0;
  std::memcpy(&a, element, sizeof a);
  std::memcpy(&b, operand, sizeof b);
  const bool is_less = name == "u32" ? a < b : static_cast<int32_t>(a) < static_cast<int32_t>(b);
  uint32_t c = b;  // xchg
  if (op == "add") c = a + b;
  if (op == "max") c = is_less ? b : a;
  if (op == "min") c = is_less ? a : b;
  if (op == "and") c = a & b;
  if (op == "or") c = a | b;
  if (op == "xor") c = a ^ b;
  if (op == "cas") c = std::memcmp(element, expected, sizeof a) == 0 ? b : a;
  std::memcpy(element, &c, sizeof c);
}

namespace {

class Atomic : public Evaluation {
 public:
  Atomic(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out) : d_(d), out_(out) {
    if (inputs.size() < (d.op == "cas" ? 3u : 2u) || !atomic_exists(d.op, inputs[0].dtype))
      throw EvalError(d.name + ": no atomic of such operands");
    type_ = inputs[0].dtype;
    const uint64_t n = d.ranged->nbytes(), item = size_of(type_);
    for (const EvalInput& in : inputs) {
      Bytes& dense = inputs_.emplace_back(n);
      if (in.is_scalar) {
        for (uint64_t at = 0; at < n; at += item) store_scalar(in.scalar, type_, dense.data() + at);
      } else if (in.shape.elements() * static_cast<int64_t>(size_of(in.dtype)) != static_cast<int64_t>(n)) {
        throw EvalError(d.name + ": operands of other sizes than its ranges");
      } else {
        const int64_t stride = in.shape.rank() == 1 ? in.strides[0] : 1;
        for (uint64_t i = 0; i < n / item; ++i)
          std::memcpy(dense.data() + i * item, in.data + static_cast<int64_t>(i * item) * stride, item);
      }
    }
  }
  int parts() const override { return 1; }
  void run(int) override {
    const uint64_t n = d_.ranged->nbytes(), item = size_of(type_);
    std::unordered_map<uint64_t, uint64_t> done;  // address: the last element of the value that was done there
    uint64_t at = 0;
    for (const MovedRange& r : d_.ranged->ranges) {
      for (uint64_t i = 0; i < r.nbytes; i += item, at += item) {
        const auto before = d_.ranged->ranges.size() > 1 ? done.find(r.addr + i) : done.end();
        uint8_t *const old = out_ + at, *const now = out_ + n + at;
        std::memcpy(old, before == done.end() ? inputs_[0].data() + at : out_ + n + before->second, item);
        std::memcpy(now, old, item);
        do_atomic(d_.op, type_, inputs_[1].data() + at, inputs_.size() > 2 ? inputs_[2].data() + at : nullptr, now);
        if (d_.ranged->ranges.size() > 1) done[r.addr + i] = at;
      }
    }
  }

 private:
  const OpDesc& d_;
  uint8_t* out_;
  DType type_ = DType::f32;
  std::vector<Bytes> inputs_;  ///< dense, as the ranges stand
};

}  // namespace

std::unique_ptr<Evaluation> make_atomic(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out) {
  return std::make_unique<Atomic>(d, inputs, out);
}

}  // namespace kernbench
