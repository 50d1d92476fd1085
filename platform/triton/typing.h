// SPDX-License-Identifier: Apache-2.0
// Whether an operation's types go together, and which its results have. Only for the reader.
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/triton/ir.h"
#include "kernbench/platform/triton/op_table.h"

namespace kernbench::triton {

/// Types as an operation tells them: behind the colon, and behind an arrow or `to`.
struct Told {
  std::vector<Type> before, after;
  bool arrow = false;
};

/// What is wrong with how many operands an op has; empty: nothing.
std::string fault_of_count(const Operation&);

/// The results' types. Its fault, if any, is put into `fault`. Attributes that are not there get their defaults; those
/// of the generic form (predicates, axes) become words.
std::vector<Type> settle_types(Operation&, const Told&, const std::vector<Type>& operands, std::string* fault);

/// Whether the regions, blocks and calls of a function that was read go together; the first fault, as "LINE: WHAT".
std::string structure_fault(const Module&, const Function&);

}  // namespace kernbench::triton
