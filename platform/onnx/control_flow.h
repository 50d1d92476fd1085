// SPDX-License-Identifier: Apache-2.0
// Expands If, Loop and Scan into plain nodes: the taken branch, or the body once per iteration. Conditions and trip
// counts must therefore be known at planning time. Shapes of loop-carried values must not change between iterations.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

/// Callbacks that expansion needs from the planner.
struct Unrolling {
  std::function<void(Node)> emit;  ///< appends a node; its names are names of the whole plan
  std::function<void(const std::string& name, const std::shared_ptr<const TensorData>&)> constant;
  std::function<const Value&(const std::string& name)> value;  ///< Refusal if there is none
  std::function<std::shared_ptr<const TensorData>(const std::string& name)> evaluate;
  std::function<bool(const std::string& name)> is_refused;  ///< whether a refused node makes it, so that its shape is
                                                            ///< unknown
};

/// Maps names inside a graph to names of the plan.
using Names = std::map<std::string, std::string>;

bool is_control_flow(const Node&);
/// Expands a node. Its names are names of the plan, except inside its graphs. Throws Refusal.
void unroll(const Node&, int64_t opset, const Unrolling&);

}  // namespace kernbench::onnx
