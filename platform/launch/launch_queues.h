// SPDX-License-Identifier: Apache-2.0
// The inter-PE queues of a kernel's launches, as KernelSpec::queues declares them, with rings in the memories that
// tensors use too (collectives rules §10.4).
#pragma once

#include <memory>
#include <vector>

#include "kernbench/kernel_api/launch_shape.h"
#include "kernbench/kernel_api/registry.h"
#include "kernbench/platform/launch/device_allocators.h"
#include "kernbench/platform/launch/queue_connections.h"

namespace kernbench::launch {

class LaunchQueues : private RingPlaces {
 public:
  /// Allocates the rings: tcm in the PE's TCM, hbm like its tensors, sram in its cube from the top down. InputError,
  /// BadParam: one line.
  LaunchQueues(Machine&, DeviceAllocators&, const KernelSpec&, const Params&, const LaunchShape&,
               const std::vector<size_t>& pes);
  /// Releases the rings; call it when the kernels have ended.
  ~LaunchQueues();
  LaunchQueues(const LaunchQueues&) = delete;
  LaunchQueues& operator=(const LaunchQueues&) = delete;

  /// By PE of the launch; empty if the kernel declares no queues.
  const std::vector<std::vector<QueuePort>>& ports() const { return ports_; }

 private:
  struct Room {
    size_t pe;
    Space space;
    uint64_t addr, nbytes;
  };
  uint64_t place(size_t pe, Space, uint64_t nbytes) override;
  uint64_t place_in_sram(size_t pe, uint64_t nbytes);
  void resize_sram(size_t pe, uint64_t nbytes);
  void give_back() noexcept;

  Machine& machine_;
  DeviceAllocators& allocators_;
  std::vector<Room> rooms_;
  std::vector<std::vector<QueuePort>> ports_;
};

}  // namespace kernbench::launch
