// SPDX-License-Identifier: Apache-2.0
// Messages between a host and its devices, as plain data. launch.h, host_transfer.h and host_mmu.h define transport and
// cost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernbench/systemc_models/fabric/control_address.h"
#include "kernbench/systemc_models/pe/kernel_run.h"
#include "kernbench/systemc_models/pe/mapping_table.h"
#include "kernbench/systemc_models/pe/queue_ports.h"

namespace kernbench::launch {

/// Host memory to a range of one device memory: only the time; data are placed through the memory image.
struct MemoryWrite {
  MessageIds ids;
  uint64_t address = 0, nbytes = 0;
  const uint8_t* data = nullptr;  ///< for observers along the route, valid until done; null: the memory's contents
};

/// A range of one device memory to host memory.
struct MemoryRead {
  MessageIds ids;
  uint64_t address = 0, nbytes = 0;
};

/// Adds a virtual range to MMUs.
struct MmuMap {
  MessageIds ids;
  std::shared_ptr<const VirtualMapping> mapping;
};

/// Removes it from MMUs.
struct MmuUnmap {
  MessageIds ids;
  uint64_t address = 0, nbytes = 0;
};

/// One kernel on many PEs, which all start at one instant.
struct KernelLaunch {
  MessageIds ids;
  LaunchId id;
  std::vector<size_t> pes;                         ///< distinct indices in compiled order
  std::function<KernelBody(size_t place)> kernel;  ///< the kernel for a place of `pes`
  std::vector<std::vector<QueuePort>> ports;       ///< by place; empty: no PE has ports
};

/// `response` is ok if every PE has ended. An error is sent at once, while other PEs may still run.
struct LaunchResult {
  HostResponse response;
  double start_ns = 0;                  ///< start time of all kernels
  std::vector<KernelOutcome> outcomes;  ///< by place in the launch
};

}  // namespace kernbench::launch
