// SPDX-License-Identifier: Apache-2.0
// Arguments of a kernel: its parameters, and this PE's shard of each tensor.
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
  Dims offset;  ///< offset of the shard's first element in the complete tensor
  Dims whole;   ///< shape of the complete tensor
  bool empty() const { return shape.elements() == 0; }
  DType dtype() const { return ptr.dtype; }
  /// Dense block over the shard (KernelFault if it is empty).
  Block block(KERNBENCH_TL_HERE) const { return ptr.block(shape, 0, file, line); }
  operator Block() const { return block("", 0); }  // NOLINT: a view may be used as a block
};

/// Arguments that all PEs of a launch share: the parameters, and all shards of all tensors.
class LaunchArgs {
 public:
  explicit LaunchArgs(Params params) : params_(std::move(params)) {}
  LaunchArgs(const LaunchArgs&) = delete;  // pointers name their tensors by these names
  /// Shard p of the plan starts at bases[p]; a shared shard starts at its owner's base. virtual_base: base of the
  /// virtual range with the stored shards in sequence; 0 if there is none.
  void add(const std::string& tensor, const ShardPlan& plan, Space space, const std::vector<uint64_t>& bases,
           uint64_t virtual_base = 0);
  /// The same with views. `range`, of range_bytes, is the result of Args::virtual_ptr() and, if it is `in_order`
  /// (row-major), of Args::whole(). This call sets the bounds of all pointers.
  void add(const std::string& tensor, std::vector<View> shards, const View& range, uint64_t range_bytes, bool in_order);

 private:
  friend class Args;
  Params params_;
  uint32_t shards_ = 0;
  struct Tensor {
    std::vector<View> shards;
    View range;             ///< the stored shards in sequence; its address is 0 if there is none
    bool in_order = false;  ///< the sequence is the tensor in row-major order
  };
  std::map<std::string, Tensor> tensors_;
};

class Args {
 public:
  Args(std::shared_ptr<const LaunchArgs> launch, uint32_t position) : launch_(std::move(launch)), position_(position) {}

  /// Whether the launch has this tensor; only for tensors that the kernel's spec calls optional.
  bool has(const std::string& tensor) const { return launch_->tensors_.count(tensor) > 0; }
  /// This PE's shard. KernelFault if the name is undeclared or the launch omits the tensor.
  const View& operator[](const std::string& tensor) const { return shard(tensor, position_); }
  /// The shard of the PE at a position (0 … P-1) of the launch.
  const View& shard(const std::string& tensor, uint32_t position) const;
  uint32_t shards() const { return launch_->shards_; }

  /// The tensor's virtual range. It holds the shards in the order of their PEs, independent of the addresses in the
  /// views; for a replicated tensor it holds the copies. KernelFault if there is no such range.
  Ptr virtual_ptr(const std::string& tensor) const;
  /// The complete tensor through its virtual range: a command that uses it reads each shard from its own memory.
  /// KernelFault if the sequence of shards is not the tensor in row-major order (cols, replicate).
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
