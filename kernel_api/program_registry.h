// SPDX-License-Identifier: Apache-2.0
// Programs by name: host code that runs beside the simulation (collectives rules §13.2). Like a kernel, a program
// registers in its own .cpp, in the library, an executable or a plug-in:
//
//   const kernbench::RegisterProgram registered{my_program_spec()};
//
// platform/host/context.h has the calls of a program.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernbench/kernel_api/layout.h"
#include "kernbench/kernel_api/registry.h"

namespace kernbench {
namespace host {
class Context;
}

/// A tensor of a program. The fields placement and policy of TensorSpec are for kernels and are not used.
struct ProgramTensor : TensorSpec {
  host::Layout layout;
  /// An input that is never uploaded, not even with timed transfers: weights that are already in place.
  bool already_there = false;
  /// If no one computes with an input's values (no verification, no log), zeros may replace them; no bytes are
  /// allocated.
  bool may_be_zeros = false;
  /// An input that is not in memory before the run. Context::bring_in() places it.
  bool late = false;
};

struct ProgramSpec {
  std::string name;
  std::string help;  ///< one line
  std::vector<ParamSpec> params;
  std::vector<ProgramTensor> tensors;
  std::function<void(host::Context&)> function;
  Reference reference;
  /// One of its kernels calls tl.materialize (KernelSpec::materializes).
  bool materializes = false;
  /// A launch uses algorithm=best although no parameter of the program requests it; its trials are simulated beside the
  /// run (platform/run/collective_trials.h).
  bool chooses_best = false;

  const ProgramTensor* tensor(const std::string& tensor_name) const;
  std::vector<const TensorSpec*> tensor_specs() const;
};

class ProgramRegistry {
 public:
  /// The registry of this process.
  static ProgramRegistry& instance();

  /// If a name is taken, the first owner keeps it; see conflicts().
  void add(ProgramSpec spec);
  /// BadParam for an unknown name; it lists the known ones. References stay valid.
  const ProgramSpec& at(const std::string& name) const;
  std::vector<const ProgramSpec*> all() const;  ///< sorted by name
  /// Names that were registered more than once.
  const std::vector<std::string>& conflicts() const { return conflicts_; }

 private:
  std::map<std::string, ProgramSpec> programs_;
  std::vector<std::string> conflicts_;
};

struct RegisterProgram {
  explicit RegisterProgram(ProgramSpec spec) { ProgramRegistry::instance().add(std::move(spec)); }
};

/// Checked parameters, as kernel_params(). BadParam.
Params program_params(const ProgramSpec&, const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace kernbench
