// SPDX-License-Identifier: Apache-2.0
// MmuMap and MmuUnmap: the host changes the mappings of the PEs' MMUs. The messages take the launch's path, pcie_ep →
// io_cpu → m_cpu → PE, at the launch's cost. Their responses are aggregated on the way back (launch_host.h). An MMU
// changes when the message reaches its PE (systemc_models/pe/pe_control.h). docs/memory.md.
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

/// Sends any number of messages, also concurrently.
class HostMmu {
 public:
  using Done = std::function<void(const HostResponse&)>;
  explicit HostMmu(LaunchHost& host) : host_(host) {}

  /// Sends the messages at the present (before the simulation: at 0), all at once, to the PEs of `way`. `done` is
  /// called once, when the host has the last response, with the first error if there is one (at once if nothing is
  /// sent). An error of one PE does not undo the others.
  ///
  /// bad_address: below the virtual base, empty, or a piece that is not within one memory of the mapping's space; then
  /// nothing is sent. no_mmu: a PE without MMU. overlap: with another mapping, which is named. not_mapped: no mapping
  /// is exactly that range; the nearest is named. pe_busy: an unmap found a running kernel, whose memory must stay
  /// valid.
  void map(const std::vector<MmuMap>&, const LaunchWay& way, Done done);
  void unmap(const std::vector<MmuUnmap>&, const LaunchWay& way, Done done);

  /// The same effect at once, without message and time.
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
