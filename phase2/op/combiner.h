// SPDX-License-Identifier: Apache-2.0
// The expression with which `reduce` and `associative_scan` combine two values. It consists of elementwise ops.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/math_op.h"

namespace kernbench::phase2 {

/// Written in postfix order, words separated by single spaces. `a` is the value so far, `b` the next one; numbers and
/// names of elementwise ops follow: "a b maximum", "a 0.5 mul b add". For a tuple, the further members are `a1`, `b1`
/// to `a3`, `b3`. The expression then leaves one value for each member, and the first is the command's result: "a b
/// maximum a b gt a1 b1 where". At most 64 words per member.
class Combiner {
 public:
  static constexpr size_t kMostMembers = 4;
  struct Step {
    enum class Kind : uint8_t { first, second, constant, call } kind = Kind::first;
    size_t member = 0;  ///< for first and second
    double constant = 0;
    const MathOp* op = nullptr;
  };
  /// Types of a step: whether it is computed in floats (else in integers), and whether the op that uses its value is.
  /// They differ if a condition is computed in the other type; then every nonzero value is 1.
  struct Types {
    bool computed_in_floats = true, taken_as_floats = true;
  };

  /// std::invalid_argument, with one line, for a malformed expression.
  explicit Combiner(std::string_view text, size_t members = 1);
  /// The combiner of a reduction or scan: `own` for reduce and associative_scan, else the op's.
  static Combiner of(std::string_view op, std::string_view own);

  const std::vector<Step>& steps() const { return steps_; }
  /// Number of values on the stack at most.
  int depth() const { return depth_; }
  /// Whether it contains an op that takes only floats or only integers.
  bool takes(Values v) const;
  size_t members() const { return members_; }
  /// Types by step, given which members are floats. std::invalid_argument, with one line, if an op gets both kinds.
  std::vector<Types> types(const std::vector<bool>& floats) const;

 private:
  size_t members_;
  std::vector<Step> steps_;
  int depth_ = 0;
};

/// Whether the command gives the combiner, and tuples are therefore allowed: reduce, associative_scan.
bool has_own_combiner(const MathOp&);
/// Whether an op takes that many operands, including immediates. For a tuple each member is an operand.
bool takes_operands(const MathOp&, size_t operands);

}  // namespace kernbench::phase2
