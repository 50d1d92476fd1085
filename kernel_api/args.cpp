// SPDX-License-Identifier: Apache-2.0
#include "kernbench/kernel_api/args.h"

#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::tl {

const LaunchArgs::Tensor& Args::tensor_of(const std::string& tensor) const {
  const auto it = launch_->tensors_.find(tensor);
  if (it == launch_->tensors_.end())
    throw KernelFault("the kernel asks for a tensor '" + tensor +
                      "' that it does not declare, or that the launch leaves out");
  return it->second;
}

const View& Args::shard(const std::string& tensor, uint32_t position) const {
  return tensor_of(tensor).shards.at(position);
}

Ptr Args::virtual_ptr(const std::string& tensor) const {
  const Ptr ptr = tensor_of(tensor).range.ptr;
  if (ptr.addr == 0) throw KernelFault("tensor '" + tensor + "' has no virtual range");
  return ptr;
}

View Args::whole(const std::string& tensor) const {
  const LaunchArgs::Tensor& t = tensor_of(tensor);
  if (!t.in_order) {
    throw KernelFault("the shards of tensor '" + tensor +
                      "' in sequence are not the tensor in row-major order: use virtual_ptr()");
  }
  virtual_ptr(tensor);  // throws if there is none
  return t.range;
}

void LaunchArgs::add(const std::string& tensor, const ShardPlan& plan, Space space, const std::vector<uint64_t>& bases,
                     uint64_t virtual_base) {
  Tensor t;
  Dims zero = plan.whole;
  for (int i = 0; i < zero.rank(); ++i) zero[i] = 0;
  t.range = {Ptr(space, virtual_base, plan.dtype), plan.whole, zero, plan.whole};
  t.in_order = true;
  uint64_t end = 0;  // end of the stored shards so far
  for (uint32_t p = 0; p < plan.shards.size(); ++p) {
    const Shard& s = plan.shards[p];
    const uint64_t addr = s.empty() ? 0 : bases.at(s.owner == p ? p : s.owner);
    t.shards.push_back({Ptr(space, addr, plan.dtype), s.extent, s.offset, plan.whole});
    if (!plan.stored(p)) continue;
    uint64_t first = 0;
    t.in_order = t.in_order && contiguous_in_whole(plan, p, &first) && first == end;
    end += plan.nbytes(p);
  }
  t.in_order = t.in_order && end == static_cast<uint64_t>(plan.whole.elements()) * size_of(plan.dtype);
  add(tensor, std::move(t.shards), t.range, end, t.in_order);
}

void LaunchArgs::add(const std::string& tensor, std::vector<View> shards, const View& range, uint64_t range_bytes,
                     bool in_order) {
  shards_ = static_cast<uint32_t>(shards.size());
  const auto at = tensors_.insert_or_assign(tensor, Tensor{std::move(shards), range, in_order}).first;
  const char* name = at->first.c_str();
  Tensor& t = at->second;
  for (View& v : t.shards) v.ptr = v.ptr.bounded(static_cast<uint64_t>(v.shape.elements()) * size_of(v.dtype()), name);
  t.range.ptr = t.range.ptr.bounded(range_bytes, name);
}

}  // namespace kernbench::tl
