// SPDX-License-Identifier: Apache-2.0
// What a host and its devices say to each other. Plain data; who carries it and what it costs: launch.h,
// host_transfer.h, host_mmu.h.
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

/// Host memory to a range of one memory of the device: time only, data are placed through the memory image.
struct MemoryWrite {
  MessageIds ids;
  uint64_t address = 0, nbytes = 0;
  const uint8_t* data = nullptr;  ///< for who looks at it on the way, until it is done; null: what memory holds
};

/// A range of one memory of the device to host memory.
struct MemoryRead {
  MessageIds ids;
  uint64_t address = 0, nbytes = 0;
};

/// Makes a virtual range known to MMUs.
struct MmuMap {
  MessageIds ids;
  std::shared_ptr<const VirtualMapping> mapping;
};

/// Makes them forget it.
struct MmuUnmap {
  MessageIds ids;
  uint64_t address = 0, nbytes = 0;
};

/// One kernel on many PEs, all of which start at one instant.
struct KernelLaunch {
  MessageIds ids;
  LaunchId id;
  std::vector<size_t> pes;                         ///< indices in compiled order, no two alike
  std::function<KernelBody(size_t place)> kernel;  ///< what the PE at that place of `pes` runs
  std::vector<std::vector<QueuePort>> ports;       ///< by place; empty: no PE has any
};

/// `response` is ok when every PE has ended; an error comes as soon as it is known, while other PEs may still run.
struct LaunchResult {
  HostResponse response;
  double start_ns = 0;                  ///< the stamp: when every kernel starts
  std::vector<KernelOutcome> outcomes;  ///< by place in the launch
};

}  // namespace kernbench::launch
