// SPDX-License-Identifier: Apache-2.0
// Tensors of a launch in the memories of its PEs: allocation, virtual ranges, upload before the run, read-back after
// it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernbench/kernel_api/args.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/phase2/memory/placed_tensor.h"
#include "kernbench/platform/launch/address_mode.h"
#include "kernbench/platform/launch/device_allocators.h"
#include "kernbench/platform/launch/shard_bytes.h"
#include "kernbench/systemc_models/pe/mapping_table.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

/// Distance between the copies of two cubes in a tensor's virtual range.
constexpr uint64_t bytes_of_cube_copy(uint64_t tensor_bytes) {
  constexpr uint64_t kAlignment = 256;
  return (tensor_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class Deployment {
 public:
  /// Allocates every tensor of the kernel over the PEs (indices in compiled order). Each shard is in its owner's
  /// nearest HBM; the tensor has a virtual range in which its shards are adjacent. InputError if a shard does not fit.
  Deployment(Machine&, DeviceAllocators&, const KernelSpec&, const Params&, std::vector<size_t> pes,
             AddressMode = AddressMode::physical);
  /// Returns everything to the allocators.
  ~Deployment();
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;

  /// Puts an input's bytes in place without time and without copying contiguous data: memory shares the tensor until it
  /// is overwritten. Also for memories whose bytes a foreign model keeps.
  void upload(const std::string& tensor, std::shared_ptr<const HostTensor> value);
  /// The same for a value that is generated in place, each element once, when it is first read. Only for a tensor that
  /// lies_once().
  void fill(const std::string& tensor, const ElementSource&);
  /// Whether it has only one copy.
  bool lies_once(const std::string& tensor) const;
  /// Calls put(address, bytes, nbytes) for each shard's part of a value. std::invalid_argument if it does not fit the
  /// tensor.
  void for_each_shard(const std::string& tensor, const HostTensor& value,
                      const std::function<void(uint64_t, const uint8_t*, uint64_t)>& put) const;
  /// The reverse: get(address, bytes, nbytes) fills each shard's part.
  HostTensor collect(const std::string& tensor, const std::function<void(uint64_t, uint8_t*, uint64_t)>& get) const;
  /// The tensor's nonempty shards, by PE of the launch.
  struct Range {
    uint64_t address = 0, nbytes = 0;
  };
  std::vector<Range> ranges(const std::string& tensor) const;
  /// The tensors' virtual ranges, for the MMUs of the PEs.
  std::vector<std::shared_ptr<const VirtualMapping>> mappings() const;
  /// Every tensor of the kernel, as in a log's header.
  std::vector<PlacedTensor> placed() const;
  /// The arguments of PE p of the launch.
  tl::Args args(size_t p) const { return tl::Args(launch_, static_cast<uint32_t>(p)); }

  /// The output in memory. RunError if a byte was never written, or if copies of a part differ.
  HostTensor read_back(const std::string& tensor, const MemoryImage&) const;

 private:
  struct Placed {
    ShardPlan plan;
    bool output = false;
    DType dtype = DType::f32;
    Dims shape;
    std::vector<uint64_t> bases;  ///< by shard
    std::vector<uint32_t> homes;  ///< by shard: the PE whose slice holds it; empty: PE p holds shard p
    std::shared_ptr<const VirtualMapping> mapping;  ///< null: no room for virtual addresses
  };
  void place(const TensorSpec&, const Params&, Placed&);
  /// Copies an interleaved tensor to each cube instead: one copy over each cube's PEs.
  static void copy_to_cubes(const std::vector<uint32_t>& cube_of_pe, Placed&);
  size_t home(const Placed& t, size_t shard) const {
    return pes_[t.homes.empty() ? shard % pes_.size() : t.homes[shard]];
  }
  const Placed& of(const std::string& tensor) const;
  void write(const Placed&, uint32_t shard, const SharedBytes&);
  void write_made(const Placed&, const std::vector<uint32_t>& shards, const ElementSource&);
  void give_back();

  Machine& machine_;
  DeviceAllocators& allocators_;
  std::vector<size_t> pes_;
  std::map<std::string, Placed> tensors_;
  std::shared_ptr<const tl::LaunchArgs> launch_;
};

}  // namespace kernbench::launch
