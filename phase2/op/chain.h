// SPDX-License-Identifier: Apache-2.0
// Elementwise ops that are one command: what lies between them is in no memory, but has the type, and is rounded, as if
// it were.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernbench/phase2/op/dtype.h"
#include "kernbench/phase2/op/math_op.h"

namespace kernbench::phase2 {

/// Written as steps apart by "; ", each the op, its result's type and where its operands come from, words apart by
/// single spaces: `x2` is the command's operand 2, `s0` what step 0 gives: "mul:f32 x0 x1; add:f32 s0 x2; cast:f16 s1".
/// The last step's is the command's result.
class Chain {
 public:
  static constexpr const char* kName = "chain";  ///< the command's op
  static constexpr size_t kMostSteps = 16;
  /// Of the command, or what a step gives.
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
  /// Writes a step behind those that are there.
  static void append(std::string* text, const MathOp&, DType, const Source* in, size_t count);

  /// std::invalid_argument, one line, for what is no chain.
  explicit Chain(std::string_view text);
  /// The same, of a text that was read before without reading it again.
  static std::shared_ptr<const Chain> of(const std::string& text);

  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

}  // namespace kernbench::phase2
