// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan as the nodes that they come to: the branch that is taken, the body once for each iteration. So what
// they depend on must be known, and shapes may not change from one iteration to the next in what is carried along.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/op.h"

namespace kernbench::onnx {

/// What writing out needs of who plans.
struct Unrolling {
  std::function<void(Node)> emit;  ///< a node behind those before it; its names are those of the whole plan
  std::function<void(const std::string& name, const std::shared_ptr<const TensorData>&)> constant;
  std::function<const Value&(const std::string& name)> value;  ///< Refusal where there is none
  std::function<std::shared_ptr<const TensorData>(const std::string& name)> evaluate;
  std::function<bool(const std::string& name)> is_refused;  ///< made by what was refused: its shape is not known
};

/// What names inside of a graph are called in the plan.
using Names = std::map<std::string, std::string>;

bool is_control_flow(const Node&);
/// Writes out a node whose names are the plan's, but for those inside of its graphs. Refusal.
void unroll(const Node&, int64_t opset, const Unrolling&);

}  // namespace kernbench::onnx
