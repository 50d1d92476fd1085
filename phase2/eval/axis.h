// SPDX-License-Identifier: Apache-2.0
// Operands along one axis, for ops that are not elementwise.
#pragma once

#include <cstdint>
#include <string>

#include "kernbench/phase2/eval/elementwise.h"

namespace kernbench::phase2 {

/// Output elements per part.
constexpr int64_t kPartElements = 256 * 1024;

/// A tensor seen as [outer, length, inner], `length` along the axis.
struct AxisView {
  int axis = 0;  ///< from 0
  int64_t outer = 1, length = 1, inner = 1;
};

/// EvalError if the operand has no such axis.
AxisView axis_view(const OpDesc&, const EvalInput&);

/// EvalError unless the output has that many elements.
void require_elements(const OpDesc&, const EvalInput&, int64_t made);

/// All elements of the operand as T, row-major. Returns the operand itself if it has this form already, else a copy in
/// `storage`.
template <class T>
const T* dense_values(const Arithmetic&, const EvalInput&, const std::string& op, Bytes* storage);

}  // namespace kernbench::phase2
