// SPDX-License-Identifier: Apache-2.0
// Random numbers of Philox 4x32 (philox.h).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernbench/phase2/eval/axis.h"
#include "kernbench/phase2/eval/convert.h"
#include "kernbench/phase2/eval/eval_math.h"
#include "kernbench/phase2/eval/philox.h"

namespace kernbench::phase2 {
namespace {

/// Operands: offsets, seed, rounds, and either which of the four words (randint, rand) or which Box-Muller pair
/// (randn).
class Random : public Evaluation {
 public:
  Random(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out, const Arithmetic& arithmetic)
      : arithmetic_(arithmetic), op_(d.op), out_(out), total_(d.output.shape.elements()) {
    const EvalInput& offsets = inputs[0];
    for (size_t i = 1; i < inputs.size(); ++i) {
      if (!inputs[i].is_scalar) throw EvalError(op_ + ": seed, rounds and word are immediates");
    }
    if (offsets.is_scalar || is_float(offsets.dtype)) throw EvalError(op_ + ": offsets are a tensor of integers");
    require_elements(d, offsets, offsets.shape.elements());
    if (d.output.dtype != (op_ == "randint" ? DType::u32 : DType::f32)) throw EvalError(op_ + ": wrong type of output");
    high_half_ = offsets.dtype == DType::i64;
    seed_ = static_cast<uint64_t>(wrap_i64(inputs[1].scalar));
    rounds_ = static_cast<int>(inputs[2].scalar);
    word_ = static_cast<int>(inputs[3].scalar);
    if (!(inputs[2].scalar >= 0 && inputs[2].scalar <= 1000) || word_ < 0 || word_ > 3)
      throw EvalError(op_ + ": rounds are 0 to 1000, words 0 to 3");
    offsets_ = dense_values<int64_t>(arithmetic_, offsets, op_, &storage_);
  }

  int parts() const override { return static_cast<int>((total_ + kPartElements - 1) / kPartElements); }

  void run(int part) override {
    const int64_t begin = part * kPartElements, end = std::min(total_, begin + kPartElements);
    for (int64_t at = begin; at < end; at += static_cast<int64_t>(kBlock)) {
      const auto n = static_cast<size_t>(std::min<int64_t>(end - at, kBlock));
      std::array<uint32_t, 4> words[kBlock];
      for (size_t i = 0; i < n; ++i) {
        const auto offset = static_cast<uint64_t>(offsets_[at + static_cast<int64_t>(i)]);
        words[i] = philox(seed_, high_half_ ? offset : offset & 0xffffffff, rounds_);
      }
      if (op_ == "randn") {
        normal(words, at, n);
        continue;
      }
      for (size_t i = 0; i < n; ++i) {
        const uint32_t word = words[i][static_cast<size_t>(word_)];
        const float unit = uniform_of(word);
        std::memcpy(out_ + 4 * (static_cast<size_t>(at) + i), op_ == "rand" ? static_cast<const void*>(&unit) : &word,
                    4);
      }
    }
  }

 private:
  /// √(-2 ln u) times the cosine or sine of 2 π v, in f32.
  void normal(const std::array<uint32_t, 4>* words, int64_t at, size_t n) {
    alignas(64) float u[kBlock], v[kBlock];
    const auto pair = static_cast<size_t>(word_ / 2 * 2);
    for (size_t i = 0; i < n; ++i) {
      u[i] = std::max(1.0e-7f, uniform_of(words[i][pair]));
      v[i] = 6.283185307179586f * uniform_of(words[i][pair + 1]);
    }
    function<float>(arithmetic_, Fn::log)(u, u, nullptr, nullptr, n);
    function<float>(arithmetic_, word_ % 2 ? Fn::sin : Fn::cos)(v, v, nullptr, nullptr, n);
    for (size_t i = 0; i < n; ++i) u[i] = -2.0f * u[i];
    function<float>(arithmetic_, Fn::sqrt)(u, u, nullptr, nullptr, n);
    function<float>(arithmetic_, Fn::mul)(u, u, v, nullptr, n);
    std::memcpy(out_ + 4 * at, u, 4 * n);
  }

  const Arithmetic& arithmetic_;
  std::string op_;
  uint8_t* out_;
  int64_t total_;
  bool high_half_ = false;
  uint64_t seed_ = 0;
  int rounds_ = 10, word_ = 0;
  Bytes storage_;
  const int64_t* offsets_ = nullptr;
};

}  // namespace

std::unique_ptr<Evaluation> make_random(const OpDesc& d, const std::vector<EvalInput>& inputs, uint8_t* out,
                                        const Arithmetic& arithmetic) {
  return std::make_unique<Random>(d, inputs, out, arithmetic);
}

}  // namespace kernbench::phase2
