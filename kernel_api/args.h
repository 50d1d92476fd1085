// What a kernel is given: its parameters, and of every tensor the part that this PE works on.
#pragma once

#include <map>
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
  Block block() const { return ptr.block(shape); }
  operator Block() const { return block(); }  // NOLINT: a view stands wherever a block does
};

class Args {
 public:
  Args() = default;
  Args(Params params, uint32_t position) : params_(std::move(params)), position_(position) {}

  /// This PE's shard. An undeclared name is a KernelFault.
  const View& operator[](const std::string& tensor) const { return shard(tensor, position_); }
  /// The shard of the PE at a position (0 … P-1) of the launch.
  const View& shard(const std::string& tensor, uint32_t position) const;
  uint32_t shards() const { return shards_; }

  int64_t integer(const std::string& name) const { return params_.integer(name); }
  double number(const std::string& name) const { return params_.number(name); }
  bool flag(const std::string& name) const { return params_.flag(name); }
  const std::string& choice(const std::string& name) const { return params_.choice(name); }
  DType dtype(const std::string& name = "dtype") const { return params_.dtype(name); }
  const Params& params() const { return params_; }

  /// For who launches: shard p of the plan lies at bases[p] (that of its owner where it is shared).
  void add(const std::string& tensor, const ShardPlan& plan, Space space, const std::vector<uint64_t>& bases);

 private:
  Params params_;
  uint32_t position_ = 0;
  uint32_t shards_ = 0;
  std::map<std::string, std::vector<View>> tensors_;
};

}  // namespace kernbench::tl
