// SPDX-License-Identifier: Apache-2.0
// The shared host of a machine: an interface to each SIP, and the allocators of device memory.
#pragma once

#include <map>
#include <memory>

#include "kernbench/platform/launch/device_allocators.h"
#include "kernbench/platform/launch/host_interface.h"

namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

class LaunchHost;

class HostDirectory {
 public:
  /// Call it inside a module under construction: creates an interface for the first pcie_ep of each SIP, and the sender
  /// of launches.
  explicit HostDirectory(Machine& machine);
  ~HostDirectory();

  /// The host's side of a SIP's first pcie_ep. InputError if there is none.
  HostInterface& interface(int sip) const;
  DeviceAllocators& allocators();
  /// The sender of launches and other messages to PEs.
  LaunchHost& launch_host() { return *launch_host_; }

 private:
  Machine& machine_;
  const std::unique_ptr<LaunchHost> launch_host_;
  std::map<int, std::unique_ptr<HostInterface>> interfaces_;  ///< by SIP
  std::unique_ptr<DeviceAllocators> allocators_;              ///< null until the first use
};

}  // namespace kernbench::launch
