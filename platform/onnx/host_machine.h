// SPDX-License-Identifier: Apache-2.0
// Computes a node on the host before the run. Its kernel runs as on a PE, over a private memory, with Phase 2's
// arithmetic. The planner uses it for constants and for values that shapes depend on.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/platform/onnx/fusion.h"

namespace kernbench::tl {
class Args;
class Context;
}  // namespace kernbench::tl

namespace kernbench::onnx {

/// Returns the outputs in order; omitted ones are empty tensors. `inputs` have the op's types and shapes; null means
/// omitted. Refusal if the kernel has a fault.
std::vector<TensorData> work_out(const Op&, const std::vector<std::shared_ptr<const TensorData>>& inputs);

/// Runs a node's kernel and its followers on one PE. KernelFault also if the kernel requests a value that is not
/// available.
void run_on_pe(const Launch&, tl::Context&, const tl::Args&);

}  // namespace kernbench::onnx
