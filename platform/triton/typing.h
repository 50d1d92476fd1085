// SPDX-License-Identifier: Apache-2.0
// Type checks of operations and the types of their results. Used only by the reader.
#pragma once

#include <string>
#include <vector>

#include "kernbench/platform/triton/ir.h"
#include "kernbench/platform/triton/op_table.h"

namespace kernbench::triton {

/// The types that an operation writes: after the colon, and after an arrow or `to`.
struct Told {
  std::vector<Type> before, after;
  bool arrow = false;
};

/// The error in an op's number of operands; empty: none.
std::string fault_of_count(const Operation&);

/// The results' types; sets `fault` on error. Absent attributes get their defaults. Those of the generic form
/// (predicates, axes) become words.
std::vector<Type> settle_types(Operation&, const Told&, const std::vector<Type>& operands, std::string* fault);

/// Checks regions, blocks and calls of a parsed function; returns the first error as "LINE: WHAT".
std::string structure_fault(const Module&, const Function&);

}  // namespace kernbench::triton
