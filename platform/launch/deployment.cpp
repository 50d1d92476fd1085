// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/deployment.h"

#include <stdexcept>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/systemc_models/memory/system.h"

namespace kernbench::launch {

const char* name_of(AddressMode m) {
  return m == AddressMode::physical ? "physical" : "virtual";
}

namespace {

/// Allocated bytes of a shard. Cube copies must start at aligned distances, so the last shard of a copy includes
/// padding.
uint64_t room(const ShardPlan& plan, uint32_t p, bool copies) {
  const Shard& s = plan.shards[p];
  const bool last = copies && s.offset[0] + s.extent[0] == plan.whole[0];
  const auto begin = static_cast<uint64_t>(s.offset[0]) * size_of(plan.dtype);
  return last ? bytes_of_cube_copy(begin + plan.nbytes(p)) - begin : plan.nbytes(p);
}

}  // namespace

Deployment::Deployment(Machine& machine, DeviceAllocators& allocators, const KernelSpec& spec, const Params& params,
                       std::vector<size_t> pes, AddressMode mode)
    : machine_(machine), allocators_(allocators), pes_(std::move(pes)) {
  auto launch = std::make_shared<tl::LaunchArgs>(params);
  for (const TensorSpec& t : spec.tensors) {
    Placed& placed = tensors_[t.name];
    try {
      place(t, params, placed);
    } catch (const OutOfDeviceMemory& e) {
      give_back();
      throw InputError("tensor " + t.name + ": " + e.what());
    }
    const uint64_t virtual_base = placed.mapping ? placed.mapping->begin() : 0;
    if (mode == AddressMode::physical) {
      launch->add(t.name, placed.plan, Space::hbm, placed.bases, virtual_base);
      continue;
    }
    std::vector<uint64_t> bases(placed.plan.shards.size(), 0);
    uint64_t next = virtual_base;
    for (uint32_t p = 0; p < placed.plan.shards.size(); ++p) {
      if (!placed.plan.stored(p)) continue;
      bases[p] = next;
      next += room(placed.plan, p, !placed.homes.empty());
    }
    launch->add(t.name, placed.plan, Space::hbm, bases, virtual_base);
  }
  launch_ = std::move(launch);
}

Deployment::~Deployment() {
  give_back();
}

void Deployment::place(const TensorSpec& t, const Params& params, Placed& placed) {
  placed.output = t.is_output();
  placed.dtype = t.dtype(params);
  placed.shape = t.shape(params);
  std::vector<uint32_t> cubes;
  for (size_t pe : pes_) cubes.push_back(machine_.pes().pe(pe).cube);
  placed.plan = t.interleave_bytes > 0 ? plan_interleaved(placed.dtype, placed.shape, t.interleave_bytes)
                : t.shards             ? t.shards(params)
                : t.policy             ? plan_shards(*t.policy, placed.dtype, placed.shape, cubes)
                           : plan_shards(t.placement, placed.dtype, placed.shape, static_cast<uint32_t>(pes_.size()));
  if (t.interleave_bytes > 0 && t.policy) copy_to_cubes(cubes, placed);
  const ShardPlan plan = placed.plan;
  placed.bases.assign(plan.shards.size(), 0);
  placed.plan.shards.clear();  // refilled by the allocation, so that give_back() releases only allocated shards
  auto mapping = std::make_shared<VirtualMapping>();
  for (uint32_t p = 0; p < plan.shards.size(); ++p) {
    if (plan.stored(p)) {
      const uint64_t nbytes = room(plan, p, !placed.homes.empty());
      placed.bases[p] = allocators_.allocate_hbm(home(placed, p), nbytes);
      mapping->range.pieces.push_back({mapping->nbytes, placed.bases[p], nbytes});
      mapping->nbytes += nbytes;
    }
    placed.plan.shards.push_back(plan.shards[p]);
  }
  const auto base = allocators_.allocate_virtual(mapping->nbytes);
  if (!base) return;
  mapping->tensor = t.name;
  mapping->range.virtual_addr = *base;
  placed.mapping = std::move(mapping);
}

void Deployment::copy_to_cubes(const std::vector<uint32_t>& cubes, Placed& placed) {
  std::vector<uint32_t> order;  // of first appearance
  std::map<uint32_t, std::vector<uint32_t>> pes_of;
  for (uint32_t p = 0; p < cubes.size(); ++p) {
    if (pes_of[cubes[p]].empty()) order.push_back(cubes[p]);
    pes_of[cubes[p]].push_back(p);
  }
  const std::vector<Shard> blocks = std::move(placed.plan.shards);
  placed.plan.shards.clear();
  for (const uint32_t cube : order) {
    const std::vector<uint32_t>& pes = pes_of[cube];
    for (size_t b = 0; b < blocks.size(); ++b) {
      placed.homes.push_back(pes[b % pes.size()]);
      placed.plan.shards.push_back(blocks[b]);
      placed.plan.shards.back().owner = static_cast<uint32_t>(placed.plan.shards.size() - 1);
    }
  }
}

void Deployment::give_back() {
  for (const auto& [name, t] : tensors_) {
    for (uint32_t p = 0; p < t.plan.shards.size(); ++p) {
      if (t.plan.stored(p)) allocators_.free_hbm(home(t, p), t.bases[p]);
    }
    if (t.mapping) allocators_.free_virtual(t.mapping->begin());
  }
}

std::vector<std::shared_ptr<const VirtualMapping>> Deployment::mappings() const {
  std::vector<std::shared_ptr<const VirtualMapping>> all;
  for (const auto& [name, t] : tensors_) {
    if (t.mapping) all.push_back(t.mapping);
  }
  return all;
}

void Deployment::for_each_shard(const std::string& tensor, const HostTensor& value,
                                const std::function<void(uint64_t, const uint8_t*, uint64_t)>& put) const {
  const Placed& t = of(tensor);
  if (value.dtype != t.dtype || value.shape != t.shape)
    throw std::invalid_argument("tensor " + tensor + ": found " + std::string(name_of(value.dtype)) + " " +
                                value.shape.to_string() + ", the kernel has " + std::string(name_of(t.dtype)) + " " +
                                t.shape.to_string());
  for (uint32_t p = 0; p < t.plan.shards.size(); ++p) {
    if (!t.plan.stored(p)) continue;
    Bytes shard(t.plan.nbytes(p));
    scatter(t.plan, p, value.bytes.data(), shard.data());
    put(t.bases[p], shard.data(), shard.size());
  }
}

HostTensor Deployment::collect(const std::string& tensor,
                               const std::function<void(uint64_t, uint8_t*, uint64_t)>& get) const {
  const Placed& t = of(tensor);
  HostTensor value(t.dtype, t.shape);
  for (uint32_t p = 0; p < t.plan.shards.size(); ++p) {
    if (!t.plan.stored(p)) continue;
    Bytes shard(t.plan.nbytes(p));
    get(t.bases[p], shard.data(), shard.size());
    gather(t.plan, p, shard.data(), value.bytes.data());
  }
  return value;
}

const Deployment::Placed& Deployment::of(const std::string& tensor) const {
  const auto it = tensors_.find(tensor);
  if (it == tensors_.end()) throw std::invalid_argument("tensor " + tensor + ": the kernel has none of that name");
  return it->second;
}

void Deployment::write(const Placed& t, uint32_t shard, const SharedBytes& bytes) {
  machine_.system().image().write_shared({Space::hbm, kNoPe}, t.bases[shard], bytes);
  if (!sc_core::sc_is_running()) return;  // models of the memory get all data when the simulation starts
  ForeignStore* store = System::store_of(machine_.system().window_at(t.bases[shard]));
  if (store) store->push(t.bases[shard], bytes.size);
}

void Deployment::write_made(const Placed& t, const std::vector<uint32_t>& shards, const ElementSource& source) {
  const std::vector<SharedBytes> parts = later_shard_bytes(t.plan, shards, source);
  for (size_t i = 0; i < parts.size(); ++i) write(t, shards[i], parts[i]);
}

void Deployment::upload(const std::string& tensor, std::shared_ptr<const HostTensor> value) {
  const Placed& t = tensors_.at(tensor);
  std::vector<uint32_t> in_pieces;
  for (uint32_t p = 0; p < t.plan.shards.size(); ++p) {
    uint64_t first = 0;
    if (!t.plan.stored(p)) continue;
    if (contiguous_in_whole(t.plan, p, &first))
      write(t, p, {value, value->bytes.data() + first, t.plan.nbytes(p), nullptr});
    else
      in_pieces.push_back(p);
  }
  write_made(t, in_pieces,
             [value](int64_t first, int64_t count, uint8_t* out) { source_of (*value)(first, count, out); });
}

void Deployment::fill(const std::string& tensor, const ElementSource& source) {
  const Placed& t = tensors_.at(tensor);
  std::vector<uint32_t> stored;
  for (uint32_t p = 0; p < t.plan.shards.size(); ++p) {
    if (t.plan.stored(p)) stored.push_back(p);
  }
  write_made(t, stored, source);
}

bool Deployment::lies_once(const std::string& tensor) const {
  const Placed& t = tensors_.at(tensor);
  uint64_t nbytes = 0;
  for (uint32_t p = 0; p < t.plan.shards.size(); ++p) nbytes += t.plan.stored(p) ? t.plan.nbytes(p) : 0;
  return nbytes == static_cast<uint64_t>(t.shape.elements()) * size_of(t.dtype);
}

std::vector<Deployment::Range> Deployment::ranges(const std::string& tensor) const {
  const Placed& t = of(tensor);
  std::vector<Range> v;
  for (uint32_t p = 0; p < t.plan.shards.size(); ++p) {
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
    for (uint32_t pe = 0; pe < t.plan.shards.size(); ++pe) {
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
  std::map<std::string, uint32_t> first_copies;  // by the part, which several PEs may have
  for (uint32_t p = 0; p < t.plan.shards.size(); ++p) {
    if (!t.plan.stored(p)) continue;
    const uint64_t nbytes = t.plan.nbytes(p);
    const auto state = image.state_of({Space::hbm, kNoPe}, t.bases[p], nbytes);
    if (state.state != MemoryImage::State::real) {
      throw RunError("tensor " + tensor + ": the part of " + machine_.graph().pes[home(t, p)].id + " was " +
                     (state.state == MemoryImage::State::unwritten ? "not written" : "left pending") + " (from byte " +
                     std::to_string(state.first_bad - t.bases[p]) + " of " + std::to_string(nbytes) + ")");
    }
    Bytes shard(nbytes);
    image.read({Space::hbm, kNoPe}, t.bases[p], shard.data(), nbytes);
    const Shard& s = t.plan.shards[p];
    const auto [first, alone] = first_copies.emplace(s.offset.to_string() + s.extent.to_string(), p);
    if (!alone) {
      Bytes copy(nbytes);
      image.read({Space::hbm, kNoPe}, t.bases[first->second], copy.data(), nbytes);
      if (copy != shard) {
        throw RunError("tensor " + tensor + ": the copies of " + machine_.graph().pes[home(t, first->second)].id +
                       " and " + machine_.graph().pes[home(t, p)].id + " differ");
      }
    }
    gather(t.plan, p, shard.data(), value.bytes.data());
  }
  return value;
}

}  // namespace kernbench::launch
