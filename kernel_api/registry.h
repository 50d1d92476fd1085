// SPDX-License-Identifier: Apache-2.0
// Kernels by name. A kernel registers in its own .cpp, in the library, an executable or a plug-in:
//
//   const kernbench::RegisterKernel registered{my_kernel_spec()};
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/context.h"
#include "kernbench/kernel_api/host_tensor.h"
#include "kernbench/kernel_api/launch_costs.h"
#include "kernbench/kernel_api/params.h"
#include "kernbench/kernel_api/placement.h"
#include "kernbench/kernel_api/queue_connection.h"

namespace kernbench {

/// Initial values of an input, unless the user gives a file. Integers: uniform in [-8, 7], u8 in [0, 15].
struct Init {
  enum class Kind { uniform, weights, index } kind = Kind::uniform;
  /// weights: uniform in ±1/√K for this K. index: uniform in [-1, K): -1 about one time in eight.
  std::function<int64_t(const Params&)> k;

  static Init uniform() { return {}; }  ///< in ±1
  static Init weights(std::function<int64_t(const Params&)> k) { return {Kind::weights, std::move(k)}; }
  static Init index(std::function<int64_t(const Params&)> k) { return {Kind::index, std::move(k)}; }
};

struct TensorSpec {
  enum class Role { in, out, in_out };  ///< in_out: an output that has values before the launch
  std::string name;
  Role role = Role::in;
  std::function<Dims(const Params&)> shape;
  std::function<DType(const Params&)> dtype;
  Placement placement = Placement::rows;
  Init init;
  std::optional<CubePePolicy> policy = {};  ///< over cubes, then over the PEs of each cube; replaces `placement`
  /// Replaces both: the shards of a launch's PEs, by tl.index(). The parameters know the launch.
  std::function<ShardPlan(const Params&)> shards = {};
  /// Blocks of this size, distributed round robin over all PEs (plan_interleaved), or with a `policy` over those of
  /// each cube. 0: no.
  uint64_t interleave_bytes = 0;
  /// Initial values if no file gives them; unset: by `init`.
  std::function<HostTensor(const Params&, uint64_t seed)> fill = {};
  /// A launch may omit this tensor; the kernel calls Args::has(). A run has it if the user names a file for it:
  /// --tensor, --expected or --dump.
  bool optional = false;
  /// Also omitted if the launch has the (optional) tensor of this name.
  std::string unless = {};

  bool is_input() const { return role != Role::out; }
  bool is_output() const { return role != Role::in; }
};

/// Expected values of an output. `scale` (empty, or one value for each element) widens the tolerance to atol + rtol ·
/// max(|ref|, scale); it is Σ|a||b|/√K for outputs of a GEMM (data rules §4). `away` (likewise) is the additional
/// absolute error that is allowed, also for integers: about one ulp of floats rounded to a coarser type.
struct Expected {
  HostTensor value;
  std::vector<float> scale;
  std::vector<float> away = {};
};

using KernelFunction = std::function<void(tl::Context&, const tl::Args&)>;
/// Computes all outputs by name from complete inputs: plain arithmetic that rounds where the kernel does.
using Reference = std::function<std::map<std::string, Expected>(const Params&, const TensorMap& inputs)>;

struct KernelSpec {
  std::string name;
  std::string help;  ///< one line
  std::vector<ParamSpec> params;
  std::vector<TensorSpec> tensors;
  KernelFunction function;
  Reference reference;
  /// Prepares a launch's parameters before placement: checks them against the launch (Params::launch) and sets open
  /// ones. BadParam. Unset: nothing to do.
  std::function<void(Params*, const LaunchCosts&, LaunchNotes*)> prepare = {};
  /// The connections between PEs of one launch; unset: none. BadParam for parameters that do not fit the launch.
  std::function<std::vector<QueueConnection>(const Params&, const LaunchShape&)> queues = {};
  std::string wiring = {};  ///< description of the connections for `kernbench list`: "ring: next–prev around the group"
  /// In a program (program_registry.h) the tensors may have any shape and layout; each PE works on its shard. The
  /// parameter n, if there is one, is then the largest number of elements in any PE's shard of the first tensor.
  bool any_shape = false;
  /// The matrix products that the PEs compute together and that gemm_2d computes faster if they are large. A run far
  /// below its roofline gets advice from this (docs/programs.md). Unset: none.
  std::function<std::vector<MatrixProduct>(const Params&)> products = {};
  /// The kernel calls tl.materialize. Runs keep the inputs of pending values, which costs memory.
  bool materializes = false;

  const TensorSpec* tensor(const std::string& tensor_name) const;
};

/// Whether a launch may omit this tensor, given its tensors by has(name).
template <class Has>
bool may_lack(const TensorSpec& t, const Has& has) {
  return t.optional || (!t.unless.empty() && has(t.unless));
}

/// The spec of a run, given its optional tensors by has(name). Spec: that of a kernel or a program.
template <class Spec, class Has>
Spec with_optional(Spec spec, const Has& has) {
  auto& all = spec.tensors;
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& t) { return may_lack(t, has) && !has(t.name); }),
            all.end());
  return spec;
}

class KernelRegistry {
 public:
  /// The registry of this process.
  static KernelRegistry& instance();

  /// If a name is taken, the first owner keeps it; see conflicts().
  void add(KernelSpec spec);
  /// A kernel of one run's own program. A later run in this process, or in a copy of it, replaces it: a forked trial
  /// builds the program again.
  void replace(KernelSpec spec);
  /// Null if there is none. Pointers stay valid.
  const KernelSpec* find(const std::string& name) const;
  /// As find(), but BadParam for an unknown name; it lists the known ones.
  const KernelSpec& at(const std::string& name) const;
  std::vector<const KernelSpec*> all() const;  ///< sorted by name
  /// Names that were registered more than once; the CLI reports them.
  const std::vector<std::string>& conflicts() const { return conflicts_; }

 private:
  std::map<std::string, KernelSpec> kernels_;
  std::vector<std::string> conflicts_;
};

struct RegisterKernel {
  explicit RegisterKernel(KernelSpec spec) { KernelRegistry::instance().add(std::move(spec)); }
};

/// BadParam, beginning with `what`, if the tensor exceeds 2^46 bytes, or if its spec has no shape.
void check_size(const std::string& what, const TensorSpec&, const Params&);

/// Checked parameters of a run: defaults, overridden by (name, text) pairs. BadParam as parse_params(), and for a
/// tensor of more than 2^46 bytes.
Params kernel_params(const KernelSpec& spec, const std::vector<std::pair<std::string, std::string>>& given);

/// The seeded input: equal for equal (seed, name, shape, dtype) on every machine.
HostTensor make_input(const TensorSpec& tensor, const Params& params, uint64_t seed);

}  // namespace kernbench
