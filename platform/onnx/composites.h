// SPDX-License-Identifier: Apache-2.0
// onnxruntime's ops that are several of the table's in one node, as those: position by position steps run in the tiles
// of what they follow (fusion.h), as they would in a kernel of their own.
#pragma once

#include "kernbench/platform/onnx/control_flow.h"

namespace kernbench::onnx {

bool is_composite(const Node&);
/// Writes out the nodes that it comes to. Refusal.
void write_out_composite(const Node&, int64_t opset, const Unrolling&);

}  // namespace kernbench::onnx
