// Programs by name: host code beside the simulation (collectives contract §13.2). A program registers in its own .cpp,
// in the library, an executable or a plug-in, as a kernel does:
//
//   const kernbench::RegisterProgram registered{my_program_spec()};
//
// What a program calls is platform/host/context.h.
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

/// A tensor of a program; of its TensorSpec's fields placement and policy are those of kernels and not used.
struct ProgramTensor : TensorSpec {
  host::Layout layout;
  /// An input that takes no upload even where these are timed: weights that a program finds in place.
  bool already_there = false;
  /// Where nobody computes with an input's values (no verification, no log), it may hold zeros in their place: no bytes
  /// of its own are made.
  bool may_be_zeros = false;
};

struct ProgramSpec {
  std::string name;
  std::string help;  ///< one line
  std::vector<ParamSpec> params;
  std::vector<ProgramTensor> tensors;
  std::function<void(host::Context&)> function;
  Reference reference;
  /// A kernel that it launches calls tl.materialize (KernelSpec::materializes).
  bool materializes = false;
  /// A launch of it says algorithm=best without a parameter of the program's that does: what is simulated for it is so
  /// beside the run (platform/run/collective_trials.h).
  bool chooses_best = false;

  const ProgramTensor* tensor(const std::string& tensor_name) const;
  std::vector<const TensorSpec*> tensor_specs() const;
};

class ProgramRegistry {
 public:
  /// The one of this process.
  static ProgramRegistry& instance();

  /// A name that is taken keeps its first owner; see conflicts().
  void add(ProgramSpec spec);
  /// An unknown name is a BadParam that lists the known ones. References stay good.
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

/// Checked parameters: as kernel_params(). BadParam.
Params program_params(const ProgramSpec&, const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace kernbench
