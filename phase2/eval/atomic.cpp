// SPDX-License-Identifier: Apache-2.0
#include "kernbench/phase2/eval/atomic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <unordered_map>

#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval_atomic.h"

namespace kernbench::phase2 {

namespace {

template <class T, class Op>
void on(const uint8_t* operand, const uint8_t* expected, uint8_t* element, Op op) {
  T old, value, wanted = T();
  std::memcpy(&old, element, sizeof old);
  std::memcpy(&value, operand, sizeof value);
  if (expected) std::memcpy(&wanted, expected, sizeof wanted);
  const T result = op(old, value, wanted);
  std::memcpy(element, &result, sizeof result);
}

struct NamedAtomic {
  std::string_view op;
  AtomicFn function;
};

/// NaN if either is NaN, as MATH's maximum and minimum.
template <class T>
T maximum(T a, T b) {
  return std::is_floating_point_v<T> && std::isnan(static_cast<double>(b)) ? b : std::max(a, b);
}
template <class T>
T minimum(T a, T b) {
  return std::is_floating_point_v<T> && std::isnan(static_cast<double>(b)) ? b : std::min(a, b);
}

#define KB_ATOMIC(T, name, result)                                                                   \
  NamedAtomic {                                                                                      \
    name, [](const uint8_t* operand, const uint8_t* expected, uint8_t* element) {                    \
      on<T>(operand, expected, element, [](T a, T b, [[maybe_unused]] T e) -> T { return result; }); \
    }                                                                                                \
  }

template <class T>
constexpr NamedAtomic kOfNumbers[] = {KB_ATOMIC(T, "add", a + b), KB_ATOMIC(T, "max", maximum(a, b)),
                                      KB_ATOMIC(T, "min", minimum(a, b)), KB_ATOMIC(T, "xchg", (void(a), b))};
// i32 values have the same bits as u32 values.
constexpr NamedAtomic kOfBits[] = {KB_ATOMIC(uint32_t, "add", a + b), KB_ATOMIC(uint32_t, "and", a& b),
                                   KB_ATOMIC(uint32_t, "or", a | b), KB_ATOMIC(uint32_t, "xor", a ^ b),
                                   KB_ATOMIC(uint32_t, "cas", a == e ? b : a)};
#undef KB_ATOMIC

template <DType type>
void add_rounded(const uint8_t* operand, const uint8_t*, uint8_t* element) {
  store_scalar(static_cast<float>(load_scalar(element, type)) + static_cast<float>(load_scalar(operand, type)), type,
               element);
}

template <size_t n>
AtomicFn named(const NamedAtomic (&all)[n], std::string_view op) {
  const auto at = std::find_if(all, all + n, [&](const NamedAtomic& a) { return a.op == op; });
  return at == all + n ? nullptr : at->function;
}

}  // namespace

bool reduces_on_the_way(std::string_view op) {
  return op == "add" || op == "max" || op == "min";
}

AtomicFn atomic_of(std::string_view op, DType t) {
  switch (t) {
    case DType::u32:
    case DType::i32:
      if (const AtomicFn bits = named(kOfBits, op)) return bits;
      return t == DType::u32 ? named(kOfNumbers<uint32_t>, op) : named(kOfNumbers<int32_t>, op);
    case DType::f32:
      return named(kOfNumbers<float>, op);
    case DType::f16:
      return op == "add" ? add_rounded<DType::f16> : nullptr;
    case DType::bf16:
      return op == "add" ? add_rounded<DType::bf16> : nullptr;
    default:
      return nullptr;
  }
}

namespace {

class Atomic : public Evaluation {
 public:
  Atomic(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out) : d_(d), out_(out) {
    type_ = inputs.empty() ? DType::f32 : inputs[0].dtype;
    function_ = atomic_of(d.op, type_);
    if (inputs.size() < (d.op == "cas" ? 3u : 2u) || !function_)
      throw EvalError(d.name + ": no atomic of such operands");
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
    if (d.on_the_way) add_up(d.on_the_way->order);
  }
  int parts() const override { return 1; }
  void run(int) override {
    const uint64_t n = d_.ranged->nbytes(), item = size_of(type_);
    const uint8_t* const expected = d_.op == "cas" ? inputs_[2].data() : nullptr;
    const size_t operands = expected ? 2 : inputs_.size();
    std::unordered_map<uint64_t, uint64_t> done;  // address -> last element of the value that was applied there
    uint64_t at = 0;
    for (const MovedRange& r : d_.ranged->ranges) {
      for (uint64_t i = 0; i < r.nbytes; i += item, at += item) {
        const auto before = d_.ranged->ranges.size() > 1 ? done.find(r.addr + i) : done.end();
        uint8_t *const old = out_ + at, *const now = out_ + n + at;
        std::memcpy(old, before == done.end() ? inputs_[0].data() + at : out_ + n + before->second, item);
        std::memcpy(now, old, item);
        for (size_t v = 1; v < operands; ++v)
          function_(inputs_[v].data() + at, expected ? expected + at : nullptr, now);
        if (d_.ranged->ranges.size() > 1) done[r.addr + i] = at;
      }
    }
  }

 private:
  /// Replaces the values of a reduction's sources by the messages that reach memory.
  void add_up(const std::vector<int64_t>& order) {
    std::vector<Bytes> results;
    for (const int64_t step : order) {
      if (step != OnTheWay::kAdd) {
        results.push_back(inputs_.at(static_cast<size_t>(step) + 1));
        continue;
      }
      const Bytes last = std::move(results.back());
      results.pop_back();
      for (size_t at = 0; at < last.size(); at += size_of(type_))
        function_(last.data() + at, nullptr, results.back().data() + at);
    }
    inputs_.resize(1);
    for (Bytes& r : results) inputs_.push_back(std::move(r));
  }

  const OpDesc& d_;
  uint8_t* out_;
  DType type_ = DType::f32;
  AtomicFn function_ = nullptr;
  std::vector<Bytes> inputs_;  ///< dense, in the order of the ranges
};

}  // namespace

std::unique_ptr<Evaluation> make_atomic(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out) {
  return std::make_unique<Atomic>(d, inputs, out);
}

}  // namespace kernbench::phase2
