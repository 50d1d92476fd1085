// What `reduce` and `associative_scan` combine two values by: a small expression of elementwise ops.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/math_op.h"

namespace kernbench {

/// Written in postfix order, words apart by single spaces: `a` (what came before), `b` (what comes next), numbers, and
/// names of elementwise ops: "a b maximum", "a 0.5 mul b add". At most 64 words.
class Combiner {
 public:
  struct Step {
    enum class Kind : uint8_t { first, second, constant, call } kind = Kind::first;
    double constant = 0;
    const MathOp* op = nullptr;
  };

  /// std::invalid_argument, one line, for what is no such expression.
  explicit Combiner(std::string_view text);
  /// That of a reduction or scan: its own where `op` is reduce or associative_scan, else the op's.
  static Combiner of(std::string_view op, std::string_view own);

  const std::vector<Step>& steps() const { return steps_; }
  /// Values that it keeps at the same time.
  int depth() const { return depth_; }
  /// Whether an op in it takes floats or integers alone.
  bool takes(Values v) const;

 private:
  std::vector<Step> steps_;
  int depth_ = 0;
};

}  // namespace kernbench
