// SPDX-License-Identifier: Apache-2.0
#include "kernbench/platform/launch/host_directory.h"

#include <algorithm>

#include "kernbench/phase2/op/errors.h"
#include "kernbench/platform/elaborate/machine.h"
#include "kernbench/platform/launch/launch_host.h"
#include "kernbench/platform/topology/graph/naming.h"

namespace kernbench::launch {

HostDirectory::HostDirectory(Machine& machine)
    : machine_(machine),
      launch_host_(std::make_unique<LaunchHost>(sc_core::sc_gen_unique_name("launch_host"), machine)) {
  const topology::Graph& graph = machine.graph();
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].kind != "pcie_ep" || !launch_host_->requests_to(n)) continue;
    const int sip = std::max(0, topology::naming::owner_of(graph.nodes[n].id).sip);
    if (!interfaces_.count(sip))
      interfaces_.emplace(sip, std::make_unique<HostInterface>(sc_core::sc_gen_unique_name("host"), *launch_host_, n));
  }
}

HostDirectory::~HostDirectory() = default;

HostInterface& HostDirectory::interface(int sip) const {
  const auto it = interfaces_.find(sip);
  if (it == interfaces_.end())
    throw InputError("host: " + machine_.graph().name + " has no pcie_ep in SIP " + std::to_string(sip));
  return *it->second;
}

DeviceAllocators& HostDirectory::allocators() {
  if (!allocators_) allocators_ = std::make_unique<DeviceAllocators>(machine_.graph(), machine_.pes());
  return *allocators_;
}

}  // namespace kernbench::launch
