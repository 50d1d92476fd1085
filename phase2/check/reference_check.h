// SPDX-License-Identifier: Apache-2.0
// The check of --debug-verify. It compares every op with plain loops in f64 and names the first op that differs.
#pragma once

#include <functional>
#include <stdexcept>
#include <vector>

#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/graph/executor.h"

namespace kernbench::phase2 {

/// An op whose result differs from its reference. One line with the op, the position, the addresses of its operands and
/// the ops that made them.
class OpDeparts : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct EvalInput;

/// The expected values of the op. The loops share no code with the fast paths except the conversion of single elements.
/// They round where the dtypes require it, so that errors do not accumulate over ops.
ReferenceValues reference_of(const OpDesc&, const std::vector<EvalInput>& inputs);

/// For ReplayOptions::check. Throws OpDeparts, which ends the replay.
std::function<void(const ReplayedOp&)> reference_check(std::vector<std::string> pes = {});

}  // namespace kernbench::phase2
