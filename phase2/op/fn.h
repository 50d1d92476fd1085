// SPDX-License-Identifier: Apache-2.0
// The functions of the elementwise ops, numbered in the order of the rows of elementwise_ops.inc.
#pragma once

#include <cstdint>

#include "kernbench/phase2/rooms.h"

namespace kernbench::phase2 {

enum class Fn : uint8_t {
#define KERNBENCH_ELEMENTWISE(name, ...) name,
#include "kernbench/phase2/op/elementwise_ops.inc"
#undef KERNBENCH_ELEMENTWISE
  count
};
constexpr int kFns = static_cast<int>(Fn::count);

}  // namespace kernbench::phase2
