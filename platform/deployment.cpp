#include "kernbench/platform/deployment.h"

#include "kernbench/platform/errors.h"
#include "kernbench/platform/platform.h"

namespace kernbench {

Deployment::Deployment(Platform& platform, const KernelSpec& spec, const Params& params, std::vector<size_t> pes)
    : platform_(platform), pes_(std::move(pes)) {
  auto launch = std::make_shared<tl::LaunchArgs>(params);
  std::vector<size_t> local;
  for (size_t pe : pes_) local.push_back(platform.local_memory(pe));
  for (const TensorSpec& t : spec.tensors) {
    Placed placed;
    placed.output = t.role == TensorSpec::Role::out;
    placed.dtype = t.dtype(params);
    placed.shape = t.shape(params);
    placed.plan = plan_shards(t.placement, placed.dtype, placed.shape, static_cast<uint32_t>(pes_.size()));
    placed.bases.assign(pes_.size(), 0);
    for (uint32_t p = 0; p < pes_.size(); ++p) {
      if (!placed.plan.stored(p)) continue;
      const topology::Memory& memory = platform.graph().memories[local[p]];
      auto& allocator =
          allocators_.try_emplace(local[p], memory.base, memory.size, memory.size >= (1 << 20) ? 4096 : 256)
              .first->second;
      const auto address = allocator.allocate(placed.plan.nbytes(p));
      if (!address) {
        throw InputError("tensor " + t.name + ": " + std::to_string(placed.plan.nbytes(p)) + " bytes for " +
                         platform.graph().pes[pes_[p]].id + " do not fit " + platform.graph().nodes[memory.node].id +
                         " (" + std::to_string(allocator.free_bytes()) + " of " + std::to_string(memory.size) +
                         " bytes free)");
      }
      placed.bases[p] = *address;
    }
    launch->add(t.name, placed.plan, Space::hbm, placed.bases);
    tensors_.emplace(t.name, std::move(placed));
  }
  launch_ = std::move(launch);
}

void Deployment::upload(const std::string& tensor, const HostTensor& value) {
  const Placed& t = tensors_.at(tensor);
  for (uint32_t p = 0; p < pes_.size(); ++p) {
    if (!t.plan.stored(p)) continue;
    const uint64_t nbytes = t.plan.nbytes(p);
    uint64_t first = 0;
    if (contiguous_in_whole(t.plan, p, &first)) {
      SharedBytes bytes;  // the caller's tensor outlives the image
      bytes.data = value.bytes.data() + first;
      bytes.size = nbytes;
      platform_.image().write_shared({Space::hbm, kNoPe}, t.bases[p], bytes);
    } else {
      Bytes shard(nbytes);
      scatter(t.plan, p, value.bytes.data(), shard.data());
      platform_.image().write_shared({Space::hbm, kNoPe}, t.bases[p], SharedBytes::take(std::move(shard)));
    }
  }
}

std::vector<Deployment::Range> Deployment::ranges(const std::string& tensor) const {
  const Placed& t = tensors_.at(tensor);
  std::vector<Range> v;
  for (uint32_t p = 0; p < pes_.size(); ++p) {
    if (t.plan.stored(p)) v.push_back({t.bases[p], t.plan.nbytes(p)});
  }
  return v;
}

std::vector<PlacedTensor> Deployment::placed() const {
  std::vector<PlacedTensor> all;
  for (const auto& [name, t] : tensors_) {
    PlacedTensor p;
    p.name = name;
    p.output = t.output;
    p.dtype = t.dtype;
    p.shape = t.shape;
    p.grid = t.plan.whole;
    for (uint32_t pe = 0; pe < pes_.size(); ++pe) {
      if (!t.plan.stored(pe)) continue;
      const Shard& s = t.plan.shards[pe];
      p.shards.push_back({Space::hbm, kNoPe, t.bases[pe], s.offset, s.extent});
    }
    all.push_back(std::move(p));
  }
  return all;
}

HostTensor Deployment::read_back(const std::string& tensor, const MemoryImage& image) const {
  const Placed& t = tensors_.at(tensor);
  HostTensor value(t.dtype, t.shape);
  for (uint32_t p = 0; p < pes_.size(); ++p) {
    if (!t.plan.stored(p)) continue;
    const uint64_t nbytes = t.plan.nbytes(p);
    const auto state = image.state_of({Space::hbm, kNoPe}, t.bases[p], nbytes);
    if (state.state != MemoryImage::State::real) {
      throw RunError("tensor " + tensor + ": the part of " + platform_.graph().pes[pes_[p]].id + " was " +
                     (state.state == MemoryImage::State::unwritten ? "not written" : "left pending") + " (from byte " +
                     std::to_string(state.first_bad - t.bases[p]) + " of " + std::to_string(nbytes) + ")");
    }
    Bytes shard(nbytes);
    image.read({Space::hbm, kNoPe}, t.bases[p], shard.data(), nbytes);
    gather(t.plan, p, shard.data(), value.bytes.data());
  }
  return value;
}

}  // namespace kernbench
