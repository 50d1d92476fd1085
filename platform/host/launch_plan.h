// SPDX-License-Identifier: Apache-2.0
// A program's launch: the kernel's parameters, and the tensors as its PEs see them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/check/races.h"
#include "kernbench/platform/host/tensor.h"
#include "kernbench/platform/launch/launch_queues.h"
#include "kernbench/platform/launch/launch_way.h"

namespace kernbench::host {

/// A parameter's value: a C++ number, bool or DType, or a text as in --param.
class ParamText {
 public:
  ParamText(const char* text) : text_(text) {}                   // NOLINT: implicit conversions are wanted
  ParamText(std::string text) : text_(std::move(text)) {}        // NOLINT
  ParamText(DType t) : text_(kernbench::name_of(t)) {}           // NOLINT
  ParamText(bool v) : text_(to_text(ParamValue(v))) {}           // NOLINT
  ParamText(double v) : text_(to_text(ParamValue(v))) {}         // NOLINT
  ParamText(int64_t v) : text_(std::to_string(v)) {}             // NOLINT
  ParamText(int v) : ParamText(static_cast<int64_t>(v)) {}       // NOLINT
  ParamText(uint32_t v) : ParamText(static_cast<int64_t>(v)) {}  // NOLINT
  ParamText(size_t v) : text_(std::to_string(v)) {}              // NOLINT
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
using KernelParams = std::vector<std::pair<std::string, ParamText>>;                ///< name, value
using TensorPointers = std::map<std::string, std::shared_ptr<const TensorPlaces>>;  ///< by the kernel's names

/// The kernel with only the given optional tensors. InputError if the kernel lacks one of the tensors.
std::shared_ptr<const KernelSpec> launched_kernel(const KernelSpec&, const TensorPointers&);

/// Parameters without a value are derived from the tensors' shapes and types if a dimension is such a parameter; else
/// they have their defaults. The kernel is that of launched_kernel(). InputError if a tensor's shape or type does not
/// match (a kernel may allow any shape); BadParam as in kernel_params().
Params launch_params(const KernelSpec&, const KernelParams& given, const TensorPointers&);

/// One launch, from its enqueueing to its end.
struct LaunchPlan {
  uint32_t number = 0;  ///< among the program's launches, in enqueue order
  std::shared_ptr<const KernelSpec> kernel;
  Params params;
  std::vector<size_t> places;                               ///< its PEs, as indices into the program's PEs
  std::vector<size_t> pes;                                  ///< the same, as indices in compiled order
  std::vector<std::vector<uint32_t>> parts;                 ///< by rank of the operation: indices into `pes`
  std::vector<tl::Program> programs;                        ///< by PE
  std::vector<std::shared_ptr<const tl::LaunchArgs>> args;  ///< by PE; PEs of a rank share one
  LaunchWay way;
  std::unique_ptr<LaunchQueues> queues;  ///< while it runs
  CommandHistory::Clock behind;          ///< clock of its predecessors, for race detection
};

}  // namespace kernbench::host
