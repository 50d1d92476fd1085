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

/// What an input holds unless the user gives a file. Integers: uniform in [-8, 7], u8 in [0, 15].
struct Init {
  enum class Kind { uniform, weights, index } kind = Kind::uniform;
  /// weights: uniform in ±1/√K for this K. index: uniform in [-1, K): -1 about one time in eight.
  std::function<int64_t(const Params&)> k;

  static Init uniform() { return {}; }  ///< in ±1
  static Init weights(std::function<int64_t(const Params&)> k) { return {Kind::weights, std::move(k)}; }
  static Init index(std::function<int64_t(const Params&)> k) { return {Kind::index, std::move(k)}; }
};

struct TensorSpec {
  enum class Role { in, out, in_out };  ///< in_out: an output that holds data before
  std::string name;
  Role role = Role::in;
  std::function<Dims(const Params&)> shape;
  std::function<DType(const Params&)> dtype;
  Placement placement = Placement::rows;
  Init init;
  std::optional<CubePePolicy> policy = {};  ///< instead of `placement`: over cubes, then over each cube's PEs
  /// Instead of both: the shards of a launch's PEs, by tl.index(); the parameters know the launch.
  std::function<ShardPlan(const Params&)> shards = {};
  /// Blocks of so many bytes, in turn over all PEs (plan_interleaved); with a `policy`: over those of each cube. 0: no.
  uint64_t interleave_bytes = 0;
  /// What it holds before, where no file says it; unset: by `init`.
  std::function<HostTensor(const Params&, uint64_t seed)> fill = {};
  /// A launch may leave it out, and the kernel asks Args::has() for it. A run has it where a file is named for it:
  /// --tensor, --expected or --dump.
  bool optional = false;
  /// Left out too where the launch has the tensor of this name, which is optional.
  std::string unless = {};

  bool is_input() const { return role != Role::out; }
  bool is_output() const { return role != Role::in; }
};

/// What an output must be. `scale` (empty, or one value an element) widens the tolerance to
/// atol + rtol · max(|ref|, scale): Σ|a||b|/√K for outputs of a GEMM (data contract §4). `away` (the same) is what
/// |error| may be beyond that, also of integers: of floats that were rounded to a coarser type, about a step of it.
struct Expected {
  HostTensor value;
  std::vector<float> scale;
  std::vector<float> away = {};
};

using KernelFunction = std::function<void(tl::Context&, const tl::Args&)>;
/// From whole inputs to all outputs, by name; plain arithmetic over whole tensors that rounds where the kernel does.
using Reference = std::function<std::map<std::string, Expected>(const Params&, const TensorMap& inputs)>;

struct KernelSpec {
  std::string name;
  std::string help;  ///< one line
  std::vector<ParamSpec> params;
  std::vector<TensorSpec> tensors;
  KernelFunction function;
  Reference reference;
  /// What a launch makes of the parameters, before anything is placed: checks them against the launch, which they know
  /// (Params::launch), and settles what they leave open. BadParam. Unset: nothing.
  std::function<void(Params*, const LaunchCosts&, LaunchNotes*)> prepare = {};
  /// The connections between PEs of one launch; unset: none. BadParam for parameters that do not fit the launch.
  std::function<std::vector<QueueConnection>(const Params&, const LaunchShape&)> queues = {};
  std::string wiring = {};  ///< what these are, in words, for `kernbench list`: "ring: next–prev around the group"
  /// In a program (program_registry.h) its tensors may have any shape and layout: each PE works on its shard as it is.
  /// The parameter n, if there is one, is then the most elements of any PE's shard of the first tensor.
  bool any_shape = false;
  /// The matrix products that its PEs make together and that gemm_2d makes quicker, where they are large: a run that
  /// stays far under its roofline is told so (docs/programs.md). Unset: none.
  std::function<std::vector<MatrixProduct>(const Params&)> products = {};
  /// The kernel calls tl.materialize: runs keep what pending values are made of, which costs memory.
  bool materializes = false;

  const TensorSpec* tensor(const std::string& tensor_name) const;
};

/// Whether a launch that has the tensors for which has(name) is true may lack this one.
template <class Has>
bool may_lack(const TensorSpec& t, const Has& has) {
  return t.optional || (!t.unless.empty() && has(t.unless));
}

/// Of a kernel or a program, the spec of a run that has, of the tensors that it may lack, those for which has(name) is
/// true.
template <class Spec, class Has>
Spec with_optional(Spec spec, const Has& has) {
  auto& all = spec.tensors;
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& t) { return may_lack(t, has) && !has(t.name); }),
            all.end());
  return spec;
}

class KernelRegistry {
 public:
  /// The one of this process.
  static KernelRegistry& instance();

  /// A name that is taken keeps its first owner; see conflicts().
  void add(KernelSpec spec);
  /// Null if there is none. Pointers stay good.
  const KernelSpec* find(const std::string& name) const;
  /// As find(), but an unknown name is a BadParam that lists the known ones.
  const KernelSpec& at(const std::string& name) const;
  std::vector<const KernelSpec*> all() const;  ///< sorted by name
  /// Names that were registered more than once: for the CLI to complain about.
  const std::vector<std::string>& conflicts() const { return conflicts_; }

 private:
  std::map<std::string, KernelSpec> kernels_;
  std::vector<std::string> conflicts_;
};

struct RegisterKernel {
  explicit RegisterKernel(KernelSpec spec) { KernelRegistry::instance().add(std::move(spec)); }
};

/// BadParam, beginning with `what`, where the tensor's size exceeds 2^46 bytes, or its spec lacks what says so.
void check_size(const std::string& what, const TensorSpec&, const Params&);

/// Checked parameters of a run: defaults overridden by (name, text) pairs. BadParam as parse_params, and where a
/// tensor's size exceeds 2^46 bytes.
Params kernel_params(const KernelSpec& spec, const std::vector<std::pair<std::string, std::string>>& given);

/// The seeded input: the same for the same (seed, name, shape, dtype) on every machine.
HostTensor make_input(const TensorSpec& tensor, const Params& params, uint64_t seed);

}  // namespace kernbench
