// SPDX-License-Identifier: Apache-2.0
// What `reduce` and `associative_scan` combine two values by: a small expression of elementwise ops.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/math_op.h"

namespace kernbench::phase2 {

/// Written in postfix order, words apart by single spaces: `a` (what came before), `b` (what comes next), numbers, and
/// names of elementwise ops: "a b maximum", "a 0.5 mul b add". Of a tuple the further members are `a1`, `b1` to `a3`,
/// `b3`, and it leaves a value for each; the first is the command's result: "a b maximum a b gt a1 b1 where". At most
/// 64 words a member.
class Combiner {
 public:
  static constexpr size_t kMostMembers = 4;
  struct Step {
    enum class Kind : uint8_t { first, second, constant, call } kind = Kind::first;
    size_t member = 0;  ///< of first and second
    double constant = 0;
    const MathOp* op = nullptr;
  };
  /// Of a step: whether it is computed in floats (else in integers), and whether the op that takes its value does so.
  /// They differ where a condition is computed in the other; then what is not 0 is 1.
  struct Types {
    bool computed_in_floats = true, taken_as_floats = true;
  };

  /// std::invalid_argument, one line, for what is no such expression.
  explicit Combiner(std::string_view text, size_t members = 1);
  /// That of a reduction or scan: its own where `op` is reduce or associative_scan, else the op's.
  static Combiner of(std::string_view op, std::string_view own);

  const std::vector<Step>& steps() const { return steps_; }
  /// Values that it keeps at the same time.
  int depth() const { return depth_; }
  /// Whether an op in it takes floats or integers alone.
  bool takes(Values v) const;
  size_t members() const { return members_; }
  /// By step, where the members are floats or integers. std::invalid_argument, one line, where an op meets both.
  std::vector<Types> types(const std::vector<bool>& floats) const;

 private:
  size_t members_;
  std::vector<Step> steps_;
  int depth_ = 0;
};

/// Whether a command says what the op combines by, and may so combine tuples: reduce, associative_scan.
bool has_own_combiner(const MathOp&);
/// Whether an op takes so many operands, immediates included: of a tuple each member is one.
bool takes_operands(const MathOp&, size_t operands);

}  // namespace kernbench::phase2
