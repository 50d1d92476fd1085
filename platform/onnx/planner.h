// SPDX-License-Identifier: Apache-2.0
// Plans which nodes of a graph run, in which order and with which shapes, for given inputs.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/platform/onnx/linear.h"

namespace kernbench::onnx {

struct PlanRequest {
  std::map<std::string, int64_t> dims;  ///< sizes of named dimensions
  /// Inputs of the graph. Missing ones are generated from the seed.
  std::map<std::string, std::shared_ptr<const TensorData>> inputs;
  MachineShape machine;  ///< the machine that runs it; none: kernels of models are not used
  uint64_t seed = 1;
  std::set<std::string> wanted;  ///< tensors to read back in addition to the outputs
  /// Reads back every node's outputs and computes the expected values on the host. For fused nodes only the last one's.
  bool every_node = false;
};

struct Plan {
  /// The values, owned here; ops point to them.
  std::deque<Value> values;
  std::deque<Node> made_nodes;  ///< copies for outputs that need bytes of their own
  std::deque<Op> ops;           ///< remaining ops of the graph, in order
  std::deque<Op> made_ops;      ///< ops of patterns (patterns.h), at the position of each pattern's last op
  std::vector<Launch> run;      ///< launches, in order
  struct Note {
    const Op* op;
    std::string why;  ///< why it does not run
  };
  std::vector<Note> skipped;
  std::vector<const Value*> inputs;                                     ///< graph inputs, with values
  std::vector<const Value*> outputs;                                    ///< graph outputs, then wanted tensors
  std::map<std::string, std::shared_ptr<const TensorData>> worked_out;  ///< with every_node: by name
  uint64_t seed = 1;
  MachineShape machine;
};

/// InputError lists every node that cannot run, with name, op type and reason. The model must outlive the plan.
std::shared_ptr<const Plan> plan_model(const Model&, const PlanRequest&);

/// Generates a missing input from the seed and its name: uniform in ±1; integers in [−8, 7].
std::shared_ptr<const TensorData> drawn(const Value&, uint64_t seed);

}  // namespace kernbench::onnx
