// SPDX-License-Identifier: Apache-2.0
// Expands onnxruntime's fused ops into several ops of the table. Elementwise steps then run in the tiles of the op
// before them (fusion.h), as they would in a fused kernel.
#pragma once

#include "kernbench/platform/onnx/control_flow.h"

namespace kernbench::onnx {

bool is_composite(const Node&);
/// Emits the nodes that the composite expands to. Throws Refusal.
void write_out_composite(const Node&, int64_t opset, const Unrolling&);

}  // namespace kernbench::onnx
