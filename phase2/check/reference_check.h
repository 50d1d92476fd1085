// SPDX-License-Identifier: Apache-2.0
// The check behind --debug-verify: every op against plain loops in f64, the first that departs by name.
#pragma once

#include <functional>
#include <stdexcept>
#include <vector>

#include "kernbench/phase2/check/verify.h"
#include "kernbench/phase2/graph/executor.h"

namespace kernbench::phase2 {

/// An op whose result departs from its reference: one line with the op, where it differs, its operands' addresses and
/// the ops that made them.
class OpDeparts : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct EvalInput;

/// What the op should give, by loops that share no code with the fast paths but the conversion of single elements.
/// Rounds where the dtypes say, so that errors do not add up over ops.
ReferenceValues reference_of(const OpDesc&, const std::vector<EvalInput>& inputs);

/// For ReplayOptions::check. Throws OpDeparts, which ends the replay.
std::function<void(const ReplayedOp&)> reference_check(std::vector<std::string> pes = {});

}  // namespace kernbench::phase2
