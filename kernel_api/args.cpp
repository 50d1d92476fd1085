#include "kernbench/kernel_api/args.h"

#include "kernbench/kernel_api/pe_backend.h"

namespace kernbench::tl {

const View& Args::shard(const std::string& tensor, uint32_t position) const {
  const auto it = launch_->tensors_.find(tensor);
  if (it == launch_->tensors_.end())
    throw KernelFault("the kernel asks for a tensor '" + tensor + "' that it does not declare");
  return it->second.at(position);
}

void LaunchArgs::add(const std::string& tensor, const ShardPlan& plan, Space space,
                     const std::vector<uint64_t>& bases) {
  std::vector<View> views;
  for (uint32_t p = 0; p < plan.shards.size(); ++p) {
    const Shard& s = plan.shards[p];
    const uint64_t addr = s.empty() ? 0 : bases.at(s.owner == p ? p : s.owner);
    views.push_back({Ptr(space, addr, plan.dtype), s.extent, s.offset, plan.whole});
  }
  shards_ = static_cast<uint32_t>(views.size());
  tensors_[tensor] = std::move(views);
}

}  // namespace kernbench::tl
