// SPDX-License-Identifier: Apache-2.0
// MmuMap and MmuUnmap: the host changes what the PEs' MMUs know. The messages take the launch's way, pcie_ep → io_cpu →
// m_cpu → PE, at the launch's cost, and their responses are aggregated on the way back (launch_host.h). An MMU changes
// at the instant at which the message reaches its PE (systemc_models/pe/pe_control.h). docs/memory.md.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernbench/platform/launch/host_messages.h"
#include "kernbench/platform/launch/launch_way.h"

namespace kernbench::fabric {
class ControlBody;
}
namespace kernbench::elaborate {
class Machine;
}

namespace kernbench::launch {

class LaunchHost;

/// Any number of messages, also at the same time.
class HostMmu {
 public:
  using Done = std::function<void(const HostResponse&)>;
  explicit HostMmu(LaunchHost& host) : host_(host) {}

  /// Sends the messages now (before the simulation: at 0), all at once, to the PEs that `way` leads to. `done` is
  /// called once, when the host has the last response, with the first error if there is one (at once where nothing is
  /// sent). An error of one PE leaves what the others did.
  ///
  /// bad_address: below the virtual base, empty, or a piece that does not lie in one memory of the mapping's space:
  /// then none is sent. no_mmu: a PE without one. overlap: with another mapping, which is named. not_mapped: no mapping
  /// is exactly that range; the nearest is named. pe_busy: an unmap found a kernel running: what a kernel may use does
  /// not vanish under it.
  void map(const std::vector<MmuMap>&, const LaunchWay& way, Done done);
  void unmap(const std::vector<MmuUnmap>&, const LaunchWay& way, Done done);

  /// Without message and time: the same effect, at once.
  static HostResponse map_now(Machine&, const MmuMap&, const std::vector<size_t>& pes);
  static HostResponse unmap_now(Machine&, const MmuUnmap&, const std::vector<size_t>& pes);

 private:
  /// Messages sent together.
  struct Batch {
    HostResponse response;
    size_t open = 0;
    Done done;
  };
  using Message = std::pair<MessageIds, std::shared_ptr<const ControlBody>>;
  void send(const std::vector<Message>&, const LaunchWay& way, Done done);
  static HostResponse check(Machine&, const MmuMap&);

  LaunchHost& host_;
};

}  // namespace kernbench::launch
