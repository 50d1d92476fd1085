// SPDX-License-Identifier: Apache-2.0
// Elementwise ops in one command. Values between them are not stored, but have the type, and are rounded, as if they
// were.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/dtype.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::phase2 {

/// The text form has steps separated by "; ". Each step has the op, its result's type and the sources of its operands,
/// separated by single spaces. `x2` is the command's operand 2, `s0` the result of step 0: "mul:f32 x0 x1; add:f32 s0
/// x2; cast:f16 s1". The result of the last step is the command's result.
class Chain {
 public:
  static constexpr const char* kName = "chain";  ///< the command's op
  static constexpr size_t kMostSteps = 16;
  /// An operand of the command, or the result of a step.
  struct Source {
    bool of_step = false;
    size_t index = 0;
  };
  struct Step {
    const MathOp* op = nullptr;
    DType dtype = DType::f32;
    std::vector<Source> in;
    std::string to_string() const;
  };
  /// Appends a step to the text.
  static void append(std::string* text, const MathOp&, DType, const Source* in, size_t count);

  /// std::invalid_argument, with one line, for a malformed text.
  explicit Chain(std::string_view text);
  /// The same, but a text that was parsed before is not parsed again.
  static std::shared_ptr<const Chain> of(const std::string& text);

  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

}  // namespace kernbench::phase2
