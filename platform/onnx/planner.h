// SPDX-License-Identifier: Apache-2.0
// What of a graph runs, in which order, with which shapes: for given inputs.
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
  std::map<std::string, int64_t> dims;  ///< of dimensions that have a name
  /// Inputs of the graph. Those that are missing are drawn, by the seed.
  std::map<std::string, std::shared_ptr<const TensorData>> inputs;
  MachineShape machine;  ///< that it runs on; none: no kernels of models are used
  uint64_t seed = 1;
  std::set<std::string> wanted;  ///< tensors to read back beside the outputs
  /// Every node's outputs are read back, and worked out on the host: what they must be. Of fused nodes the last one's.
  bool every_node = false;
};

struct Plan {
  /// Owned here; what ops point to.
  std::deque<Value> values;
  std::deque<Node> made_nodes;  ///< copies of what an output must have for itself
  std::deque<Op> ops;           ///< all that are left of the graph, in order
  std::deque<Op> made_ops;      ///< of patterns (patterns.h), in the places of the last ones of theirs
  std::vector<Launch> run;      ///< what runs on the machine, in order
  struct Note {
    const Op* op;
    std::string why;  ///< of those that do not run
  };
  std::vector<Note> skipped;
  std::vector<const Value*> inputs;                                     ///< of the graph, with values
  std::vector<const Value*> outputs;                                    ///< of the graph, then what is wanted
  std::map<std::string, std::shared_ptr<const TensorData>> worked_out;  ///< with every_node: by name
  uint64_t seed = 1;
  MachineShape machine;
};

/// InputError with every node that cannot be run, by name, op type and reason. The model outlives the plan.
std::shared_ptr<const Plan> plan_model(const Model&, const PlanRequest&);

/// An input that nobody gives: uniform in ±1, integers in [−8, 7], by the seed and its name.
std::shared_ptr<const TensorData> drawn(const Value&, uint64_t seed);

}  // namespace kernbench::onnx
