// SPDX-License-Identifier: Apache-2.0
// What ops have in common but for their operands' places: ops of one form run one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

struct OpForm {
  std::shared_ptr<const OpDesc> desc;  ///< of the first op that has it
  double work = 0;                     ///< arithmetic operations, about
  uint64_t output_bytes = 0;
};

/// Numbers the forms of ops in the order in which they appear.
class OpForms {
 public:
  /// Ops with one number are alike. Ops alike may have different ones where forms are many: only the last few are
  /// looked through. Ops with an epilogue have a number each.
  uint32_t number_of(const std::shared_ptr<const OpDesc>&);

  std::vector<OpForm> take() { return std::move(forms_); }

 private:
  std::vector<OpForm> forms_;
  std::vector<uint32_t> recent_;  ///< the last one used in front
};

}  // namespace kernbench::phase2
