// What a kernel is given: its parameters, and of every tensor the part that this PE works on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernbench/kernel_api/params.h"
#include "kernbench/kernel_api/placement.h"
#include "kernbench/kernel_api/pointer.h"

namespace kernbench::tl {

/// One shard of a tensor, in memory.
struct View {
  Ptr ptr;
  Dims shape;   ///< local
  Dims offset;  ///< of the shard's first element in the whole tensor
  Dims whole;   ///< shape of the whole tensor
  bool empty() const { return shape.elements() == 0; }
  DType dtype() const { return ptr.dtype; }
  /// Dense block over the shard (KernelFault if it is empty).
  Block block(KERNBENCH_TL_HERE) const { return ptr.block(shape, 0, file, line); }
  operator Block() const { return block("", 0); }  // NOLINT: a view stands wherever a block does
};

/// What all PEs of a launch share: the parameters, and every shard of every tensor.
class LaunchArgs {
 public:
  explicit LaunchArgs(Params params) : params_(std::move(params)) {}
  LaunchArgs(const LaunchArgs&) = delete;  // pointers name their tensors by these names
  /// Shard p of the plan lies at bases[p] (that of its owner where it is shared). virtual_base: of the range that holds
  /// the stored shards one after the other; 0 where there is none.
  void add(const std::string& tensor, const ShardPlan& plan, Space space, const std::vector<uint64_t>& bases,
           uint64_t virtual_base = 0);
  /// The same in views; `range`, of so many bytes, is what Args::virtual_ptr() and, if it is `in_order` (row-major),
  /// Args::whole() give. All pointers get their bounds here.
  void add(const std::string& tensor, std::vector<View> shards, const View& range, uint64_t range_bytes, bool in_order);

 private:
  friend class Args;
  Params params_;
  uint32_t shards_ = 0;
  struct Tensor {
    std::vector<View> shards;
    View range;             ///< the stored shards, one after the other; its address is 0 where there is none
    bool in_order = false;  ///< that is row-major order
  };
  std::map<std::string, Tensor> tensors_;
};

class Args {
 public:
  Args(std::shared_ptr<const LaunchArgs> launch, uint32_t position) : launch_(std::move(launch)), position_(position) {}

  /// Whether the launch has this tensor, which the kernel's spec calls optional.
  bool has(const std::string& tensor) const { return launch_->tensors_.count(tensor) > 0; }
  /// This PE's shard. A name that is undeclared, or left out, is a KernelFault.
  const View& operator[](const std::string& tensor) const { return shard(tensor, position_); }
  /// The shard of the PE at a position (0 … P-1) of the launch.
  const View& shard(const std::string& tensor, uint32_t position) const;
  uint32_t shards() const { return launch_->shards_; }

  /// The tensor's virtual range, in which its shards stand one after the other in the order of their PEs (of a
  /// replicated tensor: its copies), whatever addresses the views have. KernelFault if it has none.
  Ptr virtual_ptr(const std::string& tensor) const;
  /// The whole tensor through its virtual range: a command that takes it reads every shard from its own memory.
  /// KernelFault where the shards one after the other are not the tensor in row-major order (cols, replicate).
  View whole(const std::string& tensor) const;

  int64_t integer(const std::string& name) const { return launch_->params_.integer(name); }
  double number(const std::string& name) const { return launch_->params_.number(name); }
  bool flag(const std::string& name) const { return launch_->params_.flag(name); }
  const std::string& choice(const std::string& name) const { return launch_->params_.choice(name); }
  DType dtype(const std::string& name = "dtype") const { return launch_->params_.dtype(name); }
  const Params& params() const { return launch_->params_; }

 private:
  const LaunchArgs::Tensor& tensor_of(const std::string& tensor) const;

  std::shared_ptr<const LaunchArgs> launch_;
  uint32_t position_ = 0;
};

}  // namespace kernbench::tl
