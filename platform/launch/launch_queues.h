// SPDX-License-Identifier: Apache-2.0
// The inter-PE queues of one kernel's launches: what KernelSpec::queues declares, with rings in the memories that
// tensors share (collectives rules §10.4).
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
  /// Takes the rings' room: tcm in the PE's TCM, hbm where its tensors go, sram in its cube's from the top down.
  /// InputError, BadParam: one line.
  LaunchQueues(Machine&, DeviceAllocators&, const KernelSpec&, const Params&, const LaunchShape&,
               const std::vector<size_t>& pes);
  /// Gives it back: when the kernels have ended.
  ~LaunchQueues();
  LaunchQueues(const LaunchQueues&) = delete;
  LaunchQueues& operator=(const LaunchQueues&) = delete;

  /// By PE of the launch; empty where the kernel declares no queues.
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
