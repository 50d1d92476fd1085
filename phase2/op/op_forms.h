// SPDX-License-Identifier: Apache-2.0
// Groups ops that differ only in the places of their operands. Ops of one form run consecutively.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernbench/phase2/op/op.h"

namespace kernbench::phase2 {

struct OpForm {
  std::shared_ptr<const OpDesc> desc;  ///< the first op of this form
  double work = 0;                     ///< approximate arithmetic operations
  uint64_t output_bytes = 0;
};

/// Numbers the forms of ops in the order in which they occur.
class OpForms {
 public:
  /// Ops with the same number have the same form. The converse may fail if there are many forms, because only the most
  /// recent ones are searched. Each op with an epilogue has its own number.
  uint32_t number_of(const std::shared_ptr<const OpDesc>&);

  std::vector<OpForm> take() { return std::move(forms_); }

 private:
  std::vector<OpForm> forms_;
  std::vector<uint32_t> recent_;  ///< the last used one is first
};

}  // namespace kernbench::phase2
