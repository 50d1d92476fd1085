// SPDX-License-Identifier: Apache-2.0
// A planned graph as a host program. Inputs and weights lie in HBM; each node that runs is one launch over the PEs of
// one rank.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernbench/kernel_api/program_registry.h"
#include "kernbench/platform/onnx/planner.h"
#include "kernbench/platform/onnx/roofline.h"

namespace kernbench::onnx {

/// Keeps the file's shape if possible, else flat. Rows are distributed over the PEs.
Dims dims_of(const Value&);

/// The operation numbers of a node's launch, in enqueue order. Launches that lay out its operands come before it, those
/// for its outputs after it.
struct NodeMark {
  size_t first = 0, last = 0;
  const Launch* launch = nullptr;
};

class Placed;

class GraphProgram {
 public:
  using Expectations = std::map<std::string, std::shared_ptr<const TensorData>>;
  /// Outputs with these names are verified. RunError if one has another type or shape. Registers a kernel for each node
  /// that runs.
  GraphProgram(std::string file, std::shared_ptr<const Plan>, Expectations, const PeaksOf&);
  GraphProgram(const GraphProgram&) = delete;  // its spec's functions refer to this object

  /// The spec's function and reference refer to this object.
  const ProgramSpec& spec() const { return spec_; }
  const Plan& plan() const { return *plan_; }
  const Roofline& roofline(const Launch& l) const { return rooflines_.at(&l); }
  /// Valid after the run.
  const std::vector<NodeMark>& marks() const { return marks_; }
  bool verifies() const { return !expected_.empty(); }
  /// Outputs without elements; only their shape was compared.
  const std::vector<std::string>& verified_by_shape() const { return by_shape_; }

 private:
  void add_tensor(const Value&, TensorSpec::Role, const host::Layout&, const Dims& shape, bool transposed = false);
  void see_readers(const Launch&);
  void add_output(const Value&);
  void add_operands(const Launch&);
  void add_kernel(const Launch&);
  void run(host::Context&);
  void launch(host::Context&, Placed&, const Launch&) const;
  void launch_linear(host::Context&, Placed&, const Launch&) const;
  std::shared_ptr<const TensorData> known(const Value&) const;
  std::map<const Value*, std::vector<double>> scales_of_products() const;
  std::map<std::string, Expected> reference() const;

  std::string file_;
  std::shared_ptr<const Plan> plan_;
  Expectations expected_;
  std::map<const Launch*, std::string> kernels_;
  std::map<const Launch*, Roofline> rooflines_;
  std::map<const Value*, std::string> names_;  ///< names of values that are tensors of the program
  std::map<const Value*, Dims> wanted_;        ///< matrix shapes in which decode_linear wants values
  std::set<const Value*> read_flat_;           ///< values that other kernels read flat
  std::set<const Value*> in_lanes_;            ///< outputs in lanes
  std::vector<std::string> by_shape_;
  ProgramSpec spec_;
  std::vector<NodeMark> marks_;
};

}  // namespace kernbench::onnx
