// SPDX-License-Identifier: Apache-2.0
// A node worked out on the host, before anything runs: its kernel as a PE would run it, over a memory of its own, with
// Phase 2's arithmetic. For constants, and for values that shapes depend on.
#pragma once

#include <memory>
#include <vector>

#include "kernbench/platform/onnx/fusion.h"

namespace kernbench::tl {
class Args;
class Context;
}  // namespace kernbench::tl

namespace kernbench::onnx {

/// The outputs, in order (empty tensors where they are left out). `inputs` have the op's types and shapes; null: left
/// out. Refusal where the kernel has a fault.
std::vector<TensorData> work_out(const Op&, const std::vector<std::shared_ptr<const TensorData>>& inputs);

/// A node's kernel and what follows, on one PE. KernelFault also for what its data asks in vain.
void run_on_pe(const Launch&, tl::Context&, const tl::Args&);

}  // namespace kernbench::onnx
